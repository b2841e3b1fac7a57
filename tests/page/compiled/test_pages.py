"""Pages through the kernel: document, fingerprint, sketch and text hash must be those of pure Python."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree, html, objectify
from magazine.page import Page

from benchmarks.lib.pack import Doc, Pack, absence
from fuzz.compare import FINGERPRINTERS, is_covered, page_differences
from scrapy_simhash import PageFingerprinter
from scrapy_simhash.page.text import extract, parse
from tests.examples import examples
from tests.page.compiled.strategies import HEADERS, PAGES_OF_PROSE, markup, trees

#: Of the evaluation pack; all of them with SIMHASH_ALL_PAGES=1.
SAMPLE = 400
SENTENCE = (
    "The ship that went out to the sea came home with the tide, and nobody had seen the fog or the buoy."
)


# --- Properties: any tree, any markup.


@settings(max_examples=examples(380))
@given(trees() | markup().map(parse) | PAGES_OF_PROSE, HEADERS)
def test_any_tree_or_markup_is_read_alike(root: etree._Element, header: str | None) -> None:
    assert page_differences(root, header) == []


NAME_WORDS = st.sampled_from(
    (
        "sidebar nav Footer widget menu item left title layout main content story has no by k3NAV 9zAd 2"
        " header site top AD é hidden"
    ).split()
)
NAMES = st.lists(
    st.tuples(NAME_WORDS, st.sampled_from(["-", "--", "_", "__", "___", "", " ", "---", "."])),
    min_size=1,
    max_size=5,
).map(lambda parts: "".join(word + mark for word, mark in parts))


@settings(max_examples=examples(200))
@given(st.lists(NAMES, min_size=1, max_size=12))
def test_class_names_are_read_alike(names: list[str]) -> None:
    boxes = "".join(
        f'<div class="{name}"><p>{number} {SENTENCE}</p></div>' for number, name in enumerate(names)
    )
    assert page_differences(parse(f"<main><h1>Ship</h1>{boxes}</main>"), None, FINGERPRINTERS[:2]) == []


@settings(max_examples=examples(60))
@given(trees(), HEADERS, st.data())
def test_any_part_of_a_tree_is_read_alike(
    root: etree._Element, header: str | None, data: st.DataObject
) -> None:
    elements = [element for element in root.iter() if isinstance(element.tag, str)]
    assert page_differences(data.draw(st.sampled_from(elements)), header, FINGERPRINTERS[:2]) == []


@settings(max_examples=examples(100))
@given(
    markup(),
    st.sampled_from(["", "xmlns='http://www.w3.org/1999/xhtml'", "xml:lang='de'", "lang='fr'"]),
    st.booleans(),
)
def test_any_markup_that_an_xml_parser_repairs_is_read_alike(
    page: str, attributes: str, resolves: bool
) -> None:
    declarations = "<!DOCTYPE html [<!ENTITY eacute 'y<b>z</b>'><!ENTITY x '&eacute;'>]>"
    parser = etree.XMLParser(recover=True, resolve_entities=resolves, strip_cdata=False)
    body = f"{declarations}<html {attributes}>{page}<![CDATA[ <b> ]]>&x;</html>"
    root: etree._Element | None = etree.fromstring(body.encode(), parser)
    if root is not None:
        assert page_differences(root) == []


# --- The cases that were found by thinking, or by the fuzzer.


@pytest.mark.parametrize(
    "page",
    [
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
        # offers
        "<h1>Rope</h1><p>12 \u20ac<p>USD 3<p>100\u5143<p>100\u5143\u65e6<p>\u0663 \u20ac<p>5 kr<p>5 Ft<p>5 lei",
        f"<h2>Rope</h2><div>$1<p>{SENTENCE * 30}<p>$2",
        "<p>12 \u20ac<p>12 \u20ac<p>!<h1>!</h1>",
        # hidden, or not
        "<p style='DISPLAY\t:\nNONE'>a<p style='xdisplay:nonesuch'>b<p style='display :none'>c<p id=hidden>d",
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
        # where blocks end
        "<b>a</b><b></b><b>b</b><i> </i><i>c</i><!-- --><b>d</b><script></script><b>e</b>",
        "<p>a<br>b<br><br>c<hr>d<wbr>e",
        "<p> \u00a0 <b> </b> <p>\u200b<p>\u00ad\u2060<p>_<p>-",
        "<table><caption>a</caption><tr><th>b<td>c<td><p>d</table>",
    ],
)
def test_a_page_is_read_alike(page: str) -> None:
    root = parse(page)
    assert page_differences(root) == []
    assert is_covered(root)


@pytest.mark.parametrize(
    "page",
    [
        '<!DOCTYPE html [<!ATTLIST html lang CDATA "fr">]><html><p>a default that only get() knows</p></html>',
        '<h m="">x<h id="" id="promo">an attribute that is there twice</h></h>',
        "<!DOCTYPE p [<!ENTITY e 'x'>]><p title='&e;' class='&e;nav'>a&e;b<b>&e;</b></p>",
        "<!DOCTYPE p [<!ENTITY e 'x'>]><div><title>a&e;b</title><script>&e;</script>c</div>",
        "<p>a<![CDATA[b]]>c<![CDATA[]]><b/><b>d</b></p>",
        "<x:html xmlns:x='http://www.w3.org/1999/xhtml'><x:p x:class='nav' class='nav'>a</x:p></x:html>",
        "<html xmlns='urn:any'><head><meta http-equiv='content-language' content='fr'/></head><p>a</p></html>",
        "<html xmlns:xi='http://www.w3.org/2001/XInclude'><p>a<xi:include href='none.xml'/>b</p></html>",
        "<!-- beside the root --><?pi?><p>x</p><!-- after --><?pi?>",
    ],
)
@pytest.mark.parametrize("resolves", [True, False], ids=["resolved", "entities left"])
def test_an_xml_page_is_read_alike(page: str, resolves: bool) -> None:
    root = etree.fromstring(page, etree.XMLParser(recover=True, resolve_entities=resolves, strip_cdata=False))
    assert page_differences(root) == []
    assert page_differences(root, "de") == []


def test_a_page_in_which_xinclude_left_its_marks_is_read_alike() -> None:
    space = "http://www.w3.org/2001/XInclude"
    root = etree.fromstring(
        f"<p xmlns:xi='{space}'>a<xi:include href='none'><xi:fallback>b</xi:fallback></xi:include>c</p>"
    )
    root.getroottree().xinclude()
    assert page_differences(root) == []


@pytest.mark.parametrize("letter", ["x", "\u00e9", "\u8fd1"])
@pytest.mark.parametrize("title", ["", "!", "a title", "words" * 8])
def test_words_of_every_length_are_hashed_alike(letter: str, title: str) -> None:
    words = " ".join(letter * length for length in range(1, 41))
    for text in (words, " ".join(words.split()[::-1]), f"{words} " * 20):
        assert page_differences(parse(f"<title>{title}</title><p>{text}<p>{SENTENCE}")) == []


# --- Roots: any element, wherever it hangs.


@pytest.mark.parametrize("tag", ["html", "p", "a", "b", "br", "script", "title", "svg", "h1", "x-y"])
@pytest.mark.parametrize("attributes", [{}, {"hidden": ""}, {"class": "nav hide"}, {"lang": "fr"}], ids=str)
def test_any_element_can_be_the_root(tag: str, attributes: dict[str, str]) -> None:
    root = etree.Element(tag, attributes)
    assert page_differences(root) == []
    root.text, root.tail = "inside", "outside"
    etree.SubElement(root, "b").tail = "after"
    assert page_differences(root) == []


def test_what_stands_beside_a_root_is_not_read() -> None:
    tree = parse(f"<div><p>{SENTENCE}</p>tail<p>next</p></div>")
    part = tree.find(".//p")
    assert part is not None
    assert page_differences(part) == []
    assert "tail" not in repr(PageFingerprinter().extract(part))


def test_an_element_taken_out_of_its_tree_and_one_moved_to_another() -> None:
    first, second = parse(f"<div><p>{SENTENCE}</p>tail</div>"), parse("<main><h1>Other</h1></main>")
    taken, goal = first.find(".//p"), second.find(".//main")
    assert taken is not None
    assert goal is not None
    taken.getparent().remove(taken)  # type: ignore[union-attr]
    assert page_differences(taken) == []
    goal.append(taken)
    del first
    assert page_differences(second) == []
    assert page_differences(taken) == []


class Named(etree.ElementBase):
    """An element with a class of its own, as callers may have them."""


def test_elements_of_other_classes_are_read_alike() -> None:
    look_up = etree.ElementDefaultClassLookup(element=Named)
    parser = etree.HTMLParser()
    parser.set_element_class_lookup(look_up)
    body = f"<title>T</title><h1>H</h1><p>{SENTENCE}"
    own = etree.fromstring(body, parser)
    assert isinstance(own, Named)
    assert page_differences(own) == []
    assert page_differences(html.fromstring(body)) == []
    xml = f"<html><head><title>T</title></head><body><h1>1</h1><p>{SENTENCE}</p></body></html>"
    assert page_differences(objectify.fromstring(xml)) == []


def test_a_tree_as_html5lib_builds_it_is_read_alike() -> None:
    space = "{http://www.w3.org/1999/xhtml}"
    root = etree.Element(f"{space}html", {"lang": "en"}, nsmap={"html": space[1:-1]})
    head = etree.SubElement(root, f"{space}head")
    etree.SubElement(head, f"{space}title").text = "The tide | Harbour"
    body = etree.SubElement(root, f"{space}body")
    body.append(etree.Comment("comment"))
    etree.SubElement(body, f"{space}h1").text = "The tide"
    etree.SubElement(body, f"{space}p").text = SENTENCE
    etree.SubElement(
        etree.SubElement(body, "{http://www.w3.org/2000/svg}svg"), "{http://www.w3.org/2000/svg}title"
    )
    assert page_differences(root) == []
    assert PageFingerprinter().extract(root).subject == ("the", "tide")


def test_only_what_the_kernel_does_not_know_is_left_to_pure_python() -> None:
    entity = etree.fromstring("<p>a&e;b</p>", etree.XMLParser(resolve_entities=False, recover=True))
    assert not is_covered(entity)
    assert is_covered(parse(f"<html lang=de><title>T</title><p class=nav>{SENTENCE}<!-- --><?x?>"))


# --- Pages that were not made up.


def test_every_page_of_the_example_site_is_read_alike(pages: list[Page]) -> None:
    wrong = {}
    for number, page in enumerate(pages):
        root = parse(page.body(), page.content_type)
        assert is_covered(root)
        if lines := page_differences(root, None, FINGERPRINTERS[number % 5 :][:2]):
            wrong[page.address.key] = lines
    assert wrong == {}


@pytest.fixture(scope="module")
def labelled() -> Iterator[tuple[Doc, bytes]]:
    packs = Pack.locate_all()
    if not packs:
        pytest.skip(absence())
    pages = ((pack.name, doc, body) for pack in packs for doc, body in pack.html())
    if os.environ.get("SIMHASH_ALL_PAGES"):
        return ((doc, body) for _, doc, body in pages)
    ids = sorted((pack.name, id) for pack in packs for id in pack.docs)
    chosen = set(random.Random(64).sample(ids, min(SAMPLE, len(ids))))
    return ((doc, body) for name, doc, body in pages if (name, doc.id) in chosen)


@pytest.mark.slow("it reads 400 pages of the evaluation packs both ways")
def test_labelled_real_pages_are_read_alike(labelled: Iterator[tuple[Doc, bytes]]) -> None:
    wrong = []
    for doc, body in labelled:
        root = parse(body)
        # One with each setting in turn would hide nothing, and take as long.
        if page_differences(root, None, FINGERPRINTERS[: 1 + len(body) % 4]) or not is_covered(root):
            wrong.append(doc.id)
    assert wrong == []


def test_settings_do_not_change_the_document() -> None:
    root = parse(f"<p>{SENTENCE}")
    assert {repr(way.extract(root)) for way in FINGERPRINTERS} == {repr(extract(root))}
