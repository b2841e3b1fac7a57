"""PageFingerprinter: the first three arrows, from HTML to Fingerprint."""

from __future__ import annotations

from scrapy_simhash.config import Config
from scrapy_simhash.features import features
from scrapy_simhash.fingerprint import Fingerprint, digest, fold
from scrapy_simhash.text import Document, Html, extract, parse, plain_text

#: Name of the way from page to bits. Fingerprints of different schemes must never be compared: any change that
#: moves a bit of any page's fingerprint is a new scheme.
SCHEME = "web-1"


class PageFingerprinter:
    """Turns pages into fingerprints: the same page and settings, the same 64 bits, on every platform.

    >>> fingerprinter = PageFingerprinter()
    >>> fingerprinter.from_text("Too short to tell.") is None
    True
    """

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()

    def extract(
        self,
        html: Html,
        url: str | None = None,
        *,
        content_type: str | None = None,
        content_language: str | None = None,
    ) -> Document:
        """Return the title, language, paragraphs and main text of *html*.

        *html* is text, bytes as they came, or the root of an lxml tree, which is read only (Scrapy's
        ``response.selector.root``, so that a page is not parsed twice). *content_type* and
        *content_language* are HTTP header values; the one helps to decode bytes, the other to name the
        language. *url* makes no difference in this scheme.

        Raises TypeError for any other type; bad markup never raises.
        """
        return extract(parse(html, content_type), content_language)

    def from_html(
        self,
        html: Html,
        url: str | None = None,
        *,
        content_type: str | None = None,
        content_language: str | None = None,
    ) -> Fingerprint | None:
        """Return the fingerprint of a page, None when its main text is too short; arguments as in extract()."""
        return self.from_document(
            self.extract(html, url, content_type=content_type, content_language=content_language)
        )

    def from_text(self, text: str, language: str | None = None) -> Fingerprint | None:
        """Return the fingerprint of plain *text*, None when it is too short; empty lines part paragraphs.

        *language* is an ISO 639-1 code; None lets the words tell.
        """
        return self.from_document(plain_text(text, language))

    def from_document(self, document: Document) -> Fingerprint | None:
        """Return the fingerprint of *document*, None with fewer than ``min_shingles`` distinct shingles."""
        weights = features(document, self.config.shingle_size, self.config.min_shingles)
        if not weights:
            return None
        value = fold((digest(feature), weight) for feature, weight in weights.items())
        return Fingerprint(value, len(weights))
