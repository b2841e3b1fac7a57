"""scrapy-simhash report: all pages, one page, and unreadable lines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from scrapy_simhash import Config, Reason, Status, Verdict
from scrapy_simhash.action import Action
from scrapy_simhash.judge.policy import Protection
from scrapy_simhash.observers.report import Report
from scrapy_simhash.times import written as iso
from scrapy_simhash.view.words import DONE, PROTECTED, REVISITS, SKIPPED, explained
from tests.commands import Cli
from tests.docs.reader import DOCS, blocks
from tests.stand_in import stand_in

#: URL, verdict, and other fields of a line.
Told: TypeAlias = "tuple[str, Verdict, Mapping[str, Any]]"

SITE = "https://example.com"
PILOT = f"{SITE}/boats/night-pilot"
LIST = f"{SITE}/boats?page=1"
DROPPED: Mapping[str, Any] = {
    "action": "drop_items",
    "http_status": 200,
    "depth": 2,
    "referer": PILOT,
}
MARKED: Mapping[str, Any] = {"action": "mark", "protected": "pagination"}


def copy(of: str, cluster: int, **values: Any) -> Verdict:
    return Verdict(
        Status.NEAR_DUPLICATE,
        duplicate_of=of,
        cluster=cluster,
        **{"distance": 0, "similarity": 1.0, **values},
    )


#: The report of the how-to page.
PAGES: Sequence[Told] = (
    (LIST, Verdict(Status.NEW, cluster=0, rank=0), {}),
    (PILOT, Verdict(Status.NEW, cluster=1, rank=0), {}),
    (
        f"{SITE}/print/night-pilot",
        copy(
            PILOT,
            1,
            rank=1,
            is_exact=True,
            hints=("canonical",),
            threshold=1.0,
            decided_by="all text",
            required=0.7,
        ),
        DROPPED,
    ),
    (f"{SITE}/boats?page=2", copy(LIST, 0, rank=1, distance=3, similarity=0.87), MARKED),
    (f"{PILOT}?from=mail", copy(PILOT, 1, rank=2, distance=1, similarity=0.98), DROPPED),
    (f"{SITE}/boats.svg", Verdict(Status.SKIPPED, reason=Reason.NOT_HTML), {}),
    (f"{SITE}/tides", Verdict(Status.SKIPPED, reason=Reason.STATUS), {"http_status": 404}),
    (
        PILOT,
        Verdict(Status.REVISIT, cluster=1, reason=Reason.UNCHANGED, distance=0, last_seen=1_790_000_000),
        {},
    ),
)


#: Fields of a line besides the verdict.
BESIDE = ("action", "protected", "change", "http_status", "depth", "referer", "time")


def written(path: Path, pages: Sequence[Told] = PAGES) -> str:
    report = Report(stand_in(), Config(report=str(path)))
    report.spider_opened()
    for seconds, (url, verdict, values) in enumerate(pages, 1_790_000_000):
        beside = {**dict.fromkeys(BESIDE), **values, "time": iso(seconds)}
        report.write({"url": url, **verdict.to_dict(), **beside})
    report.spider_closed()
    return str(path)


@pytest.fixture
def report(tmp_path: Path) -> str:
    return written(tmp_path / "report.jsonl")


def test_a_page_that_is_visited_again_counts_once_in_its_cluster(tmp_path: Path, command: Cli) -> None:
    revisit = Verdict(Status.REVISIT, duplicate_of=PILOT, cluster=1, reason=Reason.UNCHANGED)
    path = written(tmp_path / "report.jsonl", [*PAGES, (f"{SITE}/print/night-pilot", revisit, {})])
    assert command.json("report", path)["largest_clusters"][0]["pages"] == 3


def test_the_canonical_url_is_preferred_and_otherwise_the_shortest(tmp_path: Path, command: Cli) -> None:
    short = f"{SITE}/p"
    pages: list[Told] = [*PAGES, (short, copy(PILOT, 1), {})]
    path = written(tmp_path / "report.jsonl", pages)
    # The print version names the first page as its canonical URL.
    assert command.json("report", path)["largest_clusters"][0]["preferred"] == PILOT
    pages = [(url, replace(verdict, hints=()), values) for url, verdict, values in pages]
    path = written(Path(path), pages)
    assert command.json("report", path)["largest_clusters"][0]["preferred"] == short
    assert f"  4 pages like {PILOT}\n    preferred {short}\n" in command("report", path)


BAD = [
    b'{"url": "https://example.com/a", "sta',
    b'{"url": "https://example.com/a"}',
    b'{"url": "a", "status": "new", "action": 7}',
]


@pytest.mark.parametrize("line", BAD, ids=range(len(BAD)))
def test_a_bad_line_is_counted_and_reported_and_the_others_are_read(
    line: bytes, report: str, command: Cli
) -> None:
    good = Path(report).read_bytes().splitlines()
    Path(report).write_bytes(b"\n".join([*good[:3], line, b"", *good[3:]]))
    found = command.json("report", report)
    assert (found["pages"], found["bad_lines"]) == (len(PAGES), {"count": 1, "lines": [4]})
    assert command("report", report).endswith("\nunreadable lines  1 (line 4)\n")
    assert command("report", report, "--url", PILOT).endswith("\nunreadable lines  1 (line 4)\n")


def test_every_visit_of_a_page_is_shown(report: str, command: Cli) -> None:
    found = command.json("report", report, "--url", PILOT)
    assert (found["url"], found["copies"]) == (PILOT, 2)
    assert [visit["status"] for visit in found["visits"]] == ["new", "revisit"]
    assert [*found["visits"][0]] == ["url", *Verdict(Status.NEW).to_dict(), *BESIDE, "explanation"]
    assert [
        "2 other pages are near-duplicates of it" in visit["explanation"] for visit in found["visits"]
    ] == [True, False]
    told = command("report", report, "--url", PILOT).splitlines()
    assert told == [f"{visit['time']}: {visit['explanation']}" for visit in found["visits"]]


def test_a_url_that_is_only_an_original_in_the_report_is_refused_with_a_hint(
    tmp_path: Path, command: Cli
) -> None:
    path = written(tmp_path / "report.jsonl", [page for page in PAGES if page[0] != PILOT])
    assert command.fails("report", path, "--url", PILOT) == (
        1,
        f"{path} has no page '{PILOT}', only 2 near-duplicates of it",
    )


A, B = "http://a.example/", "http://b.example/"
ORIGINAL = {"url": f"{A}copy", "status": "near_duplicate", "duplicate_of": A}
REPEATS = f"{A}copy is a near-duplicate of {A}, which was seen first: "
NEAR = f"{REPEATS}the texts are nearly the same"
NEW = f"{A} was new: no earlier page had nearly the same text."
MISS = {"url": B, "distance": 2, "similarity": 0.74}
ALIKE = f"{NEW} The most similar page that it was compared with is {B} (distance 2, similarity 0.74):"
EXPLANATIONS = [
    (
        {**ORIGINAL, "distance": 2, "similarity": 0.98, "exact": False, "action": "drop_page"},
        f"{NEAR} (distance 2, similarity 0.98). It was dropped: its callback did not run.",
    ),
    (
        {**ORIGINAL, "exact": True, "action": "mark"},
        f"{REPEATS}title and main text are identical. It was marked, and nothing was dropped.",
    ),
    (
        {**ORIGINAL, "distance": 0, "reason": "short_text"},
        f"{REPEATS}both have too little text for a fingerprint, and exactly the same text.",
    ),
    (
        {**ORIGINAL, "action": "drop_items", "protected": "listing", "hints": ["address", "redirect"]},
        f"{NEAR}. Hints in markup and URLs connect the two pages: address, redirect. Its items were dropped. It was"
        " protected from the full action (listing): the links of a listing are followed.",
    ),
    (
        {
            **ORIGINAL,
            "status": "revisit",
            "reason": "small_change",
            "distance": 1,
            "similarity": 0.9,
            "last_seen": "2026-09-21T14:13:20Z",
        },
        f"{A}copy was seen before, last on 2026-09-21T14:13:20Z: a little of its text has changed. It is a"
        f" near-duplicate of {A}, which was seen first: the texts are nearly the same (similarity 0.9).",
    ),
    ({**ORIGINAL, "by_learning": True}, f"{NEAR} without the text that the site repeats."),
    (
        {"url": A, "status": "new", "by_learning": True},
        f"{A} was new: an earlier page had nearly the same text, but the unique texts of the two pages"
        " differ, too little was known about the site, or their structured data names different things.",
    ),
    (
        {"url": A, "status": "new", "near_miss": {**MISS, "threshold": 0.61}},
        f"{ALIKE} with a SIMHASH_MIN_SIMILARITY of 0.61 or less it would be a near-duplicate.",
    ),
    (
        {"url": A, "status": "new", "near_miss": {**MISS, "threshold": 0.0}},
        f"{ALIKE} no SIMHASH_MIN_SIMILARITY would make it a near-duplicate.",
    ),
    (
        {"url": A, "status": "skipped", "reason": "status", "http_status": 404},
        f"{A} was not compared: its HTTP status is 404.",
    ),
    ({"url": A, "status": "unknown", "reason": "store"}, f"{A} was not compared: the store did not answer."),
    # Possible values of a later version or a custom policy.
    (
        {**ORIGINAL, "action": "drop_images", "protected": "weekend"},
        f"{NEAR}. The action was drop_images. It was protected from the full action (weekend): unknown reason.",
    ),
    # Control characters are not printed.
    (
        {"url": f"{A}\x1b[2J\udcff", "status": "skipped", "reason": "\r"},
        f"{A}\\x1b[2J\\udcff was not compared: \\r.",
    ),
]


@pytest.mark.parametrize(("page", "expected"), EXPLANATIONS)
def test_a_page_is_explained_in_sentences(page: dict[str, Any], expected: str) -> None:
    assert explained(page) == expected


def test_an_original_is_explained_with_the_number_of_its_copies() -> None:
    page = {"url": "http://a.example/", "status": "new"}
    assert explained(page, 1).endswith("One other page is a near-duplicate of it.")
    assert explained(page, 1200).endswith("1,200 other pages are near-duplicates of it.")


def test_every_reason_has_a_sentence() -> None:
    actions = {str(action) for action in (*Action, Action.DROP_PAGE, Action.MARK)}
    actions |= {str(Action.DROP_ITEMS | Action.DROP_LINKS)}
    assert set(DONE) >= actions
    assert set(PROTECTED) == {exemption.value for exemption in Protection}
    fates = {
        *(Reason.UNCHANGED, Reason.SMALL_CHANGE),
        *(Reason.CHANGED, Reason.NOW_NEAR_DUPLICATE),
    }
    assert set(REVISITS) == {reason.value for reason in fates}
    assert set(SKIPPED) == {
        reason.value for reason in set(Reason) - fates - {Reason.NO_CALLBACK, Reason.STORE}
    }


def test_the_how_to_shows_the_output_of_the_command(
    report: str, command: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(report).parent)
    shown = "".join(block.text for block in blocks(DOCS / "how-to" / "look.rst", "console"))
    commands = re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", shown, flags=re.MULTILINE)
    ours = [(typed, out) for typed, out in commands if typed.startswith("scrapy-simhash report")]
    assert len(ours) >= 3
    for typed, expected in ours:
        if "--serve" not in typed:
            said = command("report", *shlex.split(typed)[2:])
            assert (typed, said.split()) == (typed, expected.split())
