from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from magazine.page import Page
from scrapy.http import HtmlResponse

from scrapy_simhash.page.text import Html, parse


def text_of(html: Html, content_type: str | None = None) -> str:
    return "".join(parse(html, content_type).itertext())


def canonical(root: etree._Element) -> bytes:
    return etree.tostring(root, method="c14n", with_comments=True)


def test_the_tree_of_every_recording_is_the_tree_the_spider_gets(pages: list[Page]) -> None:
    differing = []
    for page in pages:
        response = HtmlResponse("http://127.0.0.1/", headers=page.headers, body=page.body())
        expected = canonical(response.selector.root)
        trees = (parse(page.body(), page.content_type), parse(response.text))
        if any(canonical(tree) != expected for tree in trees):
            differing.append(page.address.key)
    assert differing == []


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("<p>crème".encode(), None, "crème"),  # nothing declared
        ("<p>crème".encode("cp1252"), None, "crème"),
        ("<p>“crème” – 5 €".encode("cp1252"), None, "“crème” – 5 €"),
        ("<p>crème".encode(), "text/html; charset=utf-8", "crème"),
        ("<p>crème".encode("latin-1"), "text/html; charset=ISO-8859-1", "crème"),
        ("<p>“crème”".encode("cp1252"), "text/html; charset=latin1", "“crème”"),  # as browsers take it
        ("<p>crème".encode("utf-16"), None, "crème"),  # it begins with a byte order mark
        (b"\xef\xbb\xbf" + "<p>crème".encode(), "text/html; charset=latin1", "crème"),  # a mark outranks
        ("<p>crème".encode(), "text/html; charset=martian", "crème"),
        ("<p>crème".encode(), "text/html", "crème"),
        ("<meta charset=gb2312><p>近似网页".encode("gb2312"), None, "近似网页"),
        ("<meta charset=gb2312><p>網頁".encode("gbk"), None, "網頁"),  # GBK called by its forerunner's name
        ("<meta charset=Shift_JIS><p>近似ページ".encode("shift_jis"), None, "近似ページ"),
        ("<meta charset=koi8-r><p>море".encode("koi8-r"), "text/html", "море"),
        (
            "<meta http-equiv=Content-Type content='text/html; charset=big5'><p>網頁".encode("big5"),
            None,
            "網頁",
        ),
        ("<meta charset=gb2312><p>近似".encode(), "text/html; charset=utf-8", "近似"),  # the header outranks
        (b"<meta charset=utf-8><p>cr\xe8me", None, "cr\ufffdme"),  # declared, and not true
    ],
)
def test_bytes_are_decoded_by_what_they_declare(body: bytes, content_type: str | None, text: str) -> None:
    assert text_of(body, content_type) == text


@pytest.mark.parametrize(
    "html",
    ["", " \n\t", "\x00", "<!-- nothing -->", "<!DOCTYPE html>", b"", b" ", b"\xef\xbb\xbf", "<?php ?>"],
)
def test_a_page_without_an_element_is_an_empty_html(html: Html) -> None:
    root = parse(html)
    assert root.tag == "html"
    assert "".join(root.itertext(etree.Element)) == ""


def test_text_without_tags_is_a_page_too() -> None:
    root = parse("just words")
    assert (root.tag, text_of(root)) == ("html", "just words")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a\x00b", "ab"),
        ("<p>a\ud800b", "a?b"),  # a lone surrogate has no UTF-8 form
        ("<p>fish & chips", "fish & chips"),
        ("<p>&eacute;&#233;&#xe9;", "ééé"),
        ("<p>one<p>two", "onetwo"),
        ("<b><i>crossed</b></i>", "crossed"),
        ("</div></p>stray", "stray"),
    ],
)
def test_bad_markup_keeps_its_text(html: str, text: str) -> None:
    assert text_of(html) == text


def test_a_paragraph_of_twelve_megabytes_is_kept_whole() -> None:
    # Ten is where the parser stops unless it is told to go on.
    assert len(text_of("<p>" + "abcde " * 2_000_000 + "</p><p>end</p>")) == 12_000_003


def test_an_element_is_returned_as_it_is() -> None:
    root = parse("<p>a</p><div><p>b</p></div>")
    for element in root.iter():
        assert parse(element) is element


@pytest.mark.parametrize(
    "thing",
    [
        None,
        7,
        bytearray(b"<p>"),
        ["<p>"],
        HtmlResponse("http://127.0.0.1/"),
        etree.ElementTree(etree.Element("html")),
        etree.Comment("no page"),
        etree.ProcessingInstruction("no", "page"),
    ],
)
def test_what_is_no_page_is_refused_by_name(thing: Any) -> None:
    with pytest.raises(
        TypeError, match=rf"html must be str, bytes or an lxml element, got {type(thing).__name__}"
    ):
        parse(thing)


@given(st.lists(st.sampled_from("<>/!-?&;#x= \"'abp\x00\x01\ud800é\n") | st.characters()).map("".join))
def test_no_text_makes_it_fail(html: str) -> None:
    assert isinstance(parse(html).tag, str)


@given(st.binary() | st.text("<>!pé&;", max_size=20).map(lambda text: text.encode("utf-16")))
def test_no_bytes_make_it_fail(html: bytes) -> None:
    assert isinstance(parse(html).tag, str)
    assert isinstance(parse(html, "text/html; charset=utf-8").tag, str)
