"""The benchmark of crawlers that share a store: what it calls a fault, and one small run."""

import json
import subprocess
import sys
from typing import Any

import pytest

from benchmarks import ROOT, crawlers
from benchmarks.crawlers import COPIES, faults_of
from benchmarks.lib.prose_site import page
from scrapy_simhash import PageFingerprinter

PAGES = 2 * COPIES


def verdict(number: int, status: str, duplicate_of: int | None = None) -> dict[str, Any]:
    site = "http://127.0.0.1:8000/"
    return {
        "url": f"{site}{number}",
        "status": status,
        "duplicate_of": duplicate_of and f"{site}{duplicate_of}",
    }


def agreed() -> list[dict[str, Any]]:
    """Return the verdicts of one crawler over two clusters, even pages and odd ones, when all is right."""
    first = [verdict(2, "new"), verdict(3, "new"), verdict(0, "near_duplicate", 2)]
    return first + [verdict(number, "near_duplicate", number % 2 + 2) for number in (1, 4, 5, 6, 7)]


def test_crawlers_that_agree_have_no_faults() -> None:
    again = [verdict(number, "revisit") for number in range(PAGES)]
    assert not any(faults_of([(agreed(), {}), (again, {})], PAGES).values())


@pytest.mark.parametrize(
    ("place", "other", "fault"),
    [
        (0, verdict(2, "unknown"), "clusters without a new page"),
        (3, verdict(1, "new"), "clusters with several new pages"),
        (3, verdict(4, "near_duplicate", 2), "pages with several first visits"),
        (3, verdict(4, "near_duplicate", 2), "pages without a first visit"),
        (3, verdict(1, "near_duplicate", 2), "duplicates of another cluster"),
        (3, verdict(1, "near_duplicate", 1), "duplicates of themselves"),
        (None, {}, "pages lost"),
    ],
)
def test_a_fault_is_found(place: int | None, other: dict[str, Any], fault: str) -> None:
    told = agreed()
    if place is None:
        told.pop()
    else:
        told[place] = other
    assert faults_of([(told, {})], PAGES)[fault] == 1


def test_an_error_is_a_fault() -> None:
    assert faults_of([(agreed(), {"log_count/ERROR": 2})], PAGES)["errors"] == 2


def test_pages_of_a_cluster_say_the_same_and_others_do_not() -> None:
    pages = PageFingerprinter()
    one, same, other = (pages.from_html(page(number, 10)) for number in (3, 13, 4))
    assert pages.is_near_duplicate(one, same)
    assert not pages.is_near_duplicate(one, other)


@pytest.mark.slow("two processes crawl 40 pages each")
def test_two_crawlers_agree() -> None:
    command = [
        sys.executable,
        "benchmarks/crawlers.py",
        "--crawlers",
        "2",
        "--pages",
        "40",
        "--runs",
        "1",
        "--json",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert run["statuses"] == {"new": 10, "near_duplicate": 30, "revisit": 40}


@pytest.mark.slow("two processes crawl while things go wrong, slowly enough to outlast it")
def test_crawlers_agree_and_lose_nothing_whatever_happens_to_their_server(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"STORM": 5.0, "BEFORE": 20, "AFTER": 20}.items():
        monkeypatch.setattr(crawlers, name, value)
    status = crawlers.main(["--faults", "2", "--crawlers", "2", "--pages", "200", "--json"])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert not any(run["faults"].values()), run
    assert status == 0
