"""Read an input in C and in Python, and return the differences.

Both implementations are called through the public classes. :func:`is_covered` returns whether the C extension reads a
page itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

from lxml import etree

from fuzz.case import Case
from scrapy_simhash import Config, PageFingerprinter
from scrapy_simhash.fingerprinter import Reading
from scrapy_simhash.page.compiled import compiled_reader
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.page.interstitial import marked_by
from scrapy_simhash.page.structured import Structured, structured
from scrapy_simhash.page.text import Document, extract, plain_text

#: Settings that affect the reading of a page.
SETTINGS = (
    Config(changes="changes.jsonl"),
    Config(min_shingles=1),
    Config(min_shingles=4, rule="classic"),
)
FINGERPRINTERS = tuple(map(PageFingerprinter, SETTINGS))


def differences(case: Case, fingerprinters: Sequence[PageFingerprinter] = FINGERPRINTERS) -> list[str]:
    """Return the differences between C and Python for *case*, one per line."""
    if case.kind == "text":
        return text_differences(case.content, case.language, fingerprinters)
    root = case.root()
    return [] if root is None else page_differences(root, case.language, fingerprinters, case.url)


def page_differences(
    root: etree._Element,
    language: str | None = None,
    fingerprinters: Sequence[PageFingerprinter] = FINGERPRINTERS,
    url: str = "",
) -> list[str]:
    """Return the differences for a page at *url*; *language* is the ``Content-Language`` header."""
    expected = _outcome(lambda: extract(root, language))
    about = structured(root)
    found = _outcome(lambda: fingerprinters[0].extract(root, content_language=language))
    lines = _document_differences(found, expected)
    for way in fingerprinters:
        reading = _outcome(partial(_read, way, root, language, url))
        pure = (
            _outcome(partial(_pure, way, expected, about, root, url))
            if isinstance(expected, Document)
            else expected
        )
        if reading != pure:
            lines.append(f"{_named(way)}: the kernel has {reading}, pure Python {pure}")
    return lines


def text_differences(
    text: str,
    language: str | None = None,
    fingerprinters: Sequence[PageFingerprinter] = FINGERPRINTERS,
) -> list[str]:
    """Return the differences for plain *text*."""
    lines = []
    document = _outcome(lambda: plain_text(text, language))
    for way in fingerprinters:
        found = _bits_of(partial(way.from_text, text, language))
        pure = _bits_of(partial(way.from_document, document)) if isinstance(document, Document) else document
        if found != pure:
            lines.append(f"{_named(way)}: the kernel has {found}, pure Python {pure}")
    return lines


def is_covered(root: etree._Element) -> bool:
    """Return whether the C extension reads the page itself."""
    reader = compiled_reader()
    return reader is not None and reader.document(root, None) is not None


def bits(fingerprint: Fingerprint | None) -> str:
    """Return all fields of a fingerprint as text, because fingerprints are compared only by value."""
    if fingerprint is None:
        return "no fingerprint"
    return (
        f"{fingerprint.hex} of {fingerprint.features} features, sketch {fingerprint.sketch.hex() or 'none'}"
    )


def _read(way: PageFingerprinter, root: etree._Element, language: str | None, url: str) -> str:
    return _written(way.read(root, content_language=language, url=url))


def _pure(
    way: PageFingerprinter, document: Document, about: Structured, root: etree._Element, url: str
) -> str:
    return _written(marked_by(document, way.read_document(document, about=about, url=url), root))


def _written(reading: Reading) -> str:
    return (
        f"{bits(reading.fingerprint)}, page hash {reading.page_hash}, paragraphs {reading.paragraphs.hex()}"
        f"{', an interstitial' if reading.is_interstitial else ''}"
    )


def _bits_of(make: Callable[[], Fingerprint | None]) -> Any:
    return _outcome(lambda: bits(make()))


def _outcome(ask: Callable[[], Any]) -> Any:
    """Return the result, or the error as text, because errors must be equal, too."""
    try:
        return ask()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _document_differences(found: Any, expected: Any) -> list[str]:
    # As text, because 0 equals 0.0; in parts, so that only the paragraphs that differ are shown.
    parts = (repr(document).split("Paragraph(") for document in (found, expected))
    return [
        f"document: the kernel has {mine}, pure Python {own}"
        for mine, own in zip_longest(*parts)
        if mine != own
    ]


def _named(way: PageFingerprinter) -> str:
    config = way.config
    return f"min_shingles {config.min_shingles}, rule {config.rule}"
