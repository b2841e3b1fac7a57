"""Changes: pages that are new, changed, moved, gone, not seen or back since the last crawl."""
