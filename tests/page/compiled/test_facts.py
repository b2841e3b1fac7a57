"""What a page states beside its sentences: the kernel finds what pure Python finds, whatever the URL."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lxml import etree
from magazine.page import Page

from fuzz.compare import FINGERPRINTERS, page_differences
from scrapy_simhash import PageFingerprinter
from scrapy_simhash.page.fingerprint import FACTS_AT
from scrapy_simhash.page.fingerprint.facts import NONE
from scrapy_simhash.page.text import parse
from tests.examples import examples
from tests.page.compiled.strategies import HEADERS, PAGES_OF_PROSE, URLS, markup, stating_pages, trees

#: By the others nothing is different in the facts.
WAYS = FINGERPRINTERS[:2]
SENTENCE = (
    "The ship that went out to the sea came home with the tide, and nobody had seen the fog or the buoy."
)


def facts_of(html: str, url: str = "") -> bytes:
    fingerprint = PageFingerprinter().read(html, url=url).fingerprint
    return fingerprint.sketch[FACTS_AT:] if fingerprint is not None else NONE


@settings(max_examples=examples(400))
@given(stating_pages())
def test_a_page_that_states_something_is_read_alike(page: tuple[str, str]) -> None:
    html, url = page
    assert page_differences(parse(html), None, WAYS, url) == []


@settings(max_examples=examples(200))
@given(trees() | markup().map(parse) | PAGES_OF_PROSE, HEADERS, URLS)
def test_any_tree_or_markup_at_any_url_is_read_alike(
    root: etree._Element, header: str | None, url: str
) -> None:
    assert page_differences(root, header, WAYS, url) == []


@settings(max_examples=examples(400))
@given(URLS | st.text(max_size=40))
@example("https://lamp.example/night-pilots-12345/")
@example("https://ann:secret@www.lamp.example:8080/night/pilots")
@example("https://lamp.example/night\ud800pilots/12345")
@example("https://lamp\udc80.example/night-pilots")
@example("https://Straße.example/nacht-pilots-é")
@example("https://İ.example/")
@example("https://lamp.example?night-pilots")
@example("https://lamp.example/a/16/pilots//")
@example("://www.")
@example("https:///night-pilots")
def test_any_url_is_read_alike(url: str) -> None:
    root = parse(
        f"<html lang=en><title>Night pilots 16 | Lamp | Straße</title><h1>Night pilots é</h1><p>Room 12345, 7</p>"
        f"<p>{SENTENCE}</p><dl><dt>Town<dd>Kiel 98765</dl>"
    )
    assert page_differences(root, None, WAYS[:1], url) == []


@pytest.mark.parametrize("count", [1, 15, 16, 17, 29, 31, 32, 33, 63, 64, 65, 200])
def test_limits_are_the_same(count: int) -> None:
    numbers = range(count)
    words = " ".join(f"word{number}" for number in numbers)
    for html in (
        f"<h1>{words}</h1>",
        f"<title>{words}</title><h1>Ship</h1>",
        f"<title>{' | '.join(f'{number}x' for number in numbers)}</title><h1>Ship</h1>",
        f"<title>Ship</title><h1>Ship</h1>{''.join(f'<p>Room {number}</p>' for number in numbers)}",
        f"<h1>Ship</h1>{''.join(f'<p>Room{number}: {number}</p>' for number in numbers)}",
        f"<h1>Ship</h1><p class=meta>{words}</p><p>Room: {words}</p><p>{words}: 7</p>",
        f"<h1>Ship</h1><h2>{words}</h2>",
        f"<h1>Ship</h1><p>Room 7</p><p>{SENTENCE * count}</p><p>Room 8</p><p>Room: 9</p>",
    ):
        for url in ("", f"https://e.example/{words.replace(' ', '-')}/{words.replace(' ', '/')}"):
            assert page_differences(parse(f"{html}<p>{SENTENCE}</p>"), "en", WAYS[:1], url) == []


def test_pages_of_the_example_site_have_the_facts_that_pure_python_finds(pages: list[Page]) -> None:
    stated = set()
    for page in pages[::5]:
        html, url = page.body(), f"https://www.magazine.example:8080/{page.address.key}"
        assert page_differences(parse(html, page.content_type), None, WAYS[:1], url) == []
        stated.add(facts_of(html.decode("utf-8", "replace"), url))
    assert len(stated) > 20


def test_pages_drawn_here_have_facts() -> None:
    seen: set[int] = set()

    @settings(max_examples=200, database=None)
    @given(stating_pages())
    def look(page: tuple[str, str]) -> None:
        facts = facts_of(*page)
        if len(facts) > 1:
            words = 2 + 3 * facts[1]
            seen.update(facts[at] & 15 for at in range(4, words, 3))
            seen.update({16} if len(facts) > words + 1 else ())

    look()
    # Nine kinds of words at least, and rows.
    assert len(seen) >= 10
    assert 16 in seen
