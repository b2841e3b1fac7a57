"""URL rules: find differences between URLs that do not affect the page, and URL patterns without new pages."""
