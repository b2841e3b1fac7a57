"""C and Python read the same from any page, text and site."""

from __future__ import annotations

import os
import random
import sys
from itertools import islice, product
from unicodedata import category

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lxml import etree, html, objectify

from benchmarks.lib.pack import Pack, absence
from fuzz.case import Case
from fuzz.compare import FINGERPRINTERS, differences, is_covered, page_differences
from fuzz.generate import case
from scrapy_simhash.fingerprinter import KnownSite, Reading
from scrapy_simhash.page.compiled import CompiledReader
from scrapy_simhash.page.features import features
from scrapy_simhash.page.features.shingles import MIN_PROSE, with_stopword
from scrapy_simhash.page.interstitial import marked_by
from scrapy_simhash.page.language import normalize, stopwords, tokenize
from scrapy_simhash.page.structured import structured
from scrapy_simhash.page.text import extract, parse
from tests.examples import examples

#: Pages of the evaluation data sets; all with SIMHASH_ALL_PAGES=1.
SAMPLE = 200
SENTENCE = (
    "The ship that went out to the sea came home with the tide, and nobody had seen the fog or the buoy."
)


# --- Properties: any tree, any markup, any text, any site.

#: Trees, markup and texts of all kinds: see ``fuzz/generate.py``.
CASES = st.integers(0, 2**64).map(lambda seed: case(random.Random(seed)))


@settings(max_examples=examples(800))
@given(CASES)
def test_any_page_or_text_is_read_the_same(made: Case) -> None:
    assert differences(made) == []


# --- Characters.


def tokens_differ(reader: CompiledReader, texts: list[str]) -> list[str]:
    """Return the texts whose tokens differ in C."""
    root = etree.Element("html")
    expected = []
    for text in texts:
        if folded := " ".join(text.split()):
            etree.SubElement(root, "p").text = folded
            expected.append(tokenize(normalize(folded)))
    document = reader.document(root, None)
    assert document is not None
    return [
        ascii(paragraph.text)
        for paragraph, tokens in zip(document.paragraphs, expected, strict=True)
        if list(paragraph.tokens) != tokens
    ]


def is_storable(character: str) -> bool:
    """Return whether a tree may contain the character."""
    code = ord(character)
    return character in "\t\n\r" or (
        code >= 0x20 and category(character) != "Cs" and code not in (0xFFFE, 0xFFFF)
    )


@pytest.mark.parametrize(
    "planes",
    [
        pytest.param(range(0x10000), id="the first plane"),
        pytest.param(
            range(0x10000, sys.maxunicode + 1),
            marks=pytest.mark.slow("there are a million of these characters"),
            id="other planes",
        ),
    ],
)
def test_every_character_alone_and_beside_others_has_the_same_words(
    reader: CompiledReader, planes: range
) -> None:
    # All private and unassigned characters are treated in the same way: a sample is enough.
    rare = ("Co", "Cn")
    characters = (c for c in map(chr, planes) if is_storable(c))
    chosen = (c for c in characters if category(c) not in rare or ord(c) % 97 == 0)
    while texts := [f"{c} a{c} e{c}\u0301{c} {c * 3} {c}B" for c in islice(chosen, 10_000)]:
        assert tokens_differ(reader, texts) == []


# --- Tables duplicated in C: separators of titles, codes of no language, styles that hide.


def test_titles_are_split_at_the_same_characters() -> None:
    signs = [c for c in map(chr, range(0x20, 0x10000)) if category(c)[0] in "PSZ" and c not in "<&"]
    rare = random.Random(3).sample([sign for sign in signs if sign > "\u2200"], 100)
    title_keys = set()
    for sign in [*(sign for sign in signs if sign <= "\u2200"), *rare, "\uff5c", "\uff1a"]:
        page = f"<title>tide {sign} town</title><h1>harbour</h1><h2>tide</h2><p>The boat went out to the sea."
        root = parse(page)
        assert page_differences(root, None, FINGERPRINTERS[:1]) == [], ascii(sign)
        title_keys.add(extract(root).title_key)
    # Some characters are separators and some are not.
    assert len(title_keys) > 1


def test_the_same_codes_name_no_language(reader: CompiledReader) -> None:
    codes = ["".join(code) for n in (1, 2, 3) for code in product("deilmnuxz", repeat=n)]
    root = parse("<html><p>1</p></html>")
    for code in [*codes, "en-GB", " De", "x-klingon", "four", "m\u00fcl", "MUL", "en_US", "\u3000fr,de"]:
        root.set("lang", code)
        document = reader.document(root, None)
        assert document is not None
        assert document.language == extract(root).language, code


