"""Every character through the kernel, alone and with neighbours: the words must be those of pure Python.

With SIMHASH_ALL_CHARACTERS=1 every pair of marks too, and more dice.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from unicodedata import category

import pytest
from lxml import etree

from fuzz.characters import ALPHABETS
from scrapy_simhash.page.compiled import CompiledReader
from scrapy_simhash.page.compiled.characters import character
from scrapy_simhash.page.language import normalize, tokenize

IS_EXHAUSTIVE = bool(os.environ.get("SIMHASH_ALL_CHARACTERS"))
PLANES = [
    pytest.param(
        range(start, start + 0x4000),
        marks=[pytest.mark.slow("there are a million of these characters")] if start >= 0x10000 else [],
        id=f"U+{start:04X}",
    )
    for start in range(0, 0x110000, 0x4000)
]


def is_storable(character: str) -> bool:
    """Tell whether a tree may hold the character."""
    code = ord(character)
    return character in "\t\n\r" or (
        code >= 0x20 and category(character) != "Cs" and code not in (0xFFFE, 0xFFFF)
    )


def differing(reader: CompiledReader, texts: Iterable[str]) -> list[tuple[str, tuple[str, ...], list[str]]]:
    """Return the texts of which the kernel makes other tokens, with both."""
    root = etree.Element("html")
    expected = []
    for text in texts:
        if folded := " ".join(text.split()):
            etree.SubElement(root, "p").text = folded
            expected.append((folded, tokenize(normalize(folded))))
    document = reader.document(root, None)
    assert document is not None
    assert [paragraph.text for paragraph in document.paragraphs] == [text for text, _ in expected]
    return [
        (ascii(text), paragraph.tokens, tokens)
        for paragraph, (text, tokens) in zip(document.paragraphs, expected, strict=True)
        if list(paragraph.tokens) != tokens
    ]


@pytest.mark.parametrize("plane", PLANES)
def test_every_character_alone_and_beside_others_makes_the_same_words(
    reader: CompiledReader, plane: range
) -> None:
    # A plane of private characters, and those not assigned, all are treated alike: some will do.
    rare = ("Co", "Cn")
    characters = [chr(code) for code in plane if category(chr(code)) not in rare or code % 97 == 0]
    texts = (f"{c} a{c} e{c}\u0301{c} {c * 3} {c}B" for c in characters if is_storable(c))
    assert differing(reader, texts)[:5] == []


def marks_and_seconds() -> list[str]:
    codes = range(sys.maxunicode + 1)
    return [chr(code) for code in codes if category(chr(code))[0] == "M"] + list(ALPHABETS["invisible"])


def changing() -> list[str]:
    """Return the characters that normalisation takes apart, or case folding."""
    codes = range(sys.maxunicode + 1)
    return [chr(code) for code in codes if is_storable(chr(code)) and len(normalize(chr(code))) > 1]


def drawn(dice: random.Random, *alphabets: list[str]) -> Iterator[str]:
    """Yield one to five characters, each from any of the alphabets, again and again."""
    while True:
        yield "".join(dice.choice(dice.choice(alphabets)) for _ in range(dice.randint(1, 5)))


LETTERS = list("aeoqAK\u00e9\u0131\u03b1\u0439\u0915\u0e01\u1780\u05d0\u0627\uac00 _-1\u8fd1\u304b")
JAMO = [chr(code) for code in (*range(0x1100, 0x1200), *range(0xA960, 0xA97D), *range(0xD7B0, 0xD7FC))]


@pytest.mark.parametrize(
    "drawn_from",
    [
        lambda: (LETTERS, marks_and_seconds()),
        lambda: (LETTERS, list(ALPHABETS["marks"]), list(ALPHABETS["marks"])),
        lambda: (changing(), marks_and_seconds()),
        lambda: (JAMO, [chr(code) for code in range(0xAC00, 0xAC40)], LETTERS),
        lambda: tuple(list(ALPHABETS[name]) for name in ("thai and lao", "khmer and myanmar", "indic")),
        lambda: (list("".join(ALPHABETS.values())),),
    ],
    ids=["marks", "frequent marks", "changing", "hangul", "unspaced", "all kinds"],
)
def test_neighbours_drawn_at_random_make_the_same_words(
    reader: CompiledReader, drawn_from: Callable[[], tuple[list[str], ...]]
) -> None:
    alphabets = drawn_from()
    dice = random.Random(len(alphabets[0]))
    for _ in range(40 if IS_EXHAUSTIVE else 1):
        texts = filter(lambda text: all(map(is_storable, text)), drawn(dice, *alphabets))
        assert differing(reader, islice(texts, 10_000))[:5] == []


@pytest.mark.skipif(not IS_EXHAUSTIVE, reason="takes minutes; SIMHASH_ALL_CHARACTERS=1 runs it")
def test_every_pair_of_marks_makes_the_same_words(reader: CompiledReader) -> None:
    marks = marks_and_seconds()
    for first in marks:
        assert differing(reader, (f"a{first}{second}" for second in marks))[:5] == []


def test_what_characters_become_fits_the_table_of_the_kernel() -> None:
    becomes = [len(more) // 4 for *_, more in map(character, range(sys.maxunicode + 1)) if more]
    # 255 at once, and MOST_MORE of kernel/c/characters.h in all.
    assert max(becomes) < 256
    assert sum(becomes) <= 1 << 13
