"""Near-duplicate items: the steps for pages, applied to chosen fields, with a separate store."""
