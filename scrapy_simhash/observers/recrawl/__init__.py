"""Recrawl: what is kept of a page's answer, so that the next crawl need not fetch it, or not in full."""
