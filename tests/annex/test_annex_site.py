"""The annex as a crawler meets it, without the server."""

import json
from urllib.parse import urljoin

import pytest
from lxml import html
from magazine.page import Address, Page

from tests.annex.endless import ALMANAC, FACTS, FINDER, month_path
from tests.annex.gazette import REGIONS
from tests.annex.page import PREFIX, AnnexPage
from tests.annex.site import build_annex, find
from tests.annex.slip import BOARD
from tests.annex.stores import load_families
from tests.annex.tales import LIES

Annex = dict[Address, AnnexPage]


@pytest.fixture(scope="module")
def annex() -> Annex:
    return build_annex()


def tree(page: Page, visit: int = 0) -> html.HtmlElement:
    return html.document_fromstring(page.body(visit))


def keys(page: Page, query: str) -> list[str]:
    """Return the keys of the addresses that *query* finds in the markup."""
    base = f"http://{page.address.host}:8000{page.address.target}"
    return [Address.of(urljoin(base, found)).key for found in tree(page).xpath(query)]


def pages(annex: Annex, kind: str) -> list[AnnexPage]:
    found = [page for page in annex.values() if page.kind == kind]
    assert found
    return found


def test_building_twice_gives_equal_bytes(annex: Annex) -> None:
    again = build_annex()
    assert list(again) == list(annex)
    assert all(again[address].body() == page.body() for address, page in annex.items())


def test_the_port_only_changes_links_from_host_to_host(annex: Annex) -> None:
    other = build_annex(port=8999)
    assert all(other[a].body().replace(b":8999", b":8000") == page.body() for a, page in annex.items())


def test_the_magazine_and_the_annex_do_not_link_to_each_other(
    annex: Annex, site: dict[Address, Page]
) -> None:
    outside = [
        page for page in site.values() if page.is_html and page.body() and PREFIX.encode() in page.body()
    ]
    assert outside == []
    for page in annex.values():
        if page.body():
            assert all(Address.of(key).target.startswith(PREFIX) for key in keys(page, "//@href")), (
                page.address
            )


def test_links_are_those_that_the_page_says_it_has(annex: Annex) -> None:
    for page in annex.values():
        if page.body() and page.kind != "shell":
            assert keys(page, "//a/@href") == [PREFIX, *page.links], page.address.key
        else:
            assert page.links == ()


def test_every_link_leads_to_a_page(annex: Annex) -> None:
    known = {address.key for address in annex}
    assert {
        to for page in annex.values() for to in (*page.links, page.canonical, page.location) if to
    } <= known


def test_the_main_text_of_every_page_is_on_the_page_in_its_order(annex: Annex) -> None:
    for page in annex.values():
        if page.main_text:
            text, place = " ".join(tree(page).text_content().split()), 0
            for line in page.main_text.splitlines():
                place = text.find(line, place)
                assert place >= 0, (page.address.key, line)


def test_every_page_but_a_redirect_changes_from_fetch_to_fetch(annex: Annex) -> None:
    still = {page.kind for page in annex.values() if page.body(0) == page.body(1)}
    assert still == {"redirect"}


def test_no_slot_and_no_spelling_is_left_unfilled(annex: Annex) -> None:
    unfilled = [
        p.address.key
        for p in annex.values()
        if p.kind != "shell" and (b"{{" in p.body() or b"|" in p.main_text.encode())
    ]
    assert unfilled == []


def test_the_canonical_link_stands_in_the_head(annex: Annex) -> None:
    for page in annex.values():
        if page.body():
            assert keys(page, "//head/link[@rel='canonical']/@href") == [page.canonical] * bool(
                page.canonical
            )


def test_copies_name_the_first_with_their_text_and_liars_another(annex: Annex) -> None:
    by_key = {address.key: page for address, page in annex.items()}
    for page in pages(annex, "copy") + pages(annex, "tracking"):
        assert by_key[page.canonical].main_text == page.main_text
    assert len(pages(annex, "liar")) == len(LIES)
    for page in pages(annex, "liar"):
        assert by_key[page.canonical].main_text != page.main_text


def test_editions_name_each_other_and_themselves_and_differ_in_spelling_only(annex: Annex) -> None:
    editions = pages(annex, "edition")
    assert len(editions) == 4 * len(REGIONS)
    for page in editions:
        others = [other for other in editions if other.family == page.family]
        assert keys(page, "//link[@rel='alternate']/@href") == [other.address.key for other in others]
        codes = [other.lang for other in others]
        assert tree(page).xpath("//link[@rel='alternate']/@hreflang") == codes
        assert tree(page).get("lang") == page.lang
        words = [len(other.main_text.split()) for other in others]
        assert words == [words[0]] * len(others)
        home, american, _ = (other.main_text.split() for other in others)
        assert 2 <= sum(a != b for a, b in zip(home, american, strict=True)) <= 6


