"""What is a pattern in Python and code in C: compared for every character that either could tell from others."""

from __future__ import annotations

import re
import sys
from itertools import product
from string import ascii_lowercase
from unicodedata import category

import pytest

from scrapy_simhash.page.compiled import CompiledReader
from scrapy_simhash.page.language.detect import CHARACTERS
from scrapy_simhash.page.text import extract, parse
from scrapy_simhash.page.text.columns import CURRENCIES, has_price


def differing(reader: CompiledReader, pages: list[str]) -> list[str]:
    roots = [(page, parse(page)) for page in pages]
    return [page for page, root in roots if reader.document(root, None) != extract(root)]


OTHER_FORMS = [
    pytest.param(form, marks=pytest.mark.slow("each reads a thousand pages both ways"))
    for form in ("tide{} town", "tide{}town", "tide {}{} town", "{} tide")
]


@pytest.mark.parametrize("form", ["tide {} town", *OTHER_FORMS])
def test_titles_are_parted_by_the_same_characters(reader: CompiledReader, form: str) -> None:
    signs = [
        chr(code)
        for code in range(0x20, 0x10000)
        if category(chr(code))[0] in "PSZ" and chr(code) not in "<&"
    ]
    body = "<h1>harbour</h1><h2>tide</h2><p>The boat went out to the sea.</p>"
    pages = [f"<title>{form.replace('{}', sign)}</title>{body}" for sign in signs]
    assert differing(reader, pages) == []
    # Some do part and some do not, so that equal is not always the same.
    assert len({extract(parse(page)).subject for page in pages}) > 1


def test_scripts_begin_and_end_at_the_same_characters(reader: CompiledReader) -> None:
    text = "".join(map(chr, range(sys.maxunicode + 1)))
    edges = {
        code
        for pattern in CHARACTERS.values()
        for run in re.finditer(f"(?:{pattern.pattern})+", text)
        for code in (run.start() - 1, run.start(), run.end() - 1, run.end())
    }
    assert len(edges) > 20
    pages = [f"<p>word {chr(code) * 3} word {chr(code) * 2}</p>" for code in sorted(edges)]
    assert differing(reader, pages) == []


@pytest.mark.parametrize("form", ["{} 12", "12{}", "x12 {}", "{}{} 12"])
def test_every_currency_makes_a_price(reader: CompiledReader, form: str) -> None:
    texts = [form.replace("{}", currency) for currency in CURRENCIES]
    assert differing(reader, [f"<h1>x</h1><p>{text}</p><p>{text[:-1]}</p>" for text in texts]) == []
    # Some of them are prices, so that equal is not always the same.
    assert any(map(has_price, texts))


@pytest.mark.parametrize(
    "letters",
    [
        pytest.param("deilmnuxz", id="of codes without a language"),
        pytest.param(ascii_lowercase, id="all", marks=pytest.mark.slow("there are 18,000 codes")),
    ],
)
def test_the_same_codes_name_no_language(reader: CompiledReader, letters: str) -> None:
    codes = ["".join(code) for n in (1, 2, 3) for code in product(letters, repeat=n)]
    root = parse("<html><p>1</p></html>")
    found = []
    for code in [*codes, "en-GB", " De", "x-klingon", "four", "m\u00fcl", "MUL", "en_US", "\u3000fr,de"]:
        root.set("lang", code)
        document = reader.document(root, None)
        assert document is not None
        if document.language != extract(root).language:
            found.append(code)
    assert found == []


@pytest.mark.parametrize("name", ["display", "visibility"])
@pytest.mark.parametrize("value", ["none", "hidden", "NONE", "Hidden", "nonesuch", "non", "block"])
@pytest.mark.parametrize("space", ["", " ", "\t \n", "\u00a0", "\x0b", "/**/"])
def test_the_same_styles_hide(reader: CompiledReader, name: str, value: str, space: str) -> None:
    styles = [f"{name}{space}:{space}{value}", f"x-{name.upper()}:{space}{value};", f"{name}{space}{value}"]
    assert differing(reader, [f'<p style="{style}">The sea</p>' for style in styles]) == []
