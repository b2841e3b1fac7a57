from __future__ import annotations

from itertools import accumulate, chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.page.pieces import MIN_TOKENS, SHORT_TOKENS, pieces, words_number
from scrapy_simhash.page.text import Document, plain_text

#: Long enough to be split into several pieces.
SHARED = (
    "All prices on these pages are in euros and contain the value added tax, and what we send to other countries"
    " takes two to six working days, unless the carrier tells you of a delay before the parcel leaves our store,"
    " in which case you may send it back to us within a month without giving any reason."
)
WORDS = st.sampled_from(f"{SHARED} ship harbour 12 345 tide 2026 lamp rope".lower().replace(",", "").split())


def document(*paragraphs: str) -> Document:
    return plain_text("\n\n".join(paragraphs), "en")


@given(st.lists(st.lists(WORDS, min_size=1, max_size=80), max_size=6))
def test_pieces_contain_all_tokens_of_the_main_text_in_order(paragraphs: list[list[str]]) -> None:
    page = document(*(" ".join(words) for words in paragraphs))
    found = pieces(page)
    assert list(chain.from_iterable(piece.tokens for piece in found)) == list(
        chain.from_iterable(part.tokens for part in page.main)
    )
    # Pieces do not cross paragraphs; only the last one of a paragraph may be shorter than the minimum.
    ends = set(accumulate(len(part.tokens) for part in page.main))
    for piece, end in zip(found, accumulate(len(piece.tokens) for piece in found), strict=True):
        assert piece.tokens
        assert len(piece.tokens) >= MIN_TOKENS or end in ends
        assert piece.key % 2 == (len(piece.tokens) < SHORT_TOKENS)


@given(st.lists(WORDS, max_size=30), st.lists(WORDS, max_size=30))
def test_a_sentence_has_the_same_pieces_in_any_paragraph(before: list[str], after: list[str]) -> None:
    alone = pieces(document(SHARED))
    within = {piece.key for piece in pieces(document(f"{' '.join(before)} {SHARED} {' '.join(after)}"))}
    common = sum(len(piece.tokens) for piece in alone if piece.key in within)
    # All except the first and last piece, which include neighbouring text.
    assert common >= 0.5 * sum(len(piece.tokens) for piece in alone)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("a nurse in Kiel", "in Kiel a nurse", True),
        ("seen 12 times", "seen 4511 times", True),
        # The words of a date, in any language with this date format.
        ("on 3 May 2026 in Kiel", "on 14 June 2025 in Kiel", True),
        ("May 3, 2026", "June 13, 2025", True),
        # No day, no year, too far apart, in the wrong order, between two years.
        ("40 May 2026", "40 June 2026", False),
    ],
)
def test_pages_that_differ_in_numbers_and_dates_have_the_same_words(
    one: str, other: str, is_same: bool
) -> None:
    assert (words_number(document(one)) == words_number(document(other))) is is_same


def test_stored_keys_and_word_counts_do_not_change() -> None:
    first, second, *_ = pieces(document(SHARED))
    assert (first.key, second.key) == (0x58F9F9DA47DF0B77, 0xD9CC6D3264EBCFBC)
    assert words_number(document(SHARED)) == 0x56B9
