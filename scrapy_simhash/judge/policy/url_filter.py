"""UrlFilter: the URLs whose pages the actions apply to."""

from __future__ import annotations

import re
from collections.abc import Iterable

from scrapy_simhash.scope import scope_of


class UrlFilter:
    """URLs by pattern and by domain, in the words of Scrapy's link extractors.

    A URL is in if it matches one of *allow* and is of one of *allow_domains*, where there are such, and neither
    matches one of *deny* nor is of one of *deny_domains*. Patterns are regular expressions that may match anywhere
    in the URL; a domain holds its subdomains.

    >>> urls = UrlFilter(deny=["/print/"], allow_domains=["example.com"])
    >>> "https://www.example.com/a" in urls, "https://www.example.com/print/a" in urls
    (True, False)
    """

    def __init__(
        self,
        allow: Iterable[str] = (),
        deny: Iterable[str] = (),
        allow_domains: Iterable[str] = (),
        deny_domains: Iterable[str] = (),
    ) -> None:
        self._allow = [re.compile(pattern) for pattern in allow]
        self._deny = [re.compile(pattern) for pattern in deny]
        self._allow_domains = [_bare(domain) for domain in allow_domains]
        self._deny_domains = [_bare(domain) for domain in deny_domains]

    def __contains__(self, url: str) -> bool:
        if self._allow and not any(pattern.search(url) for pattern in self._allow):
            return False
        if any(pattern.search(url) for pattern in self._deny):
            return False
        if not (self._allow_domains or self._deny_domains):
            return True
        host = scope_of(url, "host")
        if self._allow_domains and not any(_is_of(host, domain) for domain in self._allow_domains):
            return False
        return not any(_is_of(host, domain) for domain in self._deny_domains)


def _bare(domain: str) -> str:
    return domain.strip().strip(".").lower()


def _is_of(host: str, domain: str) -> bool:
    return host == domain or host.endswith("." + domain)