def test_variants_carry_facts_of_their_own_and_tracked_addresses_those_of_the_product(annex: Annex) -> None:
    def facts(page: AnnexPage) -> dict[str, object]:
        (script,) = tree(page).xpath("//script[@type='application/ld+json']/text()")
        document: dict[str, object] = json.loads(script)
        return document

    by_key = {address.key: page for address, page in annex.items()}
    products = pages(annex, "product")
    assert len(products) == sum(map(len, load_families()))
    assert {facts(page)["@type"] for page in products} == {"Product"}
    assert (
        len({facts(page)["sku"] for page in products})
        == len({page.main_text for page in products})
        == len(products)
    )
    for page in pages(annex, "tracking"):
        assert facts(page) == facts(by_key[page.canonical])


def test_the_board_is_a_chain_of_pages_each_with_cards_of_its_own(annex: Annex) -> None:
    path, seen, cards = BOARD, list[str](), list[str]()
    while path:
        page = annex[Address.of(path)]
        previous, following = (keys(page, f"//head/link[@rel='{rel}']/@href") for rel in ("prev", "next"))
        assert previous == seen[-1:]
        cards += [link for link in page.links if link not in previous + following]
        seen.append(path)
        path = "".join(following)
    assert len(seen) == 6
    assert len(cards) == len(set(cards)) == 18


def test_a_card_has_its_fields_in_the_markup(annex: Annex) -> None:
    for page in [*pages(annex, "card"), *pages(annex, "repost"), *pages(annex, "digest")]:
        for query in (
            "//*[@class='price']",
            "//*[@class='body']",
            "//h2" if page.kind == "digest" else "//h1",
        ):
            assert len(tree(page).xpath(query)) >= len(page.items) >= 1


@pytest.mark.parametrize(
    ("target", "kind", "status"),
    [
        ("/annex/cellar/never-bound", "soft-404", 200),
        ("/annex/cellar/1811/appendix?page=2", "soft-404", 200),
        ("/annex/reading-room/never-written", "not-found", 404),
        ("/annex/nowhere", "not-found", 404),
        ("/annex/almanac/214/13", "not-found", 404),
        ("/annex/finder?it-is=<b>", "not-found", 404),
        ("partner:/annex/cellar/1811", "not-found", 404),
        ("partner:/annex/almanac", "not-found", 404),
    ],
)
def test_an_unknown_address_gets_the_answer_for_strangers(
    annex: Annex, target: str, kind: str, status: int
) -> None:
    page = find(annex, Address.of(target))
    assert (page.kind, page.status) == (kind, status)


@pytest.mark.parametrize("name", ["{{ad%20xx}}", "%3Cscript%3Ealert(1)%3C/script%3E", "%00", "{wanted}"])
def test_the_cellar_repeats_nothing_that_could_do_harm(annex: Annex, name: str) -> None:
    body = find(annex, Address.of(f"/annex/cellar/{name}")).body()
    assert b"<script" not in body
    assert b"{" not in body
    assert b"\0" not in body


def test_three_redirects_lead_to_a_page_that_nothing_else_leads_to(annex: Annex) -> None:
    path, statuses = "/annex/old/1", []
    while annex[Address.of(path)].location:
        statuses.append(annex[Address.of(path)].status)
        path = annex[Address.of(path)].location
    assert statuses == [301, 302, 308]
    assert [page.address.key for page in annex.values() if path in page.links] == []


@pytest.mark.parametrize("entry", [ALMANAC, FINDER])
def test_no_page_with_an_end_leads_to_an_endless_part(annex: Annex, entry: str) -> None:
    assert not [page.address.key for page in annex.values() if any(to.startswith(entry) for to in page.links)]


@pytest.mark.parametrize(("year", "month"), [(214, 5), (214, 12), (1, 1), (0, 1), (-40, 6), (10**9, 12)])
def test_every_month_is_followed_by_one_that_it_follows(annex: Annex, year: int, month: int) -> None:
    page = find(annex, Address.of(month_path(year, month)))
    before, after = (find(annex, Address.of(key)) for key in page.links)
    assert page.kind == before.kind == after.kind == "month"
    assert before.links[1] == after.links[0] == page.address.key
    assert before.main_text != page.main_text


def test_the_finder_always_takes_one_more_fact(annex: Annex) -> None:
    page = find(annex, Address.of(FINDER))
    for number in range(1, 60):
        assert len(set(page.links)) == len(FACTS)
        page = find(annex, Address.of(page.links[number % len(FACTS)]))
        assert page.address.target.count("it-is=") == number
    assert page.kind == "finder"


@pytest.mark.parametrize("entry", [ALMANAC, FINDER])
def test_an_endless_part_leads_to_nothing_but_itself(annex: Annex, entry: str) -> None:
    page = find(annex, Address.of(entry))
    for _ in range(5):
        found = keys(page, "//a/@href")
        assert all(to.startswith(entry) for to in found)
        page = find(annex, Address.of(found[-1]))
