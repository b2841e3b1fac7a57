"""The stopword lists as files: format, size and coverage of prose."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scrapy_simhash.page.language import normalize, stopwords, tokenize

FOLDER = Path(__file__).parents[3] / "scrapy_simhash" / "page" / "language" / "stopwords"
CODES = sorted(path.stem for path in FOLDER.glob("*.txt"))


def coverage(code: str, text: str) -> float:
    tokens = [token for token in tokenize(normalize(text)) if not token.isdigit()]
    return sum(token in stopwords(code) for token in tokens) / len(tokens)


def samples() -> list[tuple[str, str, str]]:
    """Return the lines of samples.txt: a code, the minimum coverage or a dash, and text."""
    lines = Path(__file__).with_name("samples.txt").read_text("utf-8").splitlines()
    return [
        (code, least, text) for code, least, text in (line.split(" ", 2) for line in lines) if code != "#"
    ]


PROSE = [(code, float(least), text) for code, least, text in samples() if least != "-"]


@pytest.mark.parametrize("code", CODES)
def test_a_list_has_the_format_that_the_package_reads(code: str) -> None:
    raw = (FOLDER / f"{code}.txt").read_bytes()
    assert not raw.startswith(b"\xef\xbb\xbf")
    assert b"\r" not in raw
    assert raw.endswith(b"\n")
    assert not raw.endswith(b"\n\n")
    lines = raw.decode().splitlines()
    comments = [line.startswith("#") for line in lines]
    assert comments[:2] == [True, True], "the first line names the language"
    assert comments == sorted(comments, reverse=True)
    assert lines[0].removeprefix("# ").isalpha()
    words = [line for line in lines if not line.startswith("#")]
    assert words == sorted(set(words))
    assert [word for word in words if tokenize(normalize(word)) != [word] or re.search(r"\d", word)] == []
    assert 80 <= len(words) <= 250, "a long list must not win by its size"


@pytest.mark.parametrize(("code", "least", "text"), PROSE)
def test_a_stopword_list_covers_its_language_more_than_any_other(code: str, least: float, text: str) -> None:
    others = {other: coverage(other, text) for other in CODES if other != code}
    assert coverage(code, text) >= least
    assert max(others.values()) < coverage(code, text), max(others, key=others.__getitem__)
