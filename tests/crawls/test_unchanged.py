"""A page with one changed symbol has not moved; tests/page/features has more changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.crawls.feed import as_told, told
from tests.crawls.harness import IN_ORDER, Plan, crawl
from tests.crawls.site import Answer, Routes, Site, article, links, serve


def ending(number: int, end: str, key: str = "") -> str:
    return article(number, key=key).replace("</main>", f"{end}</main>")


def start(site: Site) -> dict[str, list[str]]:
    return {"urls": site.urls("/")}


def test_a_page_with_a_changed_character_has_not_moved(tmp_path: Path) -> None:
    def only(visits: range, page: str) -> Callable[[int], str | Answer]:
        return lambda visit: page if visit in visits else Answer("<p>No such page.", 404)

    ferry, price, dear = ending(0, "<p>At noon"), ending(1, "<p>€ 5"), ending(1, "<p>$ 5")
    routes: Routes = {
        "/": lambda visit: article(2, before=links("/ferry", "/price", *(["/moved", "/dear"] * visit))),
        "/ferry": only(range(1), ferry),
        "/price": only(range(1), price),
        "/moved": ferry,
        "/dear": dear,
    }
    with serve(routes) as site:
        settings = {"SIMHASH_STORE": str(tmp_path), "SIMHASH_CHANGES": str(tmp_path / "changes.jsonl")}
        plan = Plan("Follower", {**IN_ORDER, **settings}, start(site))
        (first,) = crawl(plan)
        known = len(told(tmp_path))
        (second,) = crawl(plan)
    assert first.stat("errors/changes") == second.stat("errors/changes") == 0
    found = {as_told(line).path: line["change"] for line in told(tmp_path)[known:]}
    assert found == {"/moved": "moved", "/dear": "new", "/price": "gone"}
