"""CompiledReader: read pages and texts with the C extension, with the same results as pure Python."""

from __future__ import annotations

import logging
from functools import cache
from types import ModuleType
from typing import NamedTuple

from lxml import etree

from scrapy_simhash import kernel
from scrapy_simhash.page.compiled.definition import LANGUAGES, ZONES, definition
from scrapy_simhash.page.features import (
    facts_bytes,
    features,
    find_facts,
    shingle_counts,
    titled_text,
    whole_text,
)
from scrapy_simhash.page.fingerprint import digest, fold, number, occurrences, sketch
from scrapy_simhash.page.language.choose import DECLARED, SCRIPTS
from scrapy_simhash.page.language.detect import WRITTEN_IN_HAN
from scrapy_simhash.page.reading import KnownSite, Reading
from scrapy_simhash.page.text import Document, extract, parse, plain_text
from scrapy_simhash.page.text.document import Paragraph
from scrapy_simhash.page.text.main_text import REASONS


class FoldSettings(NamedTuple):
    """The settings of :class:`~scrapy_simhash.config.Config` that affect a reading."""

    min_shingles: int
    with_sketch: bool
    with_paragraphs: bool = False


class CompiledReader:
    """The C extension with its word lists and limits. Methods return None for input that pure Python must read.

    A *language* is an ISO 639-1 code from outside the page; the language declared in the markup overrides it.
    """

    def __init__(self, native: ModuleType) -> None:
        self._native = native
        numbers = {code: number for number, code in enumerate(LANGUAGES)}
        rules = native.Rules(definition())
        self._reader = native.Reader(rules, numbers, WRITTEN_IN_HAN, Paragraph, ZONES, REASONS)

    def document(self, root: etree._Element, language: str | None) -> Document | None:
        """Return the result of :func:`scrapy_simhash.page.text.extract` for the page under *root*."""
        found = self._reader.extract(root, language)
        if found is None:
            return None
        title, (declared, chosen), title_key, paragraphs = found
        named = declared if chosen == DECLARED else (*LANGUAGES, *SCRIPTS)[chosen]
        return Document(title, named, title_key, paragraphs)

    def read(
        self,
        root: etree._Element,
        language: str | None,
        settings: FoldSettings,
        site: KnownSite | None = None,
        url: str = "",
    ) -> Reading | None:
        """Return the reading of the page under *root*; *url* is the URL of the page."""
        reading: Reading | None = self._reader.read_tree(root, language, settings, site, url)
        return reading

    def read_text(self, text: str, language: str | None, settings: FoldSettings) -> Reading | None:
        """Return the reading of a plain text, without a text hash; if *language* is None, detect it."""
        reading: Reading | None = self._reader.read_text(text, language, settings)
        return reading

    def may_name_steps(self, root: etree._Element) -> bool:
        """Return whether any link under *root* may name the next or the previous page."""
        may_name: bool = self._native.may_name_steps(root)
        return may_name

    def links_in_head(
        self, root: etree._Element, word: bytes | None, limit: int
    ) -> list[tuple[str | None, str, str | None, str | None]] | None:
        """Return the result of ``links_in_head`` of :mod:`scrapy_simhash.judge.hints.markup` for *root*.

        With a *word* (lower-case ASCII letters), return only links with this word in ``rel``, and every base. Reads
        at most *limit* elements.
        """
        links: list[tuple[str | None, str, str | None, str | None]] | None = self._native.links_in_head(
            root, word, limit
        )
        return links


# The C extension is used only after a check in this process: its results for a page and a text must equal those of
# pure Python.
#
# Tests compare the two implementations. This check detects a wrong build, such as for a different layout of lxml's
# trees or a different ABI of the interpreter. A page of a few lines is enough. The result of pure Python is stored as
# a hash, because reading the page takes 30 ms; if the hashes differ, pure Python also reads the page, because a
# different libxml2 may build a different tree.

logger = logging.getLogger(__name__)

# The page contains every kind of node, character and filter that the C extension handles differently.
_PAGE = """<!DOCTYPE html><html lang="en-GB"><head>
<title>The tide &amp; the wa\u0301ve | Harbour News</title></head><body>
<nav class="navBar"><a href="/">Home</a> <a href="/b">Boats</a></nav><!-- tides -->tail
<main id="story"><h1>The tide</h1>
<p>The ship that went out to the sea came home with the tide, and nobody had seen the fog, the b\u00fcoy or
the \ufb01sh in the bay, not even the man on the quay.</p><p hidden>Not seen at all by those who read.</p>
<p style="color: red">\u8fd1\u4f3c\u7f51\u9875\u3002 It is<br>12 \u20ac.<b>x</b><i>y</i></main>
<footer class="footer widget">Imprint</footer></body></html>"""
_SETTINGS = FoldSettings(min_shingles=1, with_sketch=True)

#: Hash of the results for this page. If the results change, a test prints the new hash.
_EXPECTED = 0xA31F05D305E17C1B


@cache
def compiled_reader() -> CompiledReader | None:
    """Return a reader that uses the C extension; None if pages are read in pure Python.

    If its results differ from those of pure Python, log a warning and return None. Raises ImportError if the
    environment requires the extension.
    """
    if kernel.native is None:
        return None
    try:
        reader = CompiledReader(kernel.native)
        reason = (
            ""
            if _agrees(reader)
            else f"it reads a page differently from pure Python (lxml {etree.__version__})"
        )
    except Exception as failure:
        reason = f"it fails ({failure!r})"
    if not reason:
        return reader
    logger.warning("The C extension is not used, so pages are read slowly, but correctly: %s", reason)
    kernel.give_up(reason)
    return None


def _agrees(reader: CompiledReader) -> bool:
    """Return whether *reader* and pure Python read the page of the check with equal results."""
    root = parse(_PAGE)
    page = reader.document(root, None)
    found = (
        page,
        reader.document(root[1], "fr"),
        _parts(reader.read(root, None, _SETTINGS)),
        _parts(reader.read_text(page.text if page else "", None, _SETTINGS)),
    )
    return number(repr(found)) == _EXPECTED or found == _read_by_python(root)


def _read_by_python(root: etree._Element) -> tuple[object, ...]:
    page = extract(root)
    return (
        page,
        extract(root[1], "fr"),
        _pure(page, *map(number, (whole_text(page), titled_text(page)))),
        _pure(plain_text(page.text), None, None),
    )


def _parts(reading: Reading | None) -> tuple[object, ...]:
    """Return all parts of a reading, because fingerprints compare equal if only their values are equal."""
    if reading is None or reading.fingerprint is None:
        return ()
    found = reading.fingerprint
    return found.value, found.features, found.sketch, found.own, reading.page_hash, reading.text_hash


def _pure(document: Document, *hashes: int | None) -> tuple[object, ...]:
    weights = features(document, _SETTINGS.min_shingles)
    value = fold(zip(map(digest, weights), weights.values(), strict=True))
    shingles = occurrences(shingle_counts(document))
    stated = facts_bytes(find_facts(document))
    return value, len(weights), sketch(shingles, document.title_key, stated), b"", *hashes
