"""Images that are embedded in a page: their URL, alternative text and bytes, or what a plug-in says of them."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from xxhash import xxh3_64_hexdigest

from scrapy_simhash.page.language import normalize, tokenize
from scrapy_simhash.page.schemes.kinds.feature_kind import Page
from scrapy_simhash.page.schemes.kinds.links import absolute


class Image(NamedTuple):
    """An ``img`` element."""

    url: str
    """Absolute if the page's URL is known; empty for an image inside the page."""
    text: str
    """Its alternative text."""
    data: bytes | None
    """Its bytes, if they are inside the page (a ``data:`` URL). A page is never read from the network for it."""


def describe(image: Image) -> Iterator[str]:
    """Yield URL, alternative text and hash of the bytes of *image*: any change of them is another feature.

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
    """What *describe* says of every image. A perceptual hash is a function of your own in its place.

    It is called with an `Image` and returns strings, or numbers that are hashes: similar images should give many
    equal strings, or near numbers.
    """

    describe: Callable[[Image], Iterable[str | int]] = describe

    def __call__(self, page: Page) -> Iterator[str | int]:
        """Yield the features of all images, in order. Plain text has none."""
        if page.root is None:
            return
        for element in page.root.iter("img"):
            source = (element.get("src") or "").strip()
            is_inside = source[:5].lower() == "data:"
            data = _data(source) if is_inside else None
            url = "" if is_inside else absolute(source, page.url)
            yield from self.describe(Image(url, element.get("alt") or "", data))


def _data(url: str) -> bytes | None:
    """Return the bytes that a ``data:`` URL holds; None if it is broken."""
    head, comma, body = url.partition(",")
    if not comma:
        return None
    try:
        plain = unquote_to_bytes(body)
        return b64decode(plain) if head.lower().endswith(";base64") else plain
    except ValueError:
        return None
