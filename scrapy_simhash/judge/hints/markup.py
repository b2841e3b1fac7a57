"""URLs in the head of a page: canonical, translations, next and previous page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import TypeAlias
from urllib.parse import urldefrag, urljoin, urlsplit

from lxml import etree
from w3lib.url import safe_url_string

from scrapy_simhash.judge.hints.urls import MAX_ADDRESS, url_key
from scrapy_simhash.page.compiled import compiled_reader
from scrapy_simhash.patterns import lazy_pattern

# An absolute URL, which does not depend on the base.
_ABSOLUTE = lazy_pattern(r"https?://[\w.-]+(?::\d{1,5})?(?:[/?][^\s#\\]*)?", re.ASCII)
# A URL that Scrapy does not have to escape.
_PLAIN = lazy_pattern(r"[\w:/?&=%.~+,;@!$()*-]*", re.ASCII)
_STEPS = frozenset(("next", "prev", "previous"))
_CANONICAL = "canonical"
_RELATIONS = _STEPS | {_CANONICAL, "alternate"}
#: Max links and bases that are read in the head.
MAX_IN_HEAD = 5_000
MAX_BASES = 50
#: Max links of one meaning that are resolved, and max characters of these. An international site has about 200.
MAX_LINKS = 1_000
MAX_LINK_CHARACTERS = 250_000
#: Max next and previous pages that are read, and max links in the body that are checked for them.
MAX_STEPS = 50
MAX_IN_BODY = 20_000
#: Content types of translations. Other alternates are feeds, for example.
_PAGE_TYPES = ("", "text/html", "application/xhtml+xml")

#: Attributes ``rel``, ``href``, ``hreflang`` and ``type`` of an element; None if missing.
HeadLink: TypeAlias = "tuple[str | None, str, str | None, str | None]"
#: Meaning, ``href`` and language of a link.
_Link: TypeAlias = "tuple[frozenset[str], str, str]"


@dataclass(frozen=True, slots=True)
class Hints:
    """URLs in the head of a page. The canonical URL and the alternates are absolute and have no fragment."""

    base: str
    """Base URL of the page's links."""
    canonical: str | None = None
    """Canonical URL; None if the page names no valid URL, or several different URLs."""
    alternates: tuple[tuple[str, str], ...] = ()
    """Language in lower case and URL of each translation, including the page itself if it is listed."""
    beside: tuple[str, ...] = ()
    """``href`` of the next and the previous page in the head, relative to *base*."""

    def steps(self) -> Iterator[str]:
        """Yield the absolute URLs of the next and the previous page, resolved on demand since few pages need them."""
        for href in self.beside:
            if target := resolved(self.base, href):
                yield target


def read_hints(root: etree._Element, url: str) -> Hints:
    """Return the URLs in the head of the page at *url*; the tree is not changed.

    Reads the head, and links directly in the body, to which the parser moves the links of a broken head. Never raises
    for bad markup or URLs. O(elements of the head): 10 to 20 µs for most pages.
    """
    base, links = _links(root, url)
    if not links:
        return Hints(base)
    named = [link for link in links if "alternate" in link[0] and link[2].strip()]
    alternates = (
        [
            (language.strip().lower(), target)
            for _, href, language in _first(named)
            if (target := resolved(base, href))
        ]
        if named
        else ()
    )
    beside = [href for meaning, href, _ in links if not _STEPS.isdisjoint(meaning)]
    return Hints(base, _canonical(base, links), tuple(alternates), tuple(beside[:MAX_STEPS]))


def read_canonical(root: etree._Element, url: str) -> str | None:
    """Return the canonical URL of the page at *url*, as `read_hints` does, in a third of the time."""
    base, links = _links(root, url, _CANONICAL.encode())
    return _canonical(base, links) if links else None


def links_in_head(root: etree._Element) -> Iterable[HeadLink]:
    """Yield the links in the head of a page, or directly in its body, and each base, with None as ``rel``.

    Reads the first `MAX_IN_HEAD` elements, including those without ``rel`` or ``href``.
    """
    parts = root.iterchildren("{*}head", "{*}body")
    elements = chain.from_iterable(part.iterchildren("{*}link", "{*}base") for part in parts)
    for element in islice(elements, MAX_IN_HEAD):
        is_base = str(element.tag).rpartition("}")[2] == "base"
        rel = None if is_base else element.get("rel")
        if (href := element.get("href")) and (is_base or rel is not None):
            yield rel, href, element.get("hreflang"), element.get("type")


