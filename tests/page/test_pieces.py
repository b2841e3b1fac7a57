from __future__ import annotations

from itertools import accumulate, chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.page.language.tokens import normalize, tokenize
from scrapy_simhash.page.pieces import LEAST_TOKENS, SHORT_TOKENS, pieces, words_number
from scrapy_simhash.page.text import Document
from scrapy_simhash.page.text.document import Paragraph

#: Long enough that a cut falls into each.
SHARED = (
    "All prices on these pages are in euros and contain the value added tax, and what we send to other countries"
    " takes two to six working days, unless the carrier tells you of a delay before the parcel leaves our store,"
    " in which case you may send it back to us within a month without giving any reason."
)
WORDS = st.sampled_from(f"{SHARED} ship harbour 12 345 tide 2026 lamp rope".lower().replace(",", "").split())


def tokens_of(text: str) -> list[str]:
    return tokenize(normalize(text))


def document(*paragraphs: str) -> Document:
    return Document(
        "",
        "en",
        (),
        tuple(Paragraph(text, tuple(tokens_of(text)), "body", "", 0.0, None) for text in paragraphs),
    )


def keys(*paragraphs: str) -> list[int]:
    return [piece.key for piece in pieces(document(*paragraphs))]


@given(st.lists(st.lists(WORDS, min_size=1, max_size=80), max_size=6))
def test_pieces_hold_all_tokens_of_the_main_text_in_order(paragraphs: list[list[str]]) -> None:
    page = document(*(" ".join(words) for words in paragraphs))
    found = pieces(page)
    assert list(chain.from_iterable(piece.tokens for piece in found)) == list(
        chain.from_iterable(part.tokens for part in page.main)
    )
    # No piece goes beyond its paragraph, and only a last one of a paragraph may be shorter than the least.
    ends = set(accumulate(len(part.tokens) for part in page.main))
    for piece, end in zip(found, accumulate(len(piece.tokens) for piece in found), strict=True):
        assert piece.tokens
        assert len(piece.tokens) >= LEAST_TOKENS or end in ends
        assert piece.key % 2 == (len(piece.tokens) < SHORT_TOKENS)


@given(st.lists(WORDS, max_size=30), st.lists(WORDS, max_size=30))
def test_a_sentence_inside_other_paragraphs_gives_the_same_pieces(
    before: list[str], after: list[str]
) -> None:
    alone = pieces(document(SHARED))
    within = {piece.key for piece in pieces(document(f"{' '.join(before)} {SHARED} {' '.join(after)}"))}
    common = sum(len(piece.tokens) for piece in alone if piece.key in within)
    # All but its ends, which have grown together with what stands there.
    assert common >= 0.5 * sum(len(piece.tokens) for piece in alone)


def test_all_numbers_are_one() -> None:
    one = "the advert was posted 12 days ago and was seen by 4511 visitors of this site since then in all"
    assert keys(one) == keys(one.replace("12", "3").replace("4511", "9"))
    assert keys(one) == keys(one.replace("12", "٣"))
    assert keys(one) != keys(one.replace("advert", "notice"))
    # A number does not end a piece: else the next piece would begin elsewhere with another number.
    for number in range(200):
        assert keys(f"seen by all of {number} visitors {SHARED}") == keys(
            f"seen by all of 1 visitors {SHARED}"
        )


def test_chinese_text_is_cut_too() -> None:
    shared = (
        "本网站所有价格均含增值税,国内订单通常在两至六个工作日内送达,"
        "如有延误我们会提前通知您,收货后一个月内可无理由退货。"
    )
    alone = pieces(document(shared))
    assert len(alone) >= 3
    within = {
        piece.key for piece in pieces(document(f"柏林招聘护士,欢迎加入我们的团队。{shared}请尽快联系我们。"))
    }
    assert sum(piece.key in within for piece in alone) >= len(alone) - 2


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("a nurse in Kiel", "in Kiel a nurse", True),
        ("a nurse in Kiel", "a cook in Kiel", False),
        ("a nurse, a nurse", "a nurse", False),
        ("seen 12 times", "seen 4511 times", True),
        # The words of a date, in any language that writes it so.
        ("on 3 May 2026 in Kiel", "on 14 June 2025 in Kiel", True),
        ("3 de mayo de 2026", "28 de junio de 1999", True),
        ("May 3, 2026", "June 13, 2025", True),
        ("01 one two three 2099", "39 four five six 1900", True),
        # No day, no year, too far apart, on the wrong side, between two years.
        ("40 May 2026", "40 June 2026", False),
        ("3 May 1899", "3 June 1899", False),
        ("3 May 2100", "3 June 2100", False),
        ("103 May 2026", "103 June 2026", False),
        ("3 May 20261", "3 June 20261", False),
        ("3 one two three four 2026", "3 one two three five 2026", False),
        ("May 3", "June 3", False),
        ("May 3, 450", "June 3, 450", False),
        ("3 May", "3 June", False),
        ("2026 May 3", "2026 June 3", False),
    ],
)
def test_pages_that_differ_in_numbers_and_dates_have_the_same_words(
    one: str, other: str, is_same: bool
) -> None:
    assert (words_number(document(one)) == words_number(document(other))) is is_same


def test_what_stands_around_the_main_text_is_among_the_words_and_navigation_is_not() -> None:
    def page(boilerplate: str, text: str) -> Document:
        around = Paragraph(text, tuple(tokens_of(text)), "body", "", 0.0, boilerplate)
        return Document("", "en", (), (*document(SHARED).paragraphs, around))

    found = {reason: words_number(page(reason, "Kiel")) for reason in ("edge", "chrome", "inset")}
    assert found["chrome"] == found["inset"] == words_number(document(SHARED)) != found["edge"]


def test_keys_and_the_number_of_words_are_stored_and_stay_what_they_are() -> None:
    first, second, *_ = pieces(document(SHARED))
    assert (first.key, second.key) == (0x58F9F9DA47DF0B77, 0xD9CC6D3264EBCFBC)
    assert words_number(document(SHARED)) == 0x56B9
