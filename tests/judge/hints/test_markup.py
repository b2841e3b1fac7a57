"""Hints in markup."""

from __future__ import annotations

import pytest
from lxml import etree

from scrapy_simhash import PageFingerprinter
from scrapy_simhash.judge.hints import Hints, read_hints
from scrapy_simhash.judge.hints.markup import (
    MAX_BASES,
    MAX_IN_BODY,
    MAX_IN_HEAD,
    MAX_LINKS,
    MAX_STEPS,
    links_in_head,
    steps_in_body,
)
from scrapy_simhash.judge.hints.urls import MAX_ADDRESS
from scrapy_simhash.page.compiled import compiled_reader
from scrapy_simhash.page.text import parse

URL = "https://example.com/boats/ferry?x=1"


def hints_of(head: str) -> Hints:
    root = parse(f"<html><head>{head}</head><body><p>Fog.</body></html>")
    assert_the_kernel_finds_the_same_links(root)
    return read_hints(root, URL)


@pytest.mark.parametrize(
    ("head", "canonical"),
    [
        ('<link rel="canonical" href="https://example.com/ferry">', "https://example.com/ferry"),
        ("<link href=' /ferry#top ' rel='Shortlink CANONICAL'>", "https://example.com/ferry"),
        # quoted as in a request
        ('<link rel="canonical" href="/bücher/a b">', "https://example.com/b%C3%BCcher/a%20b"),
        ('<base href="/old/"><link rel="canonical" href="pilot">', "https://example.com/old/pilot"),
        # a base applies to links before it too; only the first base counts
        (
            '<link rel="canonical" href="pilot"><base href="/old/"><base href="/new/">',
            "https://example.com/old/pilot",
        ),
        # the same hint twice
        (
            '<link rel="canonical" href="/a"><link rel="canonical" href="http://www.example.com/a/">',
            "https://example.com/a",
        ),
        (
            '<link rel="canonical" href="mailto:a@example.com"><link rel="canonical" href="/a">',
            "https://example.com/a",
        ),
        # a head that the parser closes too early
        ('<p>Fog.</p><link rel="canonical" href="/a">', "https://example.com/a"),
        # missing or invalid
        ("", None),
        ('<link rel="canonical" href="http://[broken/">', None),
        ('<link rel="canonical" href="/a"><link rel="canonical" href="/b">', None),
        ('<link rel="canonical-ish" href="/a">', None),
        # not counted inside the text
        ('<body><div><link rel="canonical" href="/a"></div>', None),
    ],
)
def test_the_canonical_address(head: str, canonical: str | None) -> None:
    assert hints_of(head).canonical == canonical


def test_translations_with_their_languages() -> None:
    hints = hints_of(
        '<link rel="alternate" hreflang="en-GB" href="/uk/"><link rel=alternate hreflang=" DE " href="de">'
        '<link rel="alternate" hreflang="x-default" href="https://example.com/">'
        # a feed, a mobile version, an invalid URL, no language
        '<link rel="alternate" hreflang="en" type="application/rss+xml" href="/feed">'
        '<link rel="alternate" media="handheld" href="/m/"><link rel="alternate" hreflang="fr" href="tel:1">'
    )
    assert hints.alternates == (
        ("en-gb", "https://example.com/uk/"),
        ("de", "https://example.com/boats/de"),
        ("x-default", "https://example.com/"),
    )
    assert hints.canonical is None


@pytest.mark.parametrize(
    ("link", "may"),
    [
        ('<a rel="Next" href="/2">', True),
        ('<a rel="nofollow" href="/next">', False),
    ],
)
def test_the_kernel_finds_pages_that_may_link_to_a_next_page(link: str, may: bool) -> None:
    root = parse(f"<div><p>The sea<b>and</b></p>{link}</div><p>The ship")
    reader = compiled_reader()
    assert reader is None or reader.may_name_steps(root) is may
    assert list(steps_in_body(root, URL)) == (["https://example.com/2"] if may else [])


def test_a_page_with_very_long_structured_data_is_read_up_to_the_limit() -> None:
    assert (
        len(hints_of('<link rel="alternate" hreflang="de" href="/de">' * 2 * MAX_LINKS).alternates)
        == MAX_LINKS
    )
    root = parse('<a rel="next" href="/2">' * 2 * MAX_LINKS)
    assert len(list(steps_in_body(root, URL))) == MAX_STEPS
    after = parse("<a href=/1>" * MAX_IN_BODY + '<a rel="next" href="/2">')
    assert not list(steps_in_body(after, URL))
    assert hints_of(f'<link rel="canonical" href="/{"x" * MAX_ADDRESS}">').canonical is None


def test_a_head_with_very_many_links_is_read_up_to_the_limit() -> None:
    many = '<link rel="canonical">' * (MAX_IN_HEAD - 1)
    last = '<link rel="canonical" href="/a">'
    assert hints_of(f"{many}{last}").canonical == "https://example.com/a"
    assert hints_of(f"{many}<link>{last}").canonical is None
    bases = "<base href=mailto:ann>" * (MAX_BASES - 1)
    assert hints_of(f"{bases}<base href=/b/>").base == "https://example.com/b/"
    assert hints_of(f"{bases}<base href=mailto:ann><base href=/b/>").base == URL


@pytest.mark.parametrize(
    "markup",
    [
        # XHTML, and an element outside of the HTML namespace
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><link rel="a" href="b"/></head></html>',
        # default values from a DTD, and entities
        '<!DOCTYPE html [<!ENTITY e "f"><!ATTLIST link rel CDATA "canonical">]>'
        '<html><head><link href="a&e;"/></head></html>',
        # in hidden elements
        '<html><head hidden="hidden"><link rel="canonical" href="a"/></head></html>',
    ],
)
def test_the_kernel_finds_the_same_links_in_xml(markup: str) -> None:
    for resolves in (True, False):
        parser = etree.XMLParser(resolve_entities=resolves)
        assert_the_kernel_finds_the_same_links(etree.fromstring(markup, parser))


def assert_the_kernel_finds_the_same_links(root: etree._Element) -> None:
    reader = compiled_reader()
    if reader is None:
        return
    links = list(links_in_head(root))
    canonical = [link for link in links if link[0] is None or "canonical" in link[0].lower()]
    # For None, Python reads the tree.
    assert reader.links_in_head(root, None, MAX_IN_HEAD) in (None, links)
    assert reader.links_in_head(root, b"canonical", MAX_IN_HEAD) in (None, canonical)
    if not PageFingerprinter().read(root).may_name_canonical:
        assert all(rel is None for rel, *_ in canonical)
