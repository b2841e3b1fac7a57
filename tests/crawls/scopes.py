"""A custom scope for the crawl tests."""

from urllib.parse import urlsplit


def by_last_letter(url: str) -> str:
    """Return a scope by the end of the path, independent of the site."""
    return urlsplit(url).path[-1:]
