"""Kinds of features from markup: tag paths, links, images, language and type."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote_to_bytes, urldefrag, urljoin

from xxhash import xxh3_64_hexdigest

from scrapy_simhash.page.language import normalize, tokenize
from scrapy_simhash.page.schemes.kinds import Page
from scrapy_simhash.page.text.tree import Walk


@dataclass(frozen=True)
class TagPaths:
    """The tags from the root to every element: ``path html/body/main/p``."""

    depth: int = 32
    """Max levels; deeper elements are left out, because a malicious page may have millions of levels."""

    def __call__(self, page: Page) -> Iterator[str]:
        """Yield a path for each element, in order; none for plain text."""
        if page.root is None:
            return
        tags: list[str] = []
        walk = Walk(page.root)
        for event, element in walk:
            if event == "start":
                tags.append(str(element.tag))
                walk.skips = len(tags) == self.depth
                yield f"path {'/'.join(tags)}"
            elif event == "end":
                tags.pop()


@dataclass(frozen=True)
class Links:
    """The URL of every link, without its fragment: ``link https://example.com/fog``."""

    def __call__(self, page: Page) -> Iterator[str]:
        """Yield the links, in order; absolute if the URL of the page is known. Plain text has no links."""
        if page.root is None:
            return
        for link in page.root.iter("a", "area"):
            if url := absolute(link.get("href"), page.url):
                yield f"link {url}"


def absolute(href: str | None, base: str) -> str:
    """Return the absolute URL of *href* on a page at *base*, without its fragment; empty if it is invalid.

    >>> absolute("/fog#top", "https://example.com/"), absolute("#top", ""), absolute("//[", "https://example.com/")
    ('https://example.com/fog', '', '')
    """
    if not href:
        return ""
    try:
        return urldefrag(urljoin(base, href.strip())).url
    except ValueError:
        # Invalid URL.
        return ""


class Image(NamedTuple):
    """An ``img`` element."""

    url: str
    """The URL, absolute if the URL of the page is known; empty for an embedded image."""
    text: str
    """The alternative text."""
    data: bytes | None
    """The bytes of an image that is embedded in the page (a ``data:`` URL). Images are never downloaded."""


def describe(image: Image) -> Iterator[str]:
    """Yield the URL, the alternative text and the hash of the bytes of *image*, each as a feature.

    >>> list(describe(Image("https://example.com/fog.png", "Fog in May", None)))
    ['image https://example.com/fog.png', 'image text fog in may']
    """
    if image.url:
        yield f"image {image.url}"
    if words := tokenize(normalize(image.text)):
        yield f"image text {' '.join(words)}"
    if image.data is not None:
        yield f"image bytes {xxh3_64_hexdigest(image.data)}"


@dataclass(frozen=True)
class Images:
    """The features that *describe* returns for each image. Pass your own function, for example for a perceptual hash.

    The function gets an `Image` and returns strings or hashes. Similar images should have many strings in common, or
    similar hashes.
    """

    describe: Callable[[Image], Iterable[str | int]] = describe

    def __call__(self, page: Page) -> Iterator[str | int]:
        """Yield the features of all images, in order; plain text has none."""
        if page.root is None:
            return
        for element in page.root.iter("img"):
            source = (element.get("src") or "").strip()
            is_inside = source[:5].lower() == "data:"
            data = _data(source) if is_inside else None
            url = "" if is_inside else absolute(source, page.url)
            yield from self.describe(Image(url, element.get("alt") or "", data))


def _data(url: str) -> bytes | None:
    """Return the bytes in a ``data:`` URL; None if it is invalid."""
    head, comma, body = url.partition(",")
    if not comma:
        return None
    try:
        plain = unquote_to_bytes(body)
        return b64decode(plain) if head.lower().endswith(";base64") else plain
    except ValueError:
        return None


@dataclass(frozen=True)
class Enumerated:
    """A feature for a value of the page, such as its language or its type, which must be one of *values*.

    >>> from scrapy_simhash.page.text import plain_text
    >>> kind = Enumerated(language, ("de", "en"))
    >>> [hex(bits) for bits in kind(Page(plain_text("The fog", "en")))]
    ['0xffffffffffffffff']
    """

    value_of: Callable[[Page], str | None]
    """Returns the value of a page. For None, or a value that is not in *values*, there is no feature."""
    values: tuple[str, ...]
    """The values, in a fixed order: append new values at the end."""

    def __call__(self, page: Page) -> Iterator[int]:
        """Yield the hash of the value of *page*."""
        value = self.value_of(page)
        if value is not None and value in self.values:
            yield repeated(self.values.index(value), len(self.values))


def repeated(ordinal: int, count: int) -> int:
    """Return 64 bits filled with copies of *ordinal*, each in as few bits as *count* values need.

    As in the slides, there is one more copy than fits, so the first copy loses some or all bits.

    >>> [f"{repeated(ordinal, 3):016x}" for ordinal in range(3)]
    ['0000000000000000', '5555555555555555', 'aaaaaaaaaaaaaaaa']
    """
    bits = max(1, (count - 1).bit_length())
    value = 0
    for _ in range(64 // bits + 1):
        value = (value << bits) + ordinal
    return value & 0xFFFFFFFFFFFFFFFF


def language(page: Page) -> str | None:
    """Return the language of *page*, a code of ISO 639-1."""
    return page.document.language
