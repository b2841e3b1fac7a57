"""The report of a crawl, and what it tells of clusters: in meta, stats, signals and the log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.crawls.harness import ENABLED, IN_ORDER, Crawl, Plan, crawl, make_project, scrapy
from tests.crawls.site import Answer, Routes, Site, article, links

#: Keys of a line that are marks of the same name; a line has null where there is no mark.
MARKS = ("status", "reason", "duplicate_of", "distance", "similarity", "cluster", "rank", "elsewhere")


def naming(site: str, number: int = 0, after: str = "") -> str:
    """Return an article that names *site* as its canonical address."""
    return article(number, after=after).replace("<head>", f'<head><link rel="canonical" href="{site}">')


PAGES: Routes = {
    "/story?utm=mail": naming("/story"),
    "/story?session=7": article(0, after="<p>Buy boats!</p>"),
    "/story": naming("/story"),
    "/liar": naming("/other"),
    "/s": article(0),
    "/other": article(1),
    "/front": article(2, before=links("/story", "/copy", "/moved", "/boats.pdf", "/missing", "/other")),
    "/copy": article(0),
    "/moved": Answer(status=302, headers={"Location": "/print"}),
    "/print": article(0, title="To be printed"),
    "/boats.pdf": Answer(b"%PDF-1.4", content_type="application/pdf"),
}


class Told(NamedTuple):
    crawl: Crawl
    lines: list[dict[str, Any]]


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


@pytest.fixture(scope="module")
def told(site: Site, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Told]:
    folder = tmp_path_factory.mktemp("reports")
    walk, story = {"urls": [site.url("/front")]}, {"urls": story_of(site)}
    plans = {
        "mark": Plan("Follower", {}, walk),
        "drop_items": Plan("Follower", {"SIMHASH_ACTION": "drop_items"}, walk),
        "clusters": Plan("Clusters", {"SIMHASH_DEBUG": True}, story),
        "bystander": Plan("Bystander", {}, story),
    }
    reported = [
        plan._replace(settings={**IN_ORDER, **plan.settings, "SIMHASH_REPORT": str(folder / f"{name}.jsonl")})
        for name, plan in plans.items()
    ]
    crawls = crawl(*reported)
    return {
        name: Told(done, lines_of(folder / f"{name}.jsonl")) for name, done in zip(plans, crawls, strict=True)
    }


def story_of(site: Site) -> list[str]:
    return site.urls("/story?utm=mail", "/other", "/story?session=7", "/liar", "/s", "/story")


def test_no_crawl_logs_an_error(told: dict[str, Told]) -> None:
    complaints = {name: done.crawl.complaints for name, done in told.items() if name != "bystander"}
    assert complaints == {name: [] for name in complaints}


# --- The report.


def test_a_line_says_what_the_marks_say(told: dict[str, Told]) -> None:
    for done in told.values():
        marks = {page.url: page.marks for page in done.crawl.pages}
        for line in done.lines:
            ours = marks[line["url"]]
            assert {key: line[key] for key in MARKS} == {key: ours.get(key) for key in MARKS}
            assert line["by_learning"] == ours.get("by_learning")
            assert line["action"] == ours.get("action")
            assert line["protected"] == ours.get("protected")


# --- Which file.


def test_who_looks_at_a_single_page_writes_no_report(site: Site, tmp_path: Path) -> None:
    make_project(tmp_path, **ENABLED, SIMHASH_REPORT="report.jsonl")
    done = scrapy("fetch", "--nolog", site.url("/story"), cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, naming("/story"))
    assert not (tmp_path / "report.jsonl").exists()
