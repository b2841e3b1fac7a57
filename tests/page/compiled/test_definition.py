"""What the kernel is told is what the pure modules say, under the names and the numbers of the C code."""

from __future__ import annotations

import random
import re
import sys
from itertools import product
from pathlib import Path
from string import ascii_lowercase
from types import SimpleNamespace
from unicodedata import category

import pytest

import scrapy_simhash
from scrapy_simhash import kernel
from scrapy_simhash.page.compiled import CompiledReader
from scrapy_simhash.page.compiled import definition as told
from scrapy_simhash.page.language import stopwords
from scrapy_simhash.page.language.detect import CHARACTERS
from scrapy_simhash.page.text import extract, main_text, parse, tags
from scrapy_simhash.page.text.columns import CURRENCIES, DATE, has_price

needs_the_kernel = pytest.mark.skipif(kernel.native is None, reason=f"pure Python runs: {kernel.REASON}")

HEADERS = Path(scrapy_simhash.__file__).parent / "kernel" / "c"


@pytest.fixture(scope="module")
def page_h() -> str:
    return (HEADERS / "page.h").read_text("utf-8")


def numbers(enumeration: str) -> dict[str, int]:
    """Return the members of a C enumeration without, or with only, values."""
    members: dict[str, int] = {}
    for member in re.sub(r"/\*.*?\*/", "", enumeration, flags=re.DOTALL).split(","):
        name, _, value = member.partition("=")
        if name.strip():
            members[name.strip()] = _value(value) if value else len(members)
    return members


def _value(written: str) -> int:
    left, _, right = written.partition("<<")
    return int(left) << int(right or 0)


def enumeration(header: str, first: str) -> dict[str, int]:
    (found,) = re.findall(rf"enum {{\s*({first}\b.*?)}};", header, flags=re.DOTALL)
    return numbers(found)


def test_bits_of_tags_are_those_of_the_header(page_h: str) -> None:
    bits = enumeration(page_h, "TAG_REGION_BITS")
    assert bits.pop("TAG_REGION_BITS") == 7 >= max(tags.Region)
    names = {"TAG_SPEAKS_FOR_ITSELF": "_SPEAKS"}
    for name, bit in bits.items():
        assert getattr(told, names.get(name, name.removeprefix("TAG"))) == bit, name


def test_bits_of_names_are_those_of_the_header(page_h: str) -> None:
    bits = enumeration(page_h, "NAME_CHROME")
    assert bits == {
        "NAME_CHROME": told._CHROME,
        "NAME_HEADER": told._HEADER,
        "NAME_NEUTRAL": told._NEUTRAL,
        "NAME_HIDDEN": told._HIDING,
        "NAME_PART": told._PART,
        "NAME_NEGATING": told._NEGATING,
        "NAME_TOOL": told._TOOL,
        "NAME_CONTENT": told._CONTENT,
        "NAME_TEST": told._TEST,
    }


def test_zones_and_regions_are_in_the_order_of_the_header(page_h: str) -> None:
    assert tuple(enumeration(page_h, "ZONE_HEADING")) == tuple(f"ZONE_{zone.upper()}" for zone in told.ZONES)
    assert enumeration(page_h, "REGION_PLAIN") == {f"REGION_{region.name}": region for region in tags.Region}


def test_every_word_of_the_vocabularies_is_told() -> None:
    rules = told.definition()
    for known, bit in (
        (tags.UNSEEN, told._UNSEEN),
        (tags.INLINE, told._INLINE),
        (tags.HEADINGS, told._HEADING),
        (tags.SPEAKS_FOR_ITSELF, told._SPEAKS),
        (tags.PARAGRAPHS, told._PARAGRAPH),
        (tags.CELLS, told._CELL),
    ):
        assert {tag for tag, bits in rules.tags.items() if bits & bit} == known
    for tag, region in tags.TAG_REGION.items():
        assert rules.tags[tag] & 7 == region
    for number, code in enumerate(told.LANGUAGES):
        assert {word for word, bits in rules.stopwords.items() if bits >> number & 1} == stopwords(code)


def test_the_kernel_knows_what_is_kept(page_h: str) -> None:
    assert enumeration(page_h, "KEPT") == {"KEPT": main_text.KEPT}
    numbers = [getattr(main_text, (reason or "kept").upper()) for reason in main_text.REASONS]
    assert numbers == [*range(len(main_text.REASONS))]
    assert told.definition().unnamed_reasons == 1 << main_text.CHROME | 1 << main_text.LINKS


def test_no_name_is_longer_than_the_kernel_looks() -> None:
    rules = told.definition()
    source = (HEADERS / "regions.c").read_text("utf-8")
    (longest,) = re.findall(r"LONGEST_NAME = (\d+)", source)
    assert max(map(len, rules.names)) <= int(longest)
    assert all(name.isascii() and name == name.lower() for name in rules.names)


def test_every_process_has_seeds_of_its_own() -> None:
    assert told.definition().seeds != told.definition().seeds
    assert told.definition().seeds[1] % 2 == 1


def too_many(name: str) -> SimpleNamespace:
    rules = told.definition()
    # More by far than there is room for: what was written would reach beyond the structure.
    setattr(rules, name, list(getattr(rules, name)) * 1_000)
    return rules


@needs_the_kernel
@pytest.mark.parametrize("name", ["sentence_marks", "currencies"])
def test_more_rules_than_the_kernel_has_room_for_are_refused(name: str) -> None:
    assert kernel.native is not None
    with pytest.raises(ValueError, match=f"room for .+ {name}, got"):
        kernel.native.Rules(too_many(name))


@needs_the_kernel
def test_scripts_must_be_those_the_kernel_knows() -> None:
    assert kernel.native is not None
    with pytest.raises(ValueError, match="the kernel knows 7 scripts, got 7000"):
        kernel.native.Rules(too_many("scripts"))


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


def test_a_price_is_found_wherever_its_currency_stands(reader: CompiledReader) -> None:
    dice = random.Random(20)
    parts = [*CURRENCIES, *5 * "1 ", *2 * "2 .,'\u2019x\u0663", "le", "U", "SD"]
    texts = ["".join(dice.choices(parts, k=dice.randint(2, 6))) for _ in range(1_000)]
    assert differing(reader, [f"<h1>x</h1><p>{text}</p>" for text in texts]) == []
    assert 100 < sum(map(has_price, texts)) < 900


def test_a_date_is_found_wherever_it_stands(reader: CompiledReader) -> None:
    dice = random.Random(21)
    parts = ["19", "20", "7", "35", ":", " ", "x", "\u0661", "\u5e74"]
    texts = ["".join(dice.choices(parts, k=dice.randint(1, 6))) for _ in range(1_000)]
    article = (
        "<p>The keeper said that it was not the lamp but the wind, and all of us were glad to hear it." * 5
    )
    entry = "<div>x {}<p>And so was I, since it was my lamp.</div>"
    assert differing(reader, [f"<body>{article}{entry.format(text) * 2}" for text in texts]) == []
    assert 100 < sum(DATE.search(text) is not None for text in texts) < 900


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
