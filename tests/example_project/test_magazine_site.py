"""The site as a crawler meets it, without the server."""

from urllib.parse import urljoin

import pytest
from lxml import html
from magazine.editions import OTHER_ENCODING
from magazine.other_pages import MISSING
from magazine.page import MAIN_HOST, PARTNER_HOST, Address, Page
from magazine.site import build_site, find
from magazine.truth import Truth
from scrapy.http import HtmlResponse

Site = dict[Address, Page]


def url(address: Address) -> str:
    return f"http://{address.host}:8000{address.target}"


def response(page: Page, visit: int = 0) -> HtmlResponse:
    """Decode the page as Scrapy would."""
    return HtmlResponse(url(page.address), headers=page.headers, body=page.body(visit))


def visible_text(page: Page, visit: int = 0) -> str:
    tree = html.document_fromstring(response(page, visit).text)
    for unseen in tree.xpath("//script | //style"):
        unseen.drop_tree()
    return " ".join(tree.text_content().split())


def links(page: Page, *tags: str) -> set[Address]:
    tree = html.document_fromstring(response(page).text)
    found = (
        urljoin(url(page.address), link) for element, _, link, _ in tree.iterlinks() if element.tag in tags
    )
    return {Address.of(link) for link in found}


def html_pages(site: Site) -> list[Page]:
    return [page for page in site.values() if page.is_html and page.status == 200]


def test_building_twice_gives_equal_bytes(site: Site) -> None:
    again = build_site()
    assert list(again) == list(site)
    assert all(again[address].body() == page.body() for address, page in site.items())


def test_every_link_leads_to_a_page_or_to_the_one_intended_404(site: Site) -> None:
    broken = set()
    for page in html_pages(site):
        for address in links(page, "a", "link", "frame", "img"):
            if address not in site or site[address].status == 404:
                broken.add(address.target)
    assert broken == {MISSING}


def test_every_page_is_in_the_truth_and_the_truth_names_no_other(site: Site, truth: Truth) -> None:
    assert {address.key for address in site} == set(truth.pages)


def test_the_main_text_of_every_page_is_on_the_page_in_its_order(site: Site) -> None:
    for page in site.values():
        if page.is_html and page.main_text:
            text, place = visible_text(page), 0
            for line in page.main_text.splitlines():
                place = text.find(" ".join(line.split()), place)
                assert place >= 0, (page.address.key, line)


def test_two_fetches_of_a_story_differ_but_not_in_the_main_text(site: Site) -> None:
    for page in site.values():
        if page.story:
            first, second = visible_text(page, 0), visible_text(page, 1)
            assert first != second, page.address.key
            for line in page.main_text.splitlines():
                assert line in first
                assert line in second


def test_pages_of_the_old_site_declare_their_charset_in_the_markup_only(site: Site) -> None:
    old = [page for page in site.values() if page.kind == "other-encoding"]
    assert {page.encoding for page in old} == set(OTHER_ENCODING.values())
    for page in old:
        assert "charset" not in page.headers["Content-Type"]
        with pytest.raises(UnicodeDecodeError):
            page.body().decode("utf-8")


@pytest.mark.parametrize(
    ("address", "kind", "status"),
    [
        (Address(MAIN_HOST, "/archive/never-heard-of-it"), "soft-404", 200),
        (Address(MAIN_HOST, "/nowhere"), "not-found", 404),
        (Address(PARTNER_HOST, "/archive/1998"), "not-found", 404),  # the partner's archive is honest
    ],
)
def test_an_unknown_address_gets_the_answer_for_strangers(
    site: Site, address: Address, kind: str, status: int
) -> None:
    page = find(site, address)
    assert (page.kind, page.status) == (kind, status)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("http://127.0.0.1:4711/boats?page=2#top", Address(MAIN_HOST, "/boats?page=2")),
        ("http://localhost:4711", Address(PARTNER_HOST, "/")),
        ("partner:/about", Address(PARTNER_HOST, "/about")),
        ("/about", Address(MAIN_HOST, "/about")),
    ],
)
def test_an_address_is_read_from_a_url_or_from_a_key(text: str, address: Address) -> None:
    assert Address.of(text) == address
