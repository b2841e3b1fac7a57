"""PageFingerprinter: compute fingerprints from HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lxml import etree

from scrapy_simhash.config import SCHEMES, Config
from scrapy_simhash.judge.rule import rule_of
from scrapy_simhash.page.compiled import FoldSettings, compiled_reader
from scrapy_simhash.page.features import (
    facts_bytes,
    features,
    find_facts,
    has_little_text,
    has_some_text,
    shingle_counts,
    titled_text,
    whole_text,
)
from scrapy_simhash.page.fingerprint import (
    DOUBTFUL,
    MINHASH_BYTES,
    PART,
    TEXT_MASK,
    UNKNOWN,
    WHOLE,
    Fingerprint,
    LongFingerprint,
    UniqueText,
    digest,
    fold,
    number,
    occurrences,
    sketch,
)
from scrapy_simhash.page.interstitial import marked_by
from scrapy_simhash.page.language import primary_subtag
from scrapy_simhash.page.pieces import OF_SITE, Piece, is_doubtful, made_of, pieces, words_number
from scrapy_simhash.page.reading import KnownSite as KnownSite
from scrapy_simhash.page.reading import Reading as Reading
from scrapy_simhash.page.reading import packed
from scrapy_simhash.page.structured import NOTHING, Structured, structured
from scrapy_simhash.page.text import Document, Html, extract, parse, plain_text

if TYPE_CHECKING:
    from scrapy_simhash.page.schemes import Scheme

#: Name of the default scheme. Fingerprints of different schemes must never be compared: a change that affects a bit
#: of any fingerprint needs a new name.
SCHEME = "web-4"
_ANY_LANGUAGE = "en"


class PageFingerprinter:
    """Computes the fingerprints of pages. The same page and settings give the same 64 bits on every platform.

    Fingerprinters can be pickled for other processes, with or without the C extension.

    >>> fingerprinter = PageFingerprinter()
    >>> fingerprinter.from_text("Too short to tell.") is None
    True
    """

    def __init__(self, config: Config | None = None, *, scheme: str | None = None) -> None:
        """Create a fingerprinter for *config*; *scheme* overrides ``SIMHASH_SCHEME``.

        Raises SettingError for an unknown scheme.
        """
        config = config or Config()
        self.config = config if scheme is None else replace(config, scheme=scheme)
        self.rule = rule_of(self.config)
        # None for the default scheme, which does not need the code of the other schemes.
        self._scheme = scheme_of(self.config)
        # None for pure Python, which returns the same bits.
        self._compiled = compiled_reader()
        self._settings = FoldSettings(
            self.config.min_shingles,
            self.rule.compares_sketches,
            self.config.changes is not None,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes except the compiled reader and the scheme, which each process loads itself."""
        return {name: value for name, value in vars(self).items() if name not in ("_compiled", "_scheme")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._compiled = compiled_reader()
        self._scheme = scheme_of(self.config)

    @property
    def scheme(self) -> str:
        """Name and version of the scheme, as in the header of a store: ``web-4``."""
        return scheme_name(self.config)

    def extract(
        self,
        html: Html,
        *,
        content_type: str | None = None,
        content_language: str | None = None,
    ) -> Document:
        """Return the title, language, paragraphs and main text of *html*.

        *html* is text, bytes, or the root of an lxml tree, which is not changed; Scrapy's
        ``response.selector.root`` avoids parsing the page twice. *content_type* and *content_language* are
        HTTP header values, used to decode bytes and to detect the language.

        Raises TypeError for any other type; invalid HTML does not raise an exception.
        """
        root = parse(html, content_type)
        if self._compiled:
            document = self._compiled.document(root, primary_subtag(content_language))
            if document is not None:
                return document
        return extract(root, content_language)

    def from_html(
        self,
        html: Html,
        *,
        content_type: str | None = None,
        content_language: str | None = None,
    ) -> Fingerprint | None:
        """Return the fingerprint of a page; None if its main text is too short. Arguments as in extract()."""
        return self.read(html, content_type=content_type, content_language=content_language).fingerprint

    def read(
        self,
        html: Html,
        *,
        content_type: str | None = None,
        content_language: str | None = None,
        site: KnownSite | None = None,
        url: str = "",
    ) -> Reading:
        """Return the fingerprint of a page and the hashes of its text. Arguments as in extract().

        With a *site*, a :class:`~scrapy_simhash.page.site.SiteProfile`, the fingerprint includes the unique text of
        the page; value and sketch do not change. *url* is the URL of the page.

        Thread-safe, unless other code changes the tree during the call. The C extension releases the GIL for long
        texts.
        """
        # A crawl passes a parsed tree.
        root = html if isinstance(html, etree.ElementBase) else parse(html, content_type)
        if not self.rule.compares_sketches:
            site = None
        if self._scheme is not None:
            document = self.extract(root, content_language=content_language)
            reading = self._reading(document, self._by_scheme(self._scheme, document, root, url), url)
            return marked_by(document, reading.with_structured(structured(root)), root)
        if self._compiled:
            language = primary_subtag(content_language) if content_language else None
            read = self._compiled.read(root, language, self._settings, site, url)
            if read is not None:
                return read
        document = extract(root, content_language)
        return marked_by(document, self.read_document(document, site, structured(root), url), root)

    def from_text(self, text: str, language: str | None = None) -> Fingerprint | None:
        """Return the fingerprint of plain *text*; None if the text is too short. Empty lines separate paragraphs.

        *language* is an ISO 639-1 code; None detects it from the words.
        """
        if self._compiled and self._scheme is None:
            read = self._compiled.read_text(text, language, self._settings)
            if read is not None:
                return read.fingerprint
        return self.from_document(plain_text(text, language))

    def read_text(self, text: str) -> Reading:
        """Return the fingerprint and the hashes of plain *text*."""
        fingerprint = self.from_text(text)
        # The hashes do not depend on the language, so it is not detected.
        return self._reading(plain_text(text, _ANY_LANGUAGE), fingerprint)

    def read_document(
        self, document: Document, site: KnownSite | None = None, about: Structured = NOTHING, url: str = ""
    ) -> Reading:
        """Return the fingerprint of *document* and the hashes of its text; see read().

        *about* is the result of :func:`~scrapy_simhash.page.structured.structured` for the page.
        """
        reading = self._reading(document, self.from_document(document, url), url)
        fingerprint = reading.fingerprint
        if site is None or fingerprint is None:
            return reading.with_structured(about)
        parts = pieces(document)
        keys = b"".join(piece.key.to_bytes(8, "little") for piece in parts)
        own = self._unique_text(document, parts, site, keys)._replace(
            words=words_number(document),
            whole=sum(len(piece.tokens) for piece in parts),
            text=(reading.page_hash or 0) & TEXT_MASK,
        )
        fingerprint = replace(fingerprint, own=own.to_bytes())
        return reading._replace(fingerprint=fingerprint, pieces=keys).with_structured(about)

    def _reading(self, document: Document, fingerprint: Fingerprint | None, url: str = "") -> Reading:
        """Return the reading of a page with *fingerprint*, without its structured data."""
        paragraphs = packed(document) if self._settings.with_paragraphs else b""
        # Every page with a fingerprint has a hash: if min_shingles is 1, one word is enough for both.
        if fingerprint is None and not has_some_text(document):
            return Reading(None, None, paragraphs=paragraphs)
        reading = Reading(
            fingerprint, page_hash(document), paragraphs=paragraphs, text_hash=text_hash(document)
        )
        return reading.with_url(url) if fingerprint is None and has_little_text(document) else reading

    def _unique_text(
        self, document: Document, parts: Sequence[Piece], site: KnownSite, keys: bytes
    ) -> UniqueText:
        """Return the unique text of *document*, whose text blocks are *parts*."""
        tokens = sum(len(piece.tokens) for piece in parts)
        flags = site.flags(keys)
        if flags is None:
            return UniqueText(UNKNOWN, tokens)
        if not flags:
            return UniqueText(WHOLE, tokens)
        left = [(piece, flag) for piece, flag in zip(parts, flags, strict=True) if flag != OF_SITE]
        own_tokens = sum(len(piece.tokens) for piece, _ in left)
        if is_doubtful(own_tokens, sum(len(piece.tokens) for piece, flag in left if flag)):
            return UniqueText(DOUBTFUL, own_tokens)
        if len(left) == len(parts):
            return UniqueText(WHOLE, tokens)
        own = made_of(document, [piece for piece, _ in left])
        tokens = own_tokens
        fingerprint = self.from_document(own)
        if fingerprint is not None:
            return UniqueText(PART, tokens, fingerprint.value, fingerprint.sketch[:MINHASH_BYTES])
        counts = shingle_counts(own)
        return UniqueText(PART, tokens, 0, sketch(occurrences(counts), ())[:MINHASH_BYTES])

    def from_document(self, document: Document, url: str = "") -> Fingerprint | None:
        """Return the fingerprint of *document*, None for fewer than ``min_shingles`` distinct shingles.

        The fingerprint lacks the markup features of some schemes, which need the tree. *url* is the URL of the page.
        """
        if self._scheme is not None:
            return self._by_scheme(self._scheme, document)
        weights = self.weights(document)
        if not weights:
            return None
        value = fold(zip(map(digest, weights), weights.values(), strict=True))
        if not self.rule.compares_sketches:
            return Fingerprint(value, len(weights))
        counts = shingle_counts(document)
        return Fingerprint(
            value,
            len(weights),
            sketch(occurrences(counts), document.title_key, facts_bytes(find_facts(document, url))),
        )

    def _by_scheme(
        self, scheme: Scheme, document: Document, root: etree._Element | None = None, url: str = ""
    ) -> Fingerprint | None:
        """Return the fingerprint of a page by *scheme*, None for fewer than ``min_shingles`` distinct features."""
        weights = self._weights_by(scheme, document, root, url)
        kind = LongFingerprint if scheme.width > Fingerprint.width else Fingerprint
        return kind(scheme.fold(weights), len(weights)) if weights else None

    def _weights_by(
        self, scheme: Scheme, document: Document, root: etree._Element | None, url: str
    ) -> dict[str | int, int]:
        from scrapy_simhash.page.schemes import Page

        weights = scheme.weights(Page(document, root, url))
        return weights if len(weights) >= self.config.min_shingles else {}

    def weights(
        self, document: Document, root: etree._Element | None = None, url: str = ""
    ) -> dict[str, int]:
        """Return the features of a page with their weights; empty for a page that is too short.

        A feature is a text, or a hash of 16 hexadecimal digits. Schemes with markup features use *root* and *url*.
        """
        if self._scheme is not None:
            found = self._weights_by(self._scheme, document, root, url)
            return {
                name if isinstance(name, str) else f"{name:016x}": weight for name, weight in found.items()
            }
        return features(document, min_shingles=self.config.min_shingles)

    def is_near_duplicate(self, a: Fingerprint | None, b: Fingerprint | None) -> bool:
        """Return whether two pages are near-duplicates by the rule of the config. Takes a few microseconds.

        A page that is too short for a fingerprint is never a near-duplicate.

        >>> page = PageFingerprinter()
        >>> text = "The ship that went out to the sea came home with the tide, and nobody had seen the fog."
        >>> a, b = page.from_text(text), page.from_text(text.upper())
        >>> page.is_near_duplicate(a, b)
        True
        """
        return a is not None and b is not None and self.rule.similarity(a, b) is not None


def scheme_name(config: Config) -> str:
    """Return name and version of the scheme of *config*, as in the header of a store: ``web-4``.

    Raises SettingError for an unknown scheme.
    """
    scheme = scheme_of(config)
    return SCHEME if scheme is None else f"{config.scheme}-{scheme.version}"


def scheme_of(config: Config) -> Scheme | None:
    """Return the scheme of *config*, None for the default scheme."""
    if config.scheme == SCHEMES[0]:
        return None
    # Imported late, because the default scheme does not need it.
    from scrapy_simhash.page.schemes import scheme_named

    return scheme_named(config.scheme)


def page_hash(document: Document) -> int:
    """Return the 64-bit page hash without structured data; it does not depend on settings.

    :func:`~scrapy_simhash.page.features.whole_text` returns the hashed text.
    """
    return number(whole_text(document))


def text_hash(document: Document) -> int:
    """Return the 64-bit hash of title and main text; it does not depend on settings."""
    return number(titled_text(document))
