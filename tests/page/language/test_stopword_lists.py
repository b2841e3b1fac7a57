"""The stopword lists as files: format, size and coverage of prose.

Read the files and split words without using the package.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "scrapy_simhash" / "page" / "language" / "stopwords"
CODES = sorted(path.stem for path in FOLDER.glob("*.txt"))


def lines_of(code: str) -> list[str]:
    return (FOLDER / f"{code}.txt").read_text("utf-8").splitlines()


def words_of(code: str) -> list[str]:
    return [line for line in lines_of(code) if not line.startswith("#")]


def folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def tokens_of(text: str) -> list[str]:
    """Split *text* into runs of letters, marks and digits, without invisible characters."""
    shown = (char for char in folded(text) if unicodedata.category(char) != "Cf")
    runs = "".join(char if unicodedata.category(char)[0] in "LMN" else " " for char in shown).split()
    return [run for run in runs if not run.isdigit()]


def coverage(code: str, text: str) -> float:
    words, tokens = set(words_of(code)), tokens_of(text)
    return sum(token in words for token in tokens) / len(tokens)


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
    comments = [line.startswith("#") for line in lines_of(code)]
    assert comments[:2] == [True, True], "the first line names the language"
    assert comments == sorted(comments, reverse=True)
    assert lines_of(code)[0].removeprefix("# ").isalpha()
    words = words_of(code)
    assert words == sorted(set(words))
    assert [word for word in words if folded(word) != word or tokens_of(word) != [word]] == []
    assert [word for word in words if any(unicodedata.category(c)[0] == "N" for c in word)] == []
    assert 80 <= len(words) <= 250, "a long list must not win by its size"


@pytest.mark.parametrize(("code", "least", "text"), PROSE)
def test_a_stopword_list_covers_its_language_more_than_any_other(code: str, least: float, text: str) -> None:
    others = {other: coverage(other, text) for other in CODES if other != code}
    assert coverage(code, text) >= least
    assert max(others.values()) < coverage(code, text), max(others, key=others.__getitem__)
