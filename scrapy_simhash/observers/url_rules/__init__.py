"""URL rules: which differences between URLs have no effect on the page, and which URL patterns bring nothing new."""
