"""Stored pages: read and write them, and find near-duplicates without a crawl."""