def _links(root: etree._Element, url: str, word: bytes | None = None) -> tuple[str, list[_Link]]:
    """Return the base URL of the page and its links with a known meaning, or only with the meaning *word*."""
    base: str | None = None
    found: list[_Link] = []
    reader = compiled_reader()
    in_head = reader.links_in_head(root, word, MAX_IN_HEAD) if reader is not None else None
    bases = MAX_BASES
    for rel, href, language, content_type in links_in_head(root) if in_head is None else in_head:
        if rel is None:
            bases -= 1
            if base is None and bases >= 0:
                base = resolved(url, href)
        elif meaning := _meaning(rel):
            found.append((meaning, href, (language or "") if _is_page(content_type) else ""))
    return base or url, found


def _canonical(base: str, links: Iterable[_Link]) -> str | None:
    """Return the canonical URL that *links* name; None if there is no such URL, or several."""
    found = [link for link in links if _CANONICAL in link[0] and "alternate" not in link[0]]
    # Nearly all pages have one such link. A page with a thousand usually repeats the same one.
    hrefs = [found[0][1]] if len(found) == 1 else dict.fromkeys(link[1] for link in _first(found))
    named: str | None = None
    for href in hrefs:
        target = resolved(base, href)
        if target is None:
            continue
        target = _as_sent(target)
        if named is None:
            named = target
        elif url_key(target) != url_key(named):
            return None
    return named


def _first(links: Iterable[_Link]) -> Iterator[_Link]:
    """Yield the first of *links*, up to `MAX_LINKS` and `MAX_LINK_CHARACTERS`."""
    room = MAX_LINK_CHARACTERS
    for link in islice(links, MAX_LINKS):
        room -= len(link[1])
        if room < 0:
            return
        yield link


def steps_in_body(root: etree._Element, base: str) -> Iterator[str]:
    """Yield the URLs of the next and the previous page in links anywhere on the page. O(nodes).

    At most `MAX_STEPS` URLs, from the first `MAX_IN_BODY` links.
    """
    # Most pages have no such link.
    reader = compiled_reader()
    if reader is not None and not reader.may_name_steps(root):
        return
    # Keep the parents in use, as `elements` does. Calling that generator would double the time of this function.
    parents = []
    left = MAX_STEPS
    for element in islice(root.iter("{*}a", "{*}link"), MAX_IN_BODY):
        parents.append(element.getparent())
        rel = element.get("rel")
        if not rel or _STEPS.isdisjoint(_meaning(rel)) or not (href := element.get("href")):
            continue
        if target := resolved(base, href):
            yield target
        left -= 1
        if not left:
            return


def resolved(base: str, href: str) -> str | None:
    """Return *href* as an absolute URL without fragment; None unless it is an HTTP(S) URL that is not too long.

    >>> resolved("https://example.com/a/b", " ../c#top "), resolved("https://example.com/", "mailto:ann@example.com")
    ('https://example.com/c', None)
    """
    href = href.strip()
    if len(href) > MAX_ADDRESS:
        return None
    if _ABSOLUTE.fullmatch(href):
        return href
    if len(base) > MAX_ADDRESS:
        return None
    try:
        target = urldefrag(urljoin(base, href)).url
        parts = urlsplit(target)
        return target if parts.scheme in ("http", "https") and parts.hostname else None
    except ValueError:
        return None


def _is_page(content_type: str | None) -> bool:
    return content_type is None or content_type.strip().lower() in _PAGE_TYPES


# The cache is bounded: a few dozen values are in use, but a page may contain any number.
@lru_cache(maxsize=256)
def _meaning(rel: str) -> frozenset[str]:
    """Return the known words of a ``rel`` attribute."""
    return _RELATIONS.intersection(rel.lower().split())


def _as_sent(address: str) -> str:
    """Return *address* escaped as in a request, so that it equals the URL of the response."""
    if _PLAIN.fullmatch(address):
        return address
    try:
        return safe_url_string(address)
    except ValueError:
        return address
