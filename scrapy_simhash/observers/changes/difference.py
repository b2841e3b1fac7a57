"""Difference: which paragraphs of a page came and went, by their hashes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Any, NamedTuple

from scrapy_simhash.observers.changes.page_text import TextParagraph

#: What is kept of a paragraph: its hash, and its words, of which 65,535 are counted.
_KEPT = Struct(">8sH")
_MOST_WORDS = 0xFFFF


class Difference(NamedTuple):
    """What differs between two texts of a page. A paragraph that only stands elsewhere is kept."""

    kept: int
    """Paragraphs that both have."""
    added: tuple[TextParagraph, ...]
    """Paragraphs that the former text did not have; one with a changed word is one of them."""
    removed: tuple[str, ...]
    """Hashes of those that the present text does not have any more."""
    words_removed: int
    """Words in those."""

    def to_dict(self, size: int) -> dict[str, Any]:
        """Return the difference as it stands in a line, with at most *size* characters of new paragraphs.

        ``is_cut`` says whether some are left out, or cut. Their hashes are there in any case.
        """
        left, texts = size, []
        for part in self.added:
            if left <= 0:
                break
            texts.append(part.text[:left])
            left -= len(part.text)
        return {
            "paragraphs_kept": self.kept,
            "paragraphs_added": [part.hash for part in self.added],
            "paragraphs_removed": list(self.removed),
            "words_added": sum(part.words for part in self.added),
            "words_removed": self.words_removed,
            "text_added": texts,
            "is_cut": len(texts) < len(self.added) or left < 0,
        }


def packed(paragraphs: Sequence[TextParagraph]) -> bytes:
    """Return what is kept of *paragraphs*: 10 bytes each."""
    return b"".join(_KEPT.pack(bytes.fromhex(part.hash), min(part.words, _MOST_WORDS)) for part in paragraphs)


def hashes(kept: bytes) -> frozenset[bytes]:
    """Return the hashes in what packed() has returned."""
    return frozenset(paragraph for paragraph, _ in _unpacked(kept))


def difference(kept: bytes, paragraphs: Sequence[TextParagraph]) -> Difference:
    """Return what differs between the former paragraphs, of which packed() has *kept* this, and the present ones.

    A paragraph that stands on a page twice counts twice.
    """
    former = list(_unpacked(kept))
    left = Counter(paragraph for paragraph, _ in former)
    added = []
    for part in paragraphs:
        key = bytes.fromhex(part.hash)
        if left[key]:
            left[key] -= 1
        else:
            added.append(part)
    removed, words = [], 0
    for key, count in former:
        if left[key]:
            left[key] -= 1
            removed.append(key.hex())
            words += count
    return Difference(len(former) - len(removed), tuple(added), tuple(removed), words)


def _unpacked(kept: bytes) -> Iterator[tuple[bytes, int]]:
    return _KEPT.iter_unpack(kept)
