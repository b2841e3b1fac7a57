"""What the table of mechanisms names is there."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.docs.reader import DOCS, PACKAGE, ROOT

PAGE = DOCS / "concepts" / "mechanisms.rst"
ROW = re.compile(r"^    \* - (.+)\n      - (.+)\n      - (.+)$", re.MULTILINE)
ROWS = [row for row in ROW.findall(PAGE.read_text("utf-8")) if row[0] != "mechanism"]
DOCUMENTS = {"digest", "article", "Java class", "slides", "simhash-cpp", "all", "all but the Java class"}


@cache
def known() -> set[str]:
    """Return all words of the sources, and the names of the files."""
    files = [*PACKAGE.rglob("*.py"), *(ROOT / "benchmarks" / "methods").glob("*.py")]
    texts = [path.read_text("utf-8") for path in files]
    return {path.name for path in files}.union(*(re.findall(r"[\w-]+", text) for text in texts))


def names(cell: str) -> set[str]:
    """Return what a cell names: of a command its verb, of a call what is called, of a setting its field."""
    found = set()
    for literal in re.findall(r"``(.+?)``", cell):
        name = re.split(r"[(=]", literal.removeprefix("scrapy-simhash ").strip('"'))[0]
        if name.startswith("SIMHASH_"):
            name = name.removeprefix("SIMHASH_").lower()
        found |= {name} if name.endswith(".py") else set(name.split("."))
    return found


def test_every_row_names_a_document() -> None:
    assert len(ROWS) > 45
    assert {name for _, documents, _ in ROWS for name in documents.split(", ")} <= DOCUMENTS


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_a_row_names_is_there(row: tuple[str, str, str]) -> None:
    assert names(row[2]) - known() == set()
