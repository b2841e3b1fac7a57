"""Texts of a given length, in two languages with different scripts.

The main texts of pages are joined and cut to size. Only Chinese texts that are mostly Han are used, because half of a
software manual is code. If there are too few texts, they are repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle, islice

from scrapy_simhash import Document

#: Number of texts per set.
COUNT = 24

WORDS, CHARACTERS = "words", "characters"

_HAN = re.compile(r"[\u4e00-\u9fff]")
_WORD = re.compile(r"\S+")


def text_sets(documents: Iterable[Document]) -> dict[str, list[str]]:
    """Return the texts of each set by name, cut from the main texts of *documents*."""
    by_language: dict[str, list[str]] = {}
    for document in documents:
        by_language.setdefault(document.language or "", []).append(document.text)
    if mostly := [text for text in by_language.get("zh", ()) if _is_mostly_han(text)]:
        by_language["zh"] = mostly
    wanted = [("en", WORDS, 1000), ("zh", CHARACTERS, 2000)]
    return {
        f"{code}, {size:,} {unit}": list(islice(cut(by_language[code], unit, size), COUNT))
        for code, unit, size in wanted
        if any(map(str.strip, by_language.get(code, ())))
    }


def cut(texts: Sequence[str], unit: str, size: int) -> Iterator[str]:
    r"""Yield texts of *size* words or characters, cut from *texts* one after another, without end.

    >>> list(islice(cut(["one two three", "four five"], WORDS, 2), 2))
    ['one two', 'three\n\nfour']
    """
    stream = cycle(texts)
    rest = ""
    while True:
        end = _end(rest, unit, size)
        while end is None:
            more = next(stream)
            rest = f"{rest}\n\n{more}" if rest else more
            end = _end(rest, unit, size)
        yield rest[:end]
        rest = rest[end:].lstrip()


def _end(text: str, unit: str, size: int) -> int | None:
    """Return the position after *size* units of *text*; None if it is shorter."""
    if unit == CHARACTERS:
        return size if len(text) >= size else None
    last = next(islice(_WORD.finditer(text), size - 1, None), None)
    return last and last.end()


def _is_mostly_han(text: str) -> bool:
    characters = "".join(text.split())
    return 2 * len(_HAN.findall(characters)) > len(characters)
