"""A page with one changed symbol is neither dropped as unchanged nor as an exact copy, and has not moved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.crawls.changing_site import as_told, told
from tests.crawls.harness import IN_ORDER, Plan, crawl
from tests.crawls.site import Answer, Routes, Site, article, links, serve

#: By path, the end of the last line of a page at the first visit and at the second.
CHANGED = {
    "/price": ("<p>It costs 5 euro", "<p>It costs 6 euro"),
    "/contract": ("<p>The tenant shall sign", "<p>The tenant shall not sign"),
    "/stars": ("<div>★★★☆☆</div>", "<div>★★★★★</div>"),
    "/table": ("<table><tr><td>Oars<td>4</table>", "<table><tr><td>Oars<td>5</table>"),
    "/degrees": ("<p>At night there are -5 degrees", "<p>At night there are 5 degrees"),
    "/language": ("<p>It is written in C++", "<p>It is written in C"),
    "/done": ("<p>✓", "<p>✗"),
}
#: Changes without a meaning.
ROTATING = {
    "/made": ("<p>Made at 13:47:14", "<p>Made at 13:47:51"),
    "/related": ("<p><a href=/price>Oars</a>", "<p><a href=/done>Ropes</a>"),
    "/advertised": (
        "</main><aside>Buy boots</aside><footer>1,234 visits",
        "</main><aside>Buy hats</aside><footer>1,235 visits",
    ),
}


def ending(number: int, end: str, key: str = "") -> str:
    return article(number, key=key).replace("</main>", f"{end}</main>")


def turning(number: int, ends: tuple[str, str]) -> Callable[[int], str]:
    """Return a route: the response to the first visit, and to later ones."""
    return lambda visit: ending(number, ends[visit > 0])


def start(site: Site) -> dict[str, list[str]]:
    return {"urls": site.urls("/")}


def test_items_of_a_page_with_one_changed_character_are_not_dropped(tmp_path: Path) -> None:
    pages = {**CHANGED, **ROTATING}
    routes = {path: turning(number, ends) for number, (path, ends) in enumerate(pages.items())}
    with serve({"/": article(11, before=links(*pages)), **routes}) as site:
        plan = Plan(
            "Follower",
            {**IN_ORDER, "SIMHASH_STORE": str(tmp_path), "SIMHASH_REVISIT_ACTION": "drop_items"},
            start(site),
        )
        first, second = crawl(plan, plan)
    assert first.complaints == second.complaints == []
    assert {item["path"] for item in first.items} == {"/", *pages}
    assert {item["path"] for item in second.items} == set(CHANGED)
    assert second.stat("revisits/unchanged") == len(ROTATING) + 1


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
