"""Decisions: whether two pages are near-duplicates, the action for a page, the preferred URL of a cluster."""
