"""Stored pages: reading and writing them, and finding their duplicates without a crawl."""
