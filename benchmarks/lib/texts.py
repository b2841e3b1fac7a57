"""Texts of a given length, in two languages that are written in different ways.

The main texts of pages, one after another, cut to size; of Chinese ones those that are Chinese for the most part, for
manuals of software are half program. Where they do not suffice, as with the example site, they are gone through again
with their sentences in another order.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from scrapy_simhash import Document

SEED = 65
#: Texts of each set.
COUNT = 24

WORDS, CHARACTERS = "words", "characters"

_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*\s*|\s+")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_WORD = re.compile(r"\S+")


def text_sets(documents: Iterable[Document]) -> dict[str, list[str]]:
    """Return the texts of every set that is measured, by its name; *documents* are what the real ones are made of."""
    by_language: dict[str, list[str]] = {}
    for document in documents:
        by_language.setdefault(document.language or "", []).append(document.text)
    if mostly := [text for text in by_language.get("zh", ()) if _is_mostly_han(text)]:
        by_language["zh"] = mostly
    wanted = [("en", WORDS, 1000), ("en", WORDS, 5000), ("zh", CHARACTERS, 2000)]
    return {
        f"{code}, {size:,} {unit}": list(islice(cut(by_language[code], unit, size), COUNT))
        for code, unit, size in wanted
        if any(map(str.strip, by_language.get(code, ())))
    }


def cut(texts: Sequence[str], unit: str, size: int) -> Iterator[str]:
    r"""Yield texts of *size* words or characters without end, cut from *texts* one after another.

    When they are used up they begin again, their sentences shuffled. Raises ValueError if there is no word in them.

    >>> list(islice(cut(["one two three", "four five"], WORDS, 2), 2))
    ['one two', 'three\n\nfour']
    """
    stream = _again(texts)
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
    """Return where *text* has *size* units, None if it is shorter."""
    if unit == CHARACTERS:
        return size if len(text) >= size else None
    last = next(islice(_WORD.finditer(text), size - 1, None), None)
    return last and last.end()


def _is_mostly_han(text: str) -> bool:
    characters = "".join(text.split())
    return 2 * len(_HAN.findall(characters)) > len(characters)


def _again(texts: Sequence[str]) -> Iterator[str]:
    draw = random.Random(SEED)
    yield from texts
    sentences = [sentence for text in texts for sentence in _SENTENCE.findall(text) if sentence.strip()]
    if not sentences:
        raise ValueError("there is no text to cut")
    while True:
        draw.shuffle(sentences)
        yield "".join(sentences)
