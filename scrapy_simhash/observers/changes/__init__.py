"""Changes: what has become of a site's pages since the last crawl: new, changed, moved, gone, not seen, back."""