@pytest.mark.parametrize("value", ["none", "hidden", "NONE", "nonesuch", "non", "block"])
def test_the_same_styles_hide_text(value: str) -> None:
    for name, space in product(("display", "visibility"), ("", " ", "\t \n", "\u00a0", "\x0b", "/**/")):
        for style in (f"{name}{space}:{space}{value}", f"x-{name.upper()}:{space}{value};", f"{name}{value}"):
            root = parse(f'<p style="{style}">The sea</p>')
            assert page_differences(root, None, FINGERPRINTERS[:1]) == [], style


# --- The unique text of a page of a known site.


class DrawnSite:
    """A site model in which a share of all text blocks, in percent, is boilerplate, and another share may be."""

    def __init__(self, of_site: int, doubtful: int, is_known: bool = True) -> None:
        self._is_known = is_known
        self._shares = of_site, of_site + doubtful

    def flags(self, keys: bytes) -> bytes | None:
        if not self._is_known:
            return None
        drawn = [int.from_bytes(keys[at : at + 8], "little") // 2 % 100 for at in range(0, len(keys), 8)]
        flags = bytes(1 if n < self._shares[0] else 2 if n < self._shares[1] else 0 for n in drawn)
        return flags if any(flags) else b""


SITES = st.builds(
    DrawnSite, st.sampled_from([0, 20, 60, 95, 100]), st.sampled_from([0, 0, 5, 40])
) | st.builds(DrawnSite, st.just(50), st.just(0), st.just(False))
#: All fingerprinters except those with the classic rule, which does not use unique text.
WAYS = [way for way in FINGERPRINTERS if way.rule.compares_sketches]


def whole(reading: Reading) -> tuple[object, ...]:
    """Return all fields of a reading, because fingerprints compare by value only."""
    found = reading.fingerprint
    if found is None:
        return (None, reading.page_hash, reading.pieces)
    return (found.value, found.features, found.sketch, found.own, reading.page_hash, reading.pieces)


def read_both_ways(
    root: etree._Element, site: KnownSite, header: str | None = None, ways: int = 2
) -> list[Reading]:
    """Read the page in C with the first *ways* fingerprinters, check that Python has the same readings, and return
    them.
    """
    readings = []
    for way in WAYS[:ways]:
        compiled = way.read(root, content_language=header, site=site)
        document = extract(root, header)
        pure = marked_by(document, way.read_document(document, site, structured(root)), root)
        assert whole(compiled) == whole(pure)
        readings.append(compiled)
    return readings


@settings(max_examples=examples(300))
@given(CASES, SITES)
def test_the_unique_text_of_any_page_is_computed_the_same(made: Case, site: DrawnSite) -> None:
    root = None if made.kind == "text" else made.root()
    # Entities are not read.
    assume(root is not None and not any(isinstance(node, etree._Entity) for node in root.iter()))
    assert root is not None
    read_both_ways(root, site, made.language, ways=len(WAYS))


def test_the_data_of_a_page_of_few_words_are_read_the_same() -> None:
    read_both_ways(parse('4:9:1<script>w.l={t"c f b.r/s'), DrawnSite(0, 0), ways=len(WAYS))


def test_flags_of_the_wrong_length_are_refused() -> None:
    class Wrong(DrawnSite):
        def flags(self, keys: bytes) -> bytes | None:
            return b"\1"

    root = parse(f"<p>{SENTENCE * 20}")
    with pytest.raises(ValueError, match=r"flags\(\) must return a byte for each piece"):
        WAYS[0].read(root, site=Wrong(0, 0))
    with pytest.raises(ValueError, match="shorter"):
        WAYS[0].read_document(extract(root), Wrong(0, 0))


# --- Single cases, some found by the fuzzer.

MARKUP = [
    "",
    "<!-- only -->",
    "<!DOCTYPE html>",
    "text and no tag",
    "<html hidden><body class=hide><p>A page that hides itself.",
    # titles
    "<title> | </title><h1>a</h1>",
    "<title>a | b: c\u00a0\u2014 d</title><h1>c</h1><h2>d</h2><p>x",
    "<title>1. 2. x</title><h1>1.</h1><h2>2 x</h2>",
    "<body><title>strayed<b>not this</b></title><p>x",
    "<title>a<!-- b -->c</title>",
    f"<title>{' | ' * 50}</title><h1>{SENTENCE}</h1>",
    "<title>\uff5c\uff1a\u00bb</title><h3>\uff5c</h3>",
    # headings
    "<h1>b a</h1><h1>a b</h1><h2>c</h2><title>a b c</title>",
    "<h1><a href=/>Home of all</a></h1><h2>Own</h2><h2>Own</h2><p>x",
    "<hr><h>x</h><h10>y</h10><h1>z</h1>",
    # links and rows
    "<p><a href=/>a</a><p><a href=/>b</a><p><a href=/>c</a><p>" + SENTENCE,
    f"<p>{SENTENCE}<p><a>one</a><p>{SENTENCE}<p><a>one</a><p><a>two</a><p><a>three</a><p>{SENTENCE}",
    "<a>a<a>b<p>c</p>d</a>e</a>f",
    # product blocks
    "<h1>Rope</h1><p>12 \u20ac<p>USD 3<p>100\u5143<p>100\u5143\u65e6<p>\u0663 \u20ac<p>5 kr<p>5 Ft<p>5 lei",
    f"<h2>Rope</h2><div>$1<p>{SENTENCE * 30}<p>$2",
    "<p>12 \u20ac<p>12 \u20ac<p>!<h1>!</h1>",
    # hidden text
    "<p style='DISPLAY\t:\nNONE'>a<p style='xdisplay:nonesuch'>b<p style='display :none'>c<p id=hidden>d",
    "<title>Mill|bell</title>Of a mill<h2>Mill</h2><p hidden>bell",
    "<p>Wait<template><script src=/chl_page></script></template>",
    "<div class='a\u3000HIDE'>x</div><div class='\u212aidden'>y</div><div class=sr-only>z</div>",
    "<div class='siteHeader'>x</div><div class='header-files'>y</div><div id='a-b-c-nav'>z</div>",
    "<div role=Main>x</div><div role=main>y</div><div role='main '>z</div><p itemprop=articleBody>q",
    # language
    "<html lang=mul><meta http-equiv=CONTENT-LANGUAGE content='fr, en'><p>x",
    "<html lang='\u3000DE-at'><p>x",
    "<html lang=deutsch xml:lang=de><p>x",
    "<head><meta http-equiv=Content-Language><meta http-equiv=Content-Language content=de></head><p>x",
    # characters
    "<p>a\u0316\u0301 \u037a\u0650 \u1fb3\u0316 \u00ad\u0301 \u200d",
    "<p>&#1;&#127;&#128;&#159;&#xfdd0;&#x10ffff;&#xd800;&#0;",
    # ends of blocks
    "<b>a</b><b></b><b>b</b><i> </i><i>c</i><!-- --><b>d</b><script></script><b>e</b>",
    "<p>a<br>b<br><br>c<hr>d<wbr>e",
    "<p> \u00a0 <b> </b> <p>\u200b<p>\u00ad\u2060<p>_<p>-",
    "<table><caption>a</caption><tr><th>b<td>c<td><p>d</table>",
    f"<p>\n{' ' * 40}a\n{' ' * 9}<b>{' ' * 17}b</b>",
    # signs in rows
    f"<h1>Air</h1><dl><dt>Air<dd>-4 A+ b<dt>Rating<dd>A+ or - b<dt>Low<dd>\u22123 a-b</dl><p>{SENTENCE}",
    # captions of linked pictures after an article
    f"<article>{f'<p>{SENTENCE} {SENTENCE}</p>' * 9}"
    + "".join(
        f"<li><a href=/{n}><img></a><p>The quay of the town in fog, from the mill of {n}" for n in range(4)
    ),
]
XML = [
    "<p>Wait<input><input type='password'/></input></p>",
    '<!DOCTYPE html [<!ATTLIST html lang CDATA "fr">]><html><p>a default that only get() knows</p></html>',
    '<h m="">x<h id="" id="promo">an attribute that is there twice</h></h>',
    "<!DOCTYPE p [<!ENTITY e 'x'>]><p title='&e;' class='&e;nav'>a&e;b<b>&e;</b></p>",
    "<!DOCTYPE p [<!ENTITY e 'x'>]><div><title>a&e;b</title><script>&e;</script>c</div>",
    "<p>a<![CDATA[b]]>c<![CDATA[]]><b/><b>d</b></p>",
    "<x:html xmlns:x='http://www.w3.org/1999/xhtml'><x:p x:class='nav' class='nav'>a</x:p></x:html>",
    "<html xmlns='urn:any'><head><meta http-equiv='content-language' content='fr'/></head><p>a</p></html>",
    "<html xmlns:xi='http://www.w3.org/2001/XInclude'><p>a<xi:include href='none.xml'/>b</p></html>",
    "<!-- beside the root --><?pi?><p>x</p><!-- after --><?pi?>",
]


@pytest.mark.parametrize("page", MARKUP)
def test_unusual_markup_is_read_the_same(page: str) -> None:
    root = parse(page)
    assert page_differences(root) == []
    assert is_covered(root)


@pytest.mark.parametrize("page", XML)
@pytest.mark.parametrize("resolves", [True, False], ids=["resolved", "entities left"])
def test_unusual_xml_is_read_the_same(page: str, resolves: bool) -> None:
    root = etree.fromstring(page, etree.XMLParser(recover=True, resolve_entities=resolves, strip_cdata=False))
    assert page_differences(root, "de") == []


@pytest.mark.parametrize("count", [1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200])
def test_limits_are_the_same(count: int) -> None:
    numbers = range(count)
    words = " ".join(f"word{number}" for number in numbers)
    by_length = " ".join("x\u00e9\u8fd1"[number % 3] * number for number in numbers)
    for page in (
        f"<h1>{words}</h1>",
        f"<title>{' | '.join(f'{number}x' for number in numbers)}</title><h1>Ship</h1>",
        f"<h1>Ship</h1>{''.join(f'<p>Room{number}: {number}</p>' for number in numbers)}",
        f"<h1>Ship</h1><p class=meta>{words}</p><p>Room: {words}</p><p>{words}: 7</p>",
        f"<h1>Ship</h1><p>Room 7</p><p>{SENTENCE * count}</p><p>Room 8</p><p>Room: 9</p>",
        f"<h1>Ship</h1><p>{by_length}",
    ):
        for url in ("", f"https://e.example/{words.replace(' ', '-')}/{words.replace(' ', '/')}"):
            root = parse(f"{page}<p>{SENTENCE}</p>")
            assert page_differences(root, "en", FINGERPRINTERS[:1], url) == []


@pytest.mark.parametrize("found", [MIN_PROSE - 1, MIN_PROSE, MIN_PROSE + 1])
@pytest.mark.parametrize("more", ["", "<p itemprop=name>Ship</p><p itemprop=price>20 €</p>"])
def test_shingles_without_a_stopword_are_left_out_of_the_same_pages(found: int, more: str) -> None:
    # Every word is next to one stopword, except at the end.
    words = " ".join(f"the ship{number}" for number in range(found // 2 + found % 2))
    text = f"{words} the" if found % 2 == 0 else words
    root = parse(f"<html lang=en><main><p>{text}</p><p>red green blue grey</p>{more}</main>")
    tokens = text.split()
    assert len(set(with_stopword(tokens, 2, stopwords("en")))) == found
    assert page_differences(root, "en", FINGERPRINTERS[:1]) == []
    if not more:
        weights = features(extract(root), min_shingles=1)
        assert ("red green" in weights) is (found < MIN_PROSE)


class Named(etree.ElementBase):
    """A custom element class."""


def test_elements_of_other_classes_and_roots_inside_a_tree_are_read_the_same() -> None:
    parser = etree.HTMLParser()
    parser.set_element_class_lookup(etree.ElementDefaultClassLookup(element=Named))
    body = f"<title>T</title><h1>H</h1><p>{SENTENCE}</p>tail"
    xml = f"<html><head><title>T</title></head><body><h1>1</h1><p>{SENTENCE}</p></body></html>"
    own = etree.fromstring(body, parser)
    part = own.find(".//p")
    assert part is not None
    for root in (own, html.fromstring(body), objectify.fromstring(xml), part):
        assert page_differences(root) == []
    part.getparent().remove(part)  # type: ignore[union-attr]
    assert page_differences(part) == []


# --- Whole sites.


@pytest.mark.slow("it reads pages of the evaluation data both ways")
def test_labelled_real_pages_are_read_the_same() -> None:
    packs = Pack.locate_all()
    if not packs:
        pytest.skip(absence())
    ids = sorted((pack.name, id) for pack in packs for id in pack.docs)
    number = len(ids) if os.environ.get("SIMHASH_ALL_PAGES") else SAMPLE
    chosen = set(random.Random(64).sample(ids, min(number, len(ids))))
    for pack in packs:
        for doc, body in pack.html():
            if (pack.name, doc.id) in chosen:
                root = parse(body)
                assert is_covered(root), doc.id
                # One to three settings, depending on the page.
                assert page_differences(root, None, FINGERPRINTERS[: 1 + len(body) % 4]) == [], doc.id
