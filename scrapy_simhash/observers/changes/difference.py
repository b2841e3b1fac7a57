"""Differences: paragraphs and facts that were added to or removed from a page, for ``SIMHASH_CHANGES``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_simhash.page.features.facts import changed_facts
from scrapy_simhash.page.fingerprint import FACTS_AT, digest
from scrapy_simhash.page.reading import KEPT_PARAGRAPH

if TYPE_CHECKING:
    from scrapy_simhash.page.reading import Reading
    from scrapy_simhash.page.text import Document

#: Max characters of ``text_added`` per line of the feed. The hashes of all paragraphs are written.
MAX_TEXT = 2_000
_PAGE_BYTES = 8


class Reported(NamedTuple):
    r"""The reported state of a page, stored as a note with its row.

    >>> reported = Reported(b"8 bytes.", b"\x02ab", b"paragraphs")
    >>> Reported.from_bytes(reported.to_bytes()) == reported
    True
    """

    page: bytes
    """Hash of the page, 8 bytes. For a page that was reported as gone: 3 zero bytes, a byte that is 1 if the page was
    reported as moved, and the Unix time at which the page was last seen."""
    facts: bytes = b"\0"
    """See page/fingerprint/facts.py."""
    paragraphs: bytes = b""
    """Hash and number of tokens of each paragraph of the main text, see page/reading.py."""

    @classmethod
    def of(cls, reading: Reading) -> Reported:
        """Return the state of a page that was read."""
        fingerprint, page_hash = reading.fingerprint, reading.page_hash
        sketch = b"" if fingerprint is None else fingerprint.sketch
        return cls(_bytes_of(page_hash), sketch[FACTS_AT:] or b"\0", reading.paragraphs)

    def is_of(self, page_hash: int | None) -> bool:
        """Return whether this version of the page was reported."""
        return self.page == _bytes_of(page_hash)

    @property
    def is_gone(self) -> bool:
        """Whether the page was reported as gone."""
        return self.page.startswith(bytes(3))

    @property
    def has_moved(self) -> bool:
        """Whether the page was reported as moved."""
        return self.is_gone and self.page[3:4] == b"\x01"

    def gone(self, seen: int, *, has_moved: bool) -> Reported:
        """Return the note of a page that is gone and was last seen at the time *seen*."""
        return self._replace(page=bytes([0, 0, 0, has_moved]) + seen.to_bytes(4, "big"))

    def to_bytes(self) -> bytes:
        """Return the note as bytes."""
        return self.page + self.facts + self.paragraphs

    @classmethod
    def from_bytes(cls, data: bytes) -> Reported:
        """Return the note in *data*, the result of `to_bytes`. Raises ValueError for other bytes."""
        facts = data[_PAGE_BYTES:]
        if not facts or len(facts) < facts[0] + 1:
            raise ValueError("a note is truncated")
        end = _PAGE_BYTES + 1 + facts[0]
        return cls(data[:_PAGE_BYTES], data[_PAGE_BYTES:end], data[end:])


def _bytes_of(page_hash: int | None) -> bytes:
    return (page_hash or 0).to_bytes(8, "big")


def difference(former: Reported, document: Document, url: str) -> dict[str, Any]:
    """Return the differences between a reported page and its current *document* at *url*.

    A moved paragraph counts as unchanged, and a paragraph with a changed word as removed and added. O(paragraphs).
    """
    known = Counter(key for key, _ in KEPT_PARAGRAPH.iter_unpack(former.paragraphs))
    added, texts, left, words = [], [], MAX_TEXT, 0
    for part in document.main:
        key = digest(part.text)
        if known[key]:
            known[key] -= 1
            continue
        added.append(key.hex())
        words += len(part.tokens)
        if left > 0:
            texts.append(part.text[:left])
        left -= len(part.text)
    removed = []
    for key, count in KEPT_PARAGRAPH.iter_unpack(former.paragraphs):
        if known[key]:
            known[key] -= 1
            removed.append((key.hex(), count))
    return {
        "facts_added": changed_facts(former.facts, document, url),
        "paragraphs_kept": len(former.paragraphs) // KEPT_PARAGRAPH.size - len(removed),
        "paragraphs_added": added,
        "paragraphs_removed": [key for key, _ in removed],
        "words_added": words,
        "words_removed": sum(count for _, count in removed),
        "text_added": texts,
        "is_cut": left < 0,
    }
