from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from magazine.page import Page

from scrapy_simhash.judge.hints import is_listing
from scrapy_simhash.judge.hints.page_kind import CAPTION, MAX_NODES, MIN_ENTRIES, MIN_HEADINGS, TEASER
from scrapy_simhash.page.text import parse
from tests.judge.hints.pages import PROSE, cards, lines, page


def listing(main: str, head: str = "") -> bool:
    return is_listing(parse(page(main, head)))


GALLERY = "".join(f'<a href="/photo/{n}"><img src="{n}.jpg"></a>' for n in range(MIN_ENTRIES))
TABLE = "".join(
    f'<tr><td><a href="/f{n}">f{n}()</a></td><td>Return {n}.</td></tr>' for n in range(MIN_ENTRIES)
)
WHOLE = "".join(
    f'<a href="/{n}"><div><img></div><h3>Lantern {n}</h3><p>£{n}.00</p></a>' for n in range(MIN_ENTRIES)
)


@pytest.mark.parametrize(
    "main",
    [
        f"<h1>Boats</h1>{lines(MIN_ENTRIES)}",
        f"<h1>Boats</h1>{lines(40)}",
        f"<h1>Boats</h1>{PROSE}{lines(40)}",
        # cards: a heading each, and a teaser
        f"<h1>Boats</h1>{cards(range(10))}",
        f"<h1>Boats</h1>{cards(range(MIN_HEADINGS))}",
        # links around whole cards
        WHOLE,
        f"<table>{TABLE}</table>",
        f"<h1>Photographs</h1>{GALLERY}",
        # elements that only their names call chrome hold most of what is there
        f'<div class="widget">{lines(40)}</div><p>Fog.</p>',
        # what a page says of itself
        f'<div itemscope itemtype="https://schema.org/CollectionPage">{PROSE * 20}</div>',
    ],
)
def test_listings(main: str) -> None:
    assert listing(main)


@pytest.mark.parametrize(
    "main",
    [
        "",
        PROSE,
        PROSE * 20,
        # "see also", in small
        f"<h1>Ferry</h1>{PROSE * 20}{lines(12)}",
        f"<h1>Ferry</h1>{PROSE * 20}{cards(range(3), '<p>More.</p>')}",
        lines(MIN_ENTRIES - 1),
        # one address, many times
        lines(1) * 20,
        "".join(f'<h2><a href="/ferry#{n}">Part {n}</a></h2>' for n in range(MIN_HEADINGS - 1, 9)),
        # places on the same page, and what leads nowhere
        "".join(f'<li><a href="#{n}">Part {n}</a></li>' for n in range(20)),
        "".join(f'<li><a href="JavaScript:open({n})">Part {n}</a></li>' for n in range(20)),
        # links inside sentences
        "".join(
            f'<p>The ferry went <a href="/{n}">out</a> in the fog and came home at noon.</p>'
            for n in range(20)
        ),
        # sidebars and hidden things
        f'{PROSE * 4}<div class="sidebar">{lines(40)}</div>'.replace("number ", ""),
        f"{PROSE}<div hidden>{lines(40)}</div>",
        f'{PROSE}<div role="navigation">{lines(40)}</div>',
        f"{GALLERY}{PROSE * (1 + MIN_ENTRIES * CAPTION // 100)}",
    ],
)
def test_other_pages(main: str) -> None:
    assert not listing(main)


def test_a_header_inside_the_main_text_is_part_of_it_and_that_of_the_page_is_not() -> None:
    headings = "".join(f'<h2><a href="/{n}">Story {n}</a></h2>' for n in range(9))
    assert is_listing(parse(f"<main><header>{headings}</header></main>"))
    assert not is_listing(parse(f"<header>{headings}</header><main>{PROSE}</main>"))


def test_a_teaser_is_short() -> None:
    teaser, story = "<p>" + "x" * (TEASER - 10) + "</p>", "<p>" + "x" * (TEASER + 1) + "</p>"
    assert listing(cards(range(9), teaser))
    assert not listing(cards(range(9), story))


def test_of_a_page_of_very_many_nodes_the_first_tell() -> None:
    entries = lines(MAX_NODES)
    assert is_listing(parse(entries + PROSE * 20_000))
    assert not is_listing(parse(PROSE * 20_000 + "<br>" * MAX_NODES + entries))
    assert not is_listing(parse(PROSE * 20_000 + "<!-- -->" * MAX_NODES + entries))
    # What is passed over is not read either.
    assert is_listing(parse(f"<nav>{'<br>' * MAX_NODES}</nav>{lines(MIN_ENTRIES)}"))


def test_an_element_may_be_a_page_of_its_own() -> None:
    root = parse(f"<div id=a>{lines(9)}</div><div id=b>{PROSE}</div>")
    first, second = root.xpath("//div")
    assert is_listing(first)
    assert not is_listing(second)


def test_xhtml_that_an_xml_parser_has_read() -> None:
    assert is_listing(
        etree.fromstring(f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{lines(9)}</body></html>')
    )


#: Kinds of the example site that are listings, however few entries they have.
LISTINGS = {"front", "listing", "partner-front", "tag"}
STORIES = {
    "article",
    "compact",
    "corrected",
    "first-draft",
    "new-headline",
    "print-view",
    "second-section",
    "syndicated",
}


def test_of_the_example_site_every_listing_of_two_entries_is_found_and_no_story(pages: list[Page]) -> None:
    missed = {
        page.address.key
        for page in pages
        if page.kind in LISTINGS and not is_listing(parse(page.body()))
        if len(parse(page.body()).xpath("//main//h2/a")) >= MIN_HEADINGS
    }
    wrong = {page.address.key for page in pages if page.kind in STORIES and is_listing(parse(page.body()))}
    assert (missed, wrong) == (set(), set())
    assert sum(page.kind in LISTINGS for page in pages) > 40


PIECES = (
    *(
        "<ul>",
        "</ul>",
        "<li>",
        "<a href=/1>",
        "<a href=/2>",
        "<a>",
        "</a>",
        "<h2>",
        "</h2>",
        "<main>",
        "</main>",
    ),
    *(
        "<div class=sidebar>",
        "</div>",
        "<nav>",
        "</nav>",
        "<script>",
        "</script>",
        "<!-- -->",
        "<?pi?>",
        "words",
        " ",
    ),
)


def test_twice_the_comments_take_no_more_than_thrice_the_time() -> None:
    def seconds(comments: int) -> float:
        root = parse("<!-- -->" * comments)
        start = process_time()
        is_listing(root)
        return process_time() - start

    assert min(seconds(200_000) for _ in range(3)) < 3 * min(seconds(100_000) for _ in range(3))


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_page_has_an_answer_and_stays_as_it_is(html: str) -> None:
    root = parse(html)
    before = etree.tostring(root)
    assert is_listing(root) in (True, False)
    assert etree.tostring(root) == before
