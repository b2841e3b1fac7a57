"""Scope: the set of pages that are compared with each other."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache, partial
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.values import imported

if TYPE_CHECKING:
    from tldextract import TLDExtract


#: A URL with a plain host in lower case, as nearly all URLs have. urlsplit() takes ten times as long.
_PLAIN = re.compile(r"https?://([a-z0-9.-]+)(?::[0-9]*)?(?=[/?#]|\Z)")


# Cached: scopes, boilerplate models and URL rules need the host of each page.
@lru_cache(maxsize=64)
def host_of(url: str) -> str:
    """Return the host of *url* in lower case without port; empty for a URL without a host.

    >>> host_of("https://news.example.co.uk:8443/a"), host_of("mailto:ann@example.com")
    ('news.example.co.uk', '')
    """
    if plain := _PLAIN.match(url):
        return plain[1]
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # "http://[broken"
        return ""


def scope_of(url: str, scope: str) -> str:
    """Return the scope of *url*: ``""``, its registered domain, or its host. Pages of the same scope are compared.

    *scope* is ``crawl``, ``domain`` or ``host``. Ports do not matter. A URL without a public suffix
    (``localhost``, 127.0.0.1) is its own domain; a URL without a host has the scope ``""``.

    >>> scope_of("https://news.example.co.uk:8443/a", "domain"), scope_of("https://news.example.co.uk/a", "host")
    ('example.co.uk', 'news.example.co.uk')
    """
    if scope == "crawl":
        return ""
    host = host_of(url).rstrip(".")
    if scope == "host":
        return host
    return _domain(host)


def scope_function(scope: str) -> Callable[[str], str]:
    """Return a function that returns the scope of a URL; *scope* is as for ``scope_of``, or an import path.

    Raises SettingError if the path does not lead to a function. The returned function raises TypeError if the user's
    function does not return a string.

    >>> scope_function("host")("https://news.example.co.uk/a")
    'news.example.co.uk'
    """
    if "." not in scope:
        return partial(scope_of, scope=scope)
    function = imported("SIMHASH_SCOPE", scope)
    if not callable(function) or iscoroutinefunction(function):
        raise SettingError(
            f"SIMHASH_SCOPE must be the import path of a function that is not a coroutine function, got {scope!r}"
        )

    def checked_scope(url: str) -> str:
        answer = function(url)
        if not isinstance(answer, str):
            raise TypeError(f"SIMHASH_SCOPE: the function must return a string, got {answer!r} for {url}")
        return answer

    return checked_scope


@cache
def _extractor() -> TLDExtract:
    # Imported late: reading the public suffix list takes a tenth of a second, and only this scope needs it.
    from tldextract import TLDExtract

    # Use the list in the package, never the network. Include private suffixes, because one.github.io and
    # two.github.io have different owners.
    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


def _domain(host: str) -> str:
    parts = _extractor()(host)
    return f"{parts.domain}.{parts.suffix}" if parts.domain and parts.suffix else host
