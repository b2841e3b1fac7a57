"""Decide whether two pages are near-duplicates, the action for a page, and the preferred URL of a cluster."""
