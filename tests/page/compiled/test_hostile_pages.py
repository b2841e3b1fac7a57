"""Pages that nobody would write for a reader: they are read, alike, and in reasonable time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from lxml import etree

from fuzz.compare import FINGERPRINTERS, page_differences
from scrapy_simhash import PageFingerprinter
from scrapy_simhash.page.text import parse


def deep(tag: str, levels: int) -> etree._Element:
    """Return elements one inside the other, made in pieces: lxml needs ever longer to hang one below the last."""
    piece = 1_000
    root = leaf = etree.Element(tag)
    for _ in range(levels // piece):
        top = below = etree.Element(tag)
        for _ in range(piece - 1):
            below = etree.SubElement(below, tag)
        leaf.append(top)
        leaf = below
    leaf.text = "deep down"
    return root


def paragraphs(count: int, text: str = "x") -> etree._Element:
    root = etree.Element("html")
    for _ in range(count):
        etree.SubElement(root, "p").text = text
    return root


def headings(count: int) -> etree._Element:
    return parse("<title>a | b</title>" + "<h2>b</h2>" * count)


def different_headings(count: int) -> etree._Element:
    return parse("<title>9 8 | x</title>" + "".join(f"<h1>{i} {i * 7}</h1>" for i in range(count)))


def prices(count: int) -> etree._Element:
    return parse("<h1>x</h1>" + "<p>1 \u20ac" * count)


def with_attribute(name: str, value: str) -> etree._Element:
    root = etree.Element("html")
    etree.SubElement(root, "p", {name: value}).text = "one two three"
    return root


HOSTILE: dict[str, Callable[[], etree._Element]] = {
    "a word of ten million characters": lambda: parse("<p>" + "x" * 10_000_000),
    "a word of three million letters with accents": lambda: parse("<p>" + "\u00e9" * 3_000_000),
    "a million spaces": lambda: parse("<p>a" + " \u00a0" * 500_000 + "b"),
    "10,000 paragraphs of one letter": lambda: paragraphs(10_000),
    "100,000 empty paragraphs": lambda: paragraphs(100_000, ""),
    "10,000 headings": lambda: headings(10_000),
    "2,000 different headings": lambda: different_headings(2_000),
    "3,000 prices": lambda: prices(3_000),
    "a title of 100,000 separators": lambda: parse(
        f"<title>{'| ' * 50_000}{'a: ' * 50_000}</title><h1>a</h1>"
    ),
    "a title of 100,000 words": lambda: parse(f"<title>{'a - b ' * 50_000}</title><h1>c</h1>"),
    "a class of five megabytes": lambda: with_attribute("class", "a-b navBar " * 500_000),
    "a class of one word of five megabytes": lambda: with_attribute("class", "a" * 5_000_000),
    "an id of five megabytes": lambda: with_attribute("id", "aB-" * 1_700_000),
    "a style of five megabytes": lambda: with_attribute("style", "display " * 600_000),
    "a style with a million colons": lambda: with_attribute("style", "display" + ":" * 1_000_000),
    "a language of a megabyte": lambda: with_attribute("lang", " " * 1_000_000 + "de"),
    # The interpreter would put them in order in quadratic time.
    "half a million marks out of order": lambda: parse("<p>a" + "\u0301\u0316" * 250_000),
    "as many with joiners between": lambda: parse("<p>a" + "\u0301\u200d\u0316\u200d" * 125_000),
    "a megabyte of one mark": lambda: parse("<p>a" + "\u05b0" * 500_000),
    "20,000 characters that expand": lambda: parse("<p>" + "\ufdfa" * 20_000),
    "120,000 characters of Han": lambda: parse("<p>" + "\u8fd1\u4f3c" * 60_000),
    "a megabyte of emoji": lambda: parse("<p>" + "\U0001f469\u200d" * 150_000),
    "20,000 nested tags": lambda: deep("div", 20_000),
    "20,000 nested links": lambda: deep("a", 20_000),
    "20,000 nested headings": lambda: deep("h1", 20_000),
    "200,000 links side by side": lambda: parse("<p>" + "<a>x</a>" * 200_000),
    "50,000 comments": lambda: parse("<p>a" + "<!-- -->b" * 50_000),
    "5,000 attributes": lambda: etree.Element("p", {f"a{i}": "nav" for i in range(5_000)}),
    "5,000 different tags": lambda: parse("".join(f"<x{i}>a</x{i}>" for i in range(5_000))),
    "30,000 different words": lambda: parse("<p>" + " ".join(map(str, range(30_000)))),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_is_read_alike(name: str) -> None:
    assert page_differences(HOSTILE[name](), None, FINGERPRINTERS[:1]) == []


def test_tags_nested_as_deep_as_lxml_can_build_them_soon_are_read() -> None:
    # A million takes lxml half a minute to make.
    document = PageFingerprinter().extract(deep("div", 150_000))
    assert [paragraph.text for paragraph in document.paragraphs] == ["deep down"]


@pytest.mark.parametrize(
    "body",
    [
        b"<p>\xff\xfe\xc3( \xe2\x82 \xf0\x9f\x98 \xed\xa0\x80 \xc0\x80",
        b"<p class='\xff\xfe nav'>x<p id='\xc3'>y",
        b"<title>\xe9\xff</title><h1>\xe9\xff</h1>",
        b"<html lang='\xff'><\xff\xfe>x",
        b"\x00<\x00p\x00>\x00x",
        b"<p>\x00\x01\x02\x7f\x80\x9f",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "iso-8859-1", None])
def test_bytes_that_are_not_in_their_encoding_are_read_alike(body: bytes, encoding: str | None) -> None:
    for parser in (
        etree.HTMLParser(encoding=encoding),
        etree.XMLParser(encoding=encoding, recover=True),
    ):
        root: etree._Element | None
        try:
            root = etree.fromstring(body, parser)
        except etree.XMLSyntaxError:
            continue
        if root is not None:
            assert page_differences(root) == []


@pytest.mark.parametrize("text", ["a\x00b", "\ud800", "\x01", "\ufffe", "\uffff", "\x85"])
def test_what_lxml_lets_into_a_tree_is_read_alike(text: str) -> None:
    root = etree.Element("html")
    try:
        etree.SubElement(root, "p").text = f"one {text} two"
    except ValueError:  # lxml refuses it
        return
    assert page_differences(root) == []
