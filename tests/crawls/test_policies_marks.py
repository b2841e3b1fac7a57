"""What is said of copies, and changes nothing: hints, preferred addresses, the report, and copies in other scopes."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.annex.server import serving
from tests.annex.truth import AnnexTruth
from tests.crawls.harness import IN_ORDER, Crawl, Page, Plan, crawl, crawl_one
from tests.crawls.promises import NEAREST_FIRST, Promise, copies, is_exact, made, scraped, seen
from tests.crawls.scopes import by_last_letter
from tests.crawls.site import Answer, Routes, article, serve

TALES = "/annex/tales"
OWN = "tests.crawls.scopes.by_last_letter"
SCOPES = ("crawl", "domain", "host", OWN)


@pytest.fixture(scope="module")
def truth() -> AnnexTruth:
    return AnnexTruth.load()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("report") / "pages.jsonl"


@pytest.fixture(scope="module")
def crawls(truth: AnnexTruth, report: Path) -> dict[str, Crawl]:
    with serving() as server:
        starts = " ".join(server.url + start for start in truth.starts)
        plans = {
            "whole": Plan(
                "policies_spiders.Part",
                {**NEAREST_FIRST, "SIMHASH_ACTION": "drop_page", "SIMHASH_REPORT": str(report)},
                {"start": starts},
            ),
            "marked": Plan("policies_spiders.Part", NEAREST_FIRST, {"start": starts}),
        }
        plans |= {
            scope: Plan(
                "policies_spiders.Part",
                {
                    **NEAREST_FIRST,
                    "SIMHASH_SCOPE": scope,
                    "SIMHASH_ACROSS_SCOPES": True,
                    "SIMHASH_ACTION": "drop_items",
                },
                {"start": server.url + TALES, "within": TALES},
            )
            for scope in SCOPES
        }
        plans["silent"] = plans["host"]._replace(
            settings={**plans["host"].settings, "SIMHASH_ACROSS_SCOPES": False}
        )
        return dict(zip(plans, crawl(*plans.values()), strict=True))


def test_hints_are_what_a_page_and_its_address_say_of_the_other(
    crawls: dict[str, Crawl], truth: AnnexTruth
) -> None:
    done = crawls["marked"]
    pages = seen(truth, done)
    hints: dict[str, list[str]] = {}
    for key, original in copies(truth, done).items():
        page = truth.pages[key]
        holds = {
            # Parameters by which a shop counts its letters make no other address.
            "canonical": page.canonical == original.partition("?utm_")[0],
            "address": page.kind in ("trailing-slash", "index-file")
            # Who sent the reader does not make another page; "ref" may be a site's own word for something else.
            or (page.kind == "tracking" and "utm_" in key and original == key.partition("?")[0]),
            "hreflang": page.role == "language",
        }
        hints[key] = [name for name, is_so in holds.items() if is_so]
    assert {key: pages[key].marks.get("hints", []) for key in hints} == hints
    # Pages that name another one than they are a copy of, are no copies for that.
    liars = truth.of(kind="liar")
    assert liars
    assert {pages[key].verdict for key in liars} == {"new"}
    assert {len(found) for found in hints.values()} == {0, 1, 2}


def test_a_page_that_has_moved_is_led_to_from_the_one_it_repeats() -> None:
    """The annex has none: its redirects never had a page of their own."""
    goods = '<script type="application/ld+json">{"@type": "Product", "name": "Lantern"}</script></head>'
    before = article(4).replace("</head>", goods)
    after = before.replace(" and ", " or ", 3)
    moved = Answer(status=302, headers={"Location": "/goods/lantern"})
    routes: Routes = {
        "/first": article(1),
        "/lantern": lambda visit: moved if visit else before,
        "/variant": after,
        "/goods/lantern": after,
    }
    with serve(routes) as site:
        urls = site.urls("/first", "/lantern", "/variant", "/lantern")
        done = crawl_one(
            "Visitor", {**IN_ORDER, "SIMHASH_ACTION": "drop_page", "SIMHASH_PROTECT": "product"}, urls=urls
        )
    assert done.complaints == []
    page = done.page("/goods/lantern")
    assert page.marks["hints"] == ["redirect"]
    assert page.marks["duplicate_of"] == done.page("/variant").marks["duplicate_of"] == urls[1]
    # The same product at its new address, while a variant of it is another one.
    assert made(page) == Promise("drop_page")
    assert made(done.page("/variant")) == Promise("mark", "product")


def test_at_the_end_that_address_is_preferred_which_most_pages_name(
    crawls: dict[str, Crawl], truth: AnnexTruth
) -> None:
    done = crawls["marked"]
    clusters: dict[int, list[str]] = defaultdict(list)
    for key, page in seen(truth, done).items():
        if "cluster" in page.marks:
            clusters[page.marks["cluster"]].append(key)
    urls = {truth.key(page.url): page.url for page in done.pages}
    expected = {}
    for number, keys in clusters.items():
        votes = Counter(truth.pages[key].canonical for key in keys)
        # What is no page of the cluster counts nothing: the lies, and pages that name none.
        best = max(votes[key] for key in keys)
        expected[number] = min(
            (len(urls[key]), at, urls[key]) for at, key in enumerate(keys) if votes[key] == best
        )[2]
    noted = {cluster["number"]: cluster["preferred"] for cluster in done.notes}
    assert noted == {number: expected[number] for number, keys in clusters.items() if len(keys) > 1}
    first = {number: urls[keys[0]] for number, keys in clusters.items()}
    later = sum(first[number] != preferred for number, preferred in noted.items())
    assert done.stat("preferred_later") == later > 0
    # Met first under another address, which says so.
    gulls = f"{TALES}/census-of-gulls"
    (number,) = (number for number, keys in clusters.items() if gulls in keys)
    assert truth.key(noted[number]) == gulls != clusters[number][0]


def test_the_report_has_a_line_for_every_page_which_says_what_its_marks_say(
    crawls: dict[str, Crawl], truth: AnnexTruth, report: Path
) -> None:
    lines = [json.loads(line) for line in report.read_text("utf-8").splitlines()]
    pages = crawls["whole"].pages
    assert [line["url"] for line in lines] == [page.url for page in pages]
    for line, page in zip(lines, pages, strict=True):
        marks = dict(page.marks)
        named = {"done": "action"}
        keys = "status reason duplicate_of distance exact cluster rank elsewhere done exemption preferred"
        for name in keys.split():
            assert line[named.get(name, name)] == marks.get(name), (name, page.url)
        assert line["similarity"] == pytest.approx(marks.get("similarity"), abs=0.001)
        assert line["hints"] == marks.get("hints", [])
        assert line["http_status"] == 200
    # Whatever is dropped on the way, no page is nearer than the truth has it.
    nearest = truth.reachable(*truth.starts)
    assert all(line["depth"] >= nearest[truth.key(line["url"])] for line in lines)
    assert {line["depth"] for line in lines} >= {0, 1, 2, 3}


def scope_of(scope: str, url: str) -> str:
    """Return with what a page is compared."""
    if scope == "crawl":
        return ""
    return by_last_letter(url) if scope == OWN else urlsplit(url).hostname or ""


def tales(truth: AnnexTruth, done: Crawl) -> list[Page]:
    return [page for page in done.pages if truth.page(page.url).family]


@pytest.mark.parametrize("scope", SCOPES)
def test_a_page_repeats_what_was_met_in_its_scope_and_hears_of_what_was_met_in_others(
    crawls: dict[str, Crawl], truth: AnnexTruth, scope: str
) -> None:
    done = crawls[scope]
    assert done.complaints == []
    here: dict[tuple[str, str], str] = {}
    anywhere: dict[str, tuple[str, str]] = {}
    expected: dict[str, Any] = {}
    found: dict[str, Any] = {}
    for page in tales(truth, done):
        family, own = truth.page(page.url).family, scope_of(scope, page.url)
        original = here.get((family, own))
        elsewhere = anywhere.get(family) if original is None else None
        expected[page.url] = (original, None if elsewhere is None else elsewhere[1])
        found[page.url] = (page.marks.get("duplicate_of"), page.marks.get("elsewhere"))
        here.setdefault((family, own), page.url)
        anywhere.setdefault(family, (own, page.url))
    assert found == expected
    told = sum(elsewhere is not None for _, elsewhere in expected.values())
    assert done.stat("elsewhere") == told
    assert (told > 0) is (scope != "crawl")
    # A page of another scope is no copy: nothing is done about it.
    lost = {truth.key(url) for url, (original, _) in expected.items() if original is not None}
    assert scraped(truth, done) == sorted(set(seen(truth, done)) - lost)


def test_copies_in_other_scopes_are_told_only_if_asked_for(
    crawls: dict[str, Crawl], truth: AnnexTruth
) -> None:
    told, silent = crawls["host"], crawls["silent"]
    assert silent.stat("elsewhere") == 0
    assert {key: page.verdict for key, page in seen(truth, silent).items()} == {
        key: page.verdict for key, page in seen(truth, told).items()
    }
    assert not [page for page in silent.pages if "elsewhere" in page.marks]


def test_what_is_elsewhere_says_the_same(crawls: dict[str, Crawl], truth: AnnexTruth) -> None:
    pairs = [
        (truth.key(page.url), truth.key(page.marks["elsewhere"]))
        for page in crawls["host"].pages
        if "elsewhere" in page.marks
    ]
    assert [pair for pair in pairs if not is_exact(truth, *pair)] == []
    assert {key.partition(":")[0] for key, _ in pairs} == {"partner"}
