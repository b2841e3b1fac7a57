"""PageText: the main text of a page, read when it is asked for; and which paragraphs came and went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from scrapy_simhash.page.fingerprint.fold import digest
from scrapy_simhash.page.reading import KEPT_PARAGRAPH
from scrapy_simhash.page.text import Document


class TextParagraph(NamedTuple):
    """A paragraph of the main text."""

    text: str
    start: int
    """Where it begins in the main text, in characters."""
    end: int
    hash: str
    """16 hexadecimal digits. Two paragraphs with the same text, sign for sign, have the same, on any page, in any
    crawl and in any release; white space makes no difference."""
    words: int
    """How many tokens it has; of scripts without spaces, pairs of characters are tokens."""


class PageText:
    """The main text of one page.

    Nothing is read before the first look at an attribute. The tree is the one that the spider has; whoever removes
    elements from that before looks at what is left.
    """

    def __init__(self, read: Callable[[], Document]) -> None:
        """*read* is called once, when the text is asked for."""
        self._read = read
        #: Whether the page has the same text as last time, so that no paragraph is new.
        self.is_unchanged = False
        #: Hashes of the paragraphs that it had last time, 8 bytes each; empty if nobody knows them.
        self.known: Collection[bytes] = ()

    @cached_property
    def document(self) -> Document:
        """Everything that was read: title, language, and all paragraphs with what is boilerplate."""
        return self._read()

    @property
    def title(self) -> str:
        """The title; empty if there is none."""
        return self.document.title

    @property
    def language(self) -> str | None:
        """ISO 639-1 code; None when neither the markup nor the words tell."""
        return self.document.language

    @property
    def text(self) -> str:
        """The main text, a line a paragraph."""
        return self.document.text

    @cached_property
    def paragraphs(self) -> tuple[TextParagraph, ...]:
        """The paragraphs of the main text, in their order."""
        found, start = [], 0
        for part in self.document.main:
            end = start + len(part.text)
            found.append(TextParagraph(part.text, start, end, digest(part.text).hex(), len(part.tokens)))
            start = end + 1
        return tuple(found)

    @property
    def changed(self) -> tuple[TextParagraph, ...]:
        """The paragraphs that the page did not have when its text was delivered last; all of them if it was not."""
        if self.is_unchanged:
            return ()
        return tuple(part for part in self.paragraphs if bytes.fromhex(part.hash) not in self.known)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what was read, for a request that waits in a disk queue."""
        state = {"is_unchanged": self.is_unchanged, "known": self.known}
        return _restored, (self.document, state)


def _restored(document: Document, state: dict[str, Any]) -> PageText:
    text = PageText(lambda: document)
    vars(text).update(state)
    return text


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


def hashes(kept: bytes) -> frozenset[bytes]:
    """Return the hashes of the paragraphs *kept*, see `packed` of page/reading.py."""
    return frozenset(paragraph for paragraph, _ in KEPT_PARAGRAPH.iter_unpack(kept))


def difference(kept: bytes, paragraphs: Sequence[TextParagraph]) -> Difference:
    """Return what differs between the former paragraphs, of which *kept* is left, and the present ones.

    A paragraph that stands on a page twice counts twice.
    """
    former = list(KEPT_PARAGRAPH.iter_unpack(kept))
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
