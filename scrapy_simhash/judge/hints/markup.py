"""What the head of a page says about its URLs: the canonical one, translations, the pages beside it."""

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
from scrapy_simhash.page.text.tree import elements
from scrapy_simhash.patterns import lazy_pattern

# A URL that is what it is, whatever the base.
_ABSOLUTE = lazy_pattern(r"https?://[\w.-]+(?::\d{1,5})?(?:[/?][^\s#\\]*)?", re.ASCII)
# A URL in which nothing is escaped on its way.
_PLAIN = lazy_pattern(r"[\w:/?&=%.~+,;@!$()*-]*", re.ASCII)
_STEPS = frozenset(("next", "prev", "previous"))
_CANONICAL = "canonical"
_TELLING = _STEPS | {_CANONICAL, "alternate"}
#: Links in the head of a page that are looked at, and bases.
MAX_IN_HEAD = 5_000
MAX_BASES = 50
#: Those of one meaning that are resolved, and their characters in all; a site for all countries has some two hundred.
MAX_LINKS = 1_000
MAX_LINK_CHARACTERS = 250_000
#: Next and previous pages that are looked at, and links of the body among which they are looked for.
MAX_STEPS = 50
MAX_IN_BODY = 20_000
#: What an alternate may be to be the same page in another language; a feed is not.
_PAGE_TYPES = ("", "text/html", "application/xhtml+xml")

#: What an element says: its ``rel``, ``href``, ``hreflang`` and ``type``, None for what is missing.
HeadLink: TypeAlias = "tuple[str | None, str, str | None, str | None]"
#: What a link means, where it leads as it is written, and in which language.
_Link: TypeAlias = "tuple[frozenset[str], str, str]"


@dataclass(frozen=True, slots=True)
class Hints:
    """What a page says about URLs; canonical and alternates are absolute, without fragment."""

    base: str
    """What the links of the page are relative to."""
    canonical: str | None = None
    """What the page calls its own URL; None when it names none that can be used, or several different ones."""
    alternates: tuple[tuple[str, str], ...] = ()
    """Language in lower case and URL of each translation, of itself too if the page says so."""
    beside: tuple[str, ...] = ()
    """The next and the previous page as the head names them; relative to *base*."""

    def steps(self) -> Iterator[str]:
        """Yield the URLs of the next and the previous page, absolute. Few pages are ever asked for them."""
        for href in self.beside:
            if target := resolved(self.base, href):
                yield target


def read_hints(root: etree._Element, url: str) -> Hints:
    """Return what the page at *url* says about URLs; the tree is read only.

    Looks at the head only, and at links that stand directly in the body, where the parser moves those of a broken
    head. Never raises for markup or URLs, however bad. O(elements of the head): for most pages 10 to 20 µs.
    """
    base, links = _links(root, url)
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
    """Return the canonical URL that the page at *url* names: that of `read_hints`, for a third of the time."""
    base, links = _links(root, url, _CANONICAL.encode())
    return _canonical(base, links) if links else None


def links_in_head(root: etree._Element) -> Iterable[HeadLink]:
    """Yield the links in the head of a page, or directly in its body, and each base, which has no ``rel``.

    Of the first `MAX_IN_HEAD` elements, those without ``rel`` or ``href`` included.
    """
    parts = root.iterchildren("{*}head", "{*}body")
    elements = chain.from_iterable(part.iterchildren("{*}link", "{*}base") for part in parts)
    for element in islice(elements, MAX_IN_HEAD):
        is_base = str(element.tag).rpartition("}")[2] == "base"
        rel = None if is_base else element.get("rel")
        if (href := element.get("href")) and (is_base or rel is not None):
            yield rel, href, element.get("hreflang"), element.get("type")


def _links(root: etree._Element, url: str, word: bytes | None = None) -> tuple[str, list[_Link]]:
    """Return what the links of the page are relative to, and those that mean something.

    Nothing but those in the head that mean *word* is needed, if there is a word.
    """
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
    """Return what *links* call the canonical URL of the page; None if that is nothing, or several URLs."""
    said = [link for link in links if _CANONICAL in link[0] and "alternate" not in link[0]]
    # A page that says it a thousand times says it in the same words; nearly all say it once.
    hrefs = [said[0][1]] if len(said) == 1 else dict.fromkeys(link[1] for link in _first(said))
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
    """Yield *links* up to what is too much."""
    room = MAX_LINK_CHARACTERS
    for link in islice(links, MAX_LINKS):
        room -= len(link[1])
        if room < 0:
            return
        yield link


def steps_in_body(root: etree._Element, base: str) -> Iterator[str]:
    """Yield the URLs of the next and the previous page that links anywhere in the page name. O(nodes).

    Of no more than the first `MAX_STEPS`, among the first `MAX_IN_BODY` links.
    """
    hrefs = (
        element.get("href") or ""
        for element in elements(root, "{*}a", "{*}link", limit=MAX_IN_BODY)
        if (rel := element.get("rel")) and not _STEPS.isdisjoint(_meaning(rel))
    )
    for href in islice(filter(None, hrefs), MAX_STEPS):
        if target := resolved(base, href):
            yield target


def resolved(base: str, href: str) -> str | None:
    """Return *href* as an absolute URL without fragment; None unless it is one of the web, and not too long.

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


# There are a few dozen in the world, but a page may make up more.
@lru_cache(maxsize=256)
def _meaning(rel: str) -> frozenset[str]:
    """Return the words of a ``rel`` attribute that matter here."""
    return _TELLING.intersection(rel.lower().split())


def _as_sent(address: str) -> str:
    """Return *address* as a request for it has it, so that it equals the URL of the response."""
    if _PLAIN.fullmatch(address):
        return address
    try:
        return safe_url_string(address)
    except ValueError:
        return address
