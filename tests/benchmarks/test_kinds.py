"""The generated kinds of pages, and the figures of a crawl of two of them."""

from __future__ import annotations

import json
import re
from html import unescape
from itertools import combinations

import pytest

from benchmarks.kinds import HEADLINE, INSIDE, ONE_SIDE, Choice, Crawled, figures_of, main, summary
from benchmarks.lib.kinds import FORMS, KINDS, TEMPLATES, Page, Site, make_site, other_pages, sites
from benchmarks.lib.kinds.entries import PAGES, Entry
from benchmarks.lib.kinds.pages import COPIED
from tests.docs.reader import ROOT

SITES = list(sites(1))


def facts(entry: Entry) -> set[str]:
    """All short texts of an entry, among them what distinguishes it."""
    cells = [cell for row in entry.table for cell in row]
    values = [value for _, value in entry.rows]
    return {
        entry.heading,
        *entry.lines,
        *values,
        *cells,
        *entry.own,
        *entry.listed,
        entry.picture,
        entry.caption,
    } - {""}


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.host)
class TestSite:
    def test_its_pages_are_pairwise_different_without_what_a_repost_changes(self, site: Site) -> None:
        assert len({entry._replace(number=0, label="") for entry in site.entries}) == PAGES
        assert len({entry.label for entry in site.entries}) == PAGES

    def test_pages_of_a_group_differ_where_it_says(self, site: Site) -> None:
        titles = {(entry.title, entry.heading, entry.lines, entry.rows) for entry in site.entries}
        assert (len(titles) == 1) == site.kind.is_inside

    def test_each_url_has_one_page(self, site: Site) -> None:
        pages = [*site.originals(), *site.copies(), *other_pages(site)]
        assert len({page.url for page in pages}) == len(pages) == PAGES + COPIED * len(FORMS) + 40

    def test_a_copy_has_the_facts_of_its_page(self, site: Site) -> None:
        for page in site.copies():
            html = unescape(page.html)
            assert not [fact for fact in facts(site.entries[page.entry]) if fact not in html]
            assert all(paragraph in html for paragraph in site.shared)


def test_pages_follow_from_the_seed() -> None:
    site = make_site(KINDS[4], 1, 7)
    assert site.originals() == make_site(KINDS[4], 1, 7).originals()
    assert site.copies() == make_site(KINDS[4], 1, 7).copies()
    assert site.shared != make_site(KINDS[4], 1, 8).shared
    assert site.shared != make_site(KINDS[4], 2, 7).shared


def test_there_are_thirty_kinds_with_different_names() -> None:
    assert len({kind.name for kind in KINDS}) == 30
    assert len({site.host for site in SITES}) == 30 * len(TEMPLATES)
    # No slot is left.
    assert not [
        page.url
        for site in SITES
        for page in site.originals(end=1)
        if "{" in page.html.partition("<script")[0]
    ]


def test_sites_of_different_templates_share_no_paragraph() -> None:
    for one, other in combinations(SITES, 2):
        assert not {*one.shared} & {*other.shared}


def test_copies_come_after_all_different_pages() -> None:
    choice = Choice(1, [3], [2], is_known=True)
    ((number, site),) = choice.sites()
    forms = [page.form for page in choice.pages(site)]
    assert (number, forms[: 40 + PAGES]) == (3, [""] * (40 + PAGES))
    assert set(forms[40 + PAGES :]) == set(FORMS)


def test_shares_follow_from_what_was_kept() -> None:
    pages = {url: Page(url, "", entry, form, 90) for url, entry, form in
             [("a", 0, ""), ("b", 1, ""), *((form, 1, form) for form in FORMS)]}  # fmt: skip
    first, *others = FORMS
    crawled = [Crawled("a", True, False, None), Crawled("b", False, True, "a"), Crawled("else", True, False, None),
               Crawled(first, True, True, "b"), *(Crawled(form, False, True, "b") for form in others[1:]),
               Crawled(others[0], False, True, "a")]  # fmt: skip
    found = figures_of(pages, crawled)
    assert (found["kept"], found["dropped"], found[first]) == (1 / 2, 4 / 5, 0)
    assert (found["not found"], found["protected"], found["wrong original"]) == (0, 1, 1)
    rows = [
        {**found, "group": HEADLINE},
        {**found, "group": HEADLINE, "kept": 1.0},
        {**found, "group": INSIDE},
    ]
    assert summary(rows)[HEADLINE]["kept mean"] == 3 / 4
    assert summary(rows)[HEADLINE]["kept worst"] == 1 / 2
    assert list(summary(rows)) == [HEADLINE, INSIDE]


@pytest.mark.slow("it starts a server and crawls in processes of their own")
def test_two_kinds_are_crawled(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "3", "18", "--template", "1", "--show", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["pages"] == 2 * (PAGES + COPIED * len(FORMS))
    assert [(row["kind"], row["template"], row["group"]) for row in found["sites"]] == [
        ("3 jobs, levels", 1, ONE_SIDE), ("18 house numbers", 1, HEADLINE)
    ]  # fmt: skip
    for row in found["sites"]:
        assert {"kept", "dropped", *FORMS, "not found", "protected", "wrong original"} < row.keys()
        # The first page has no page before it.
        assert 1 / PAGES <= row["kept"] <= 1
    assert found["summary"].keys() == {HEADLINE, ONE_SIDE}


@pytest.mark.slow("it crawls sixty sites")
def test_the_table_of_the_documentation_says_what_a_crawl_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json"]) == 0
    sites_crawled = json.loads(capsys.readouterr().out)["sites"]
    page = (ROOT / "docs" / "concepts" / "facts.rst").read_text("utf-8").partition(".. _kinds-of-sites:")[2]
    rows = re.findall(r"    \* - (.+)\n      - ([\d.]+)\n      - ([\d.]+)\n", page)
    told = set()
    for names, kept, dropped in rows:
        kinds = set(names.partition(":")[0].split("; "))
        of_row = [site for site in sites_crawled if site["kind"].partition(" ")[2] in kinds]
        assert len(of_row) == len(kinds) * len(TEMPLATES)
        found = [min(site[name] for site in of_row) for name in ("kept", "dropped")]
        assert found == [float(kept), float(dropped)], names
        told |= kinds
    assert len(told) == len(KINDS)
