"""``scrapy-simhash tune``: from a report, a store or a feed to a threshold."""

from __future__ import annotations

import csv
import io
import json
import webbrowser
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from scrapy_simhash import Config, NearDuplicateDetector
from scrapy_simhash.cli import tune
from scrapy_simhash.detector import header_for
from scrapy_simhash.store.sqlite import SqliteStore
from tests.cli.conftest import Cli


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """Return a report of 120 near-duplicates, half of them identical, and of 30 near misses."""
    lines: list[dict[str, Any]] = [
        {
            "url": f"http://a.example/copy/{number}",
            "status": "near_duplicate",
            "duplicate_of": f"http://a.example/{number}",
            "exact": number % 2 == 0,
            "similarity": 0.9,
            "threshold": (800 + number) / 1000,
        }
        for number in range(120)
    ]
    lines += [
        {
            "url": f"http://a.example/other/{number}",
            "status": "new",
            "near_miss": {
                "url": f"http://a.example/{number}",
                "distance": 5,
                "similarity": 0.6,
                "threshold": (550 + 5 * number) / 1000,
            },
        }
        for number in range(30)
    ]
    path = tmp_path / "report.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def test_answers_are_asked_for_and_kept(
    cli: Cli, report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(webbrowser, "open", shown.append)
    labels = tmp_path / "labels.csv"
    monkeypatch.setattr("sys.stdin", io.StringIO("o\ns\nwhat\nd\nskip\nq\n"))
    status, _, asked = cli.ended("tune", report, "--labels", labels, "--judge")
    assert (status, "s = same page, d = different pages" in asked) == (0, True)
    assert len(shown) == 2
    assert [line.rsplit(",", 1)[1] for line in labels.read_text("utf-8").splitlines()] == [
        "answer",
        "same",
        "different",
        "skip",
    ]
    # What was answered is not asked again, and the rest is.
    before = labels.read_text("utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO("s\n"))
    assert cli.ended("tune", report, "--labels", labels, "--judge", "3")[0] == 0
    assert labels.read_text("utf-8").startswith(before)
    urls = [line.split(",")[0] for line in labels.read_text("utf-8").splitlines()]
    assert len(urls) == len(set(urls)) == 5


def judged(report: Path, labels: Path) -> None:
    """Judge all pairs: near misses are different pages, near-duplicates are the same one."""
    rows = ["url,other,answer"]
    for line in map(json.loads, report.read_text("utf-8").splitlines()):
        miss = line.get("near_miss")
        other = miss["url"] if miss else line["duplicate_of"]
        rows.append(f"{line['url']},{other},{'different' if miss else 'same'}")
    labels.write_text("\n".join(rows) + "\n", "utf-8")


def test_with_answers_it_names_the_setting(cli: Cli, report: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    judged(report, labels)
    said = cli("tune", report, "--labels", labels, "-s", "SIMHASH_MIN_SIMILARITY=0.6")
    assert "in settings.py:\n  SIMHASH_MIN_SIMILARITY = 0.8\n" in said
    assert "<- as crawled" in next(line for line in said.splitlines() if line.startswith("0.60  "))
    said = cli("tune", report, "--labels", labels)
    assert "keep what you have:\n  SIMHASH_MIN_SIMILARITY = 0.8\n" in said
    assert "0.80       1.000 (1.000 to 1.000)       1.000 (1.000 to 1.000)  <- as crawled" in said
    facts = cli.json("tune", report, "--labels", labels, "--precision", "0.8")
    assert facts["chosen"] == 0.55
    assert facts["pairs"] == sum(band["pairs"] for band in facts["bands"]) + facts["below_all_bands"] == 150


def test_what_cannot_be_shown_is_said(cli: Cli, report: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    judged(report, labels)
    few = labels.read_text("utf-8").splitlines()[:1] + labels.read_text("utf-8").splitlines()[-2:]
    labels.write_text("\n".join(few) + "\n", "utf-8")
    said = cli("tune", report, "--labels", labels, "--precision", "0.99")
    assert "No threshold is shown to have a precision of 0.99" in said
    assert "To know the precision at 0.5" in said


def test_when_all_is_answered_no_more_answers_are_wanted(cli: Cli, report: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    judged(report, labels)
    # Somebody who says nothing but that all are different: no threshold will do.
    labels.write_text(labels.read_text("utf-8").replace(",same", ",different"), "utf-8")
    said = cli("tune", report, "--labels", labels, "--judge", "500", "--precision", "1")
    assert "All pairs are answered: crawl more pages" in said
    assert "udge more" not in said


def test_a_file_of_answers_may_come_from_elsewhere(
    cli: Cli, report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = tmp_path / "labels.csv"
    # As a spreadsheet writes it, the pair the other way round, without an end of the last line.
    labels.write_text("\ufeffanswer,url,other\nsame,http://a.example/1,http://a.example/copy/1", "utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO("d\n"))
    facts = json.loads(cli.ended("tune", report, "--labels", labels, "--judge", "--json")[1])
    assert sum(band["same"] for band in facts["bands"]) == 1
    assert sum(band["different"] for band in facts["bands"]) == 1
    first, second = labels.read_text("utf-8-sig").splitlines()[1:]
    assert (first.split(",")[0], second.split(",")[0]) == ("same", "different")
    labels.write_text("url,other,answer\na,b,same\n", "utf-8")
    assert "none of the 1 answers" in cli.ended("tune", report, "--labels", labels)[2]


def test_what_changes_nothing_is_not_advised(cli: Cli, tmp_path: Path) -> None:
    line = {"status": "near_duplicate", "duplicate_of": "http://a.example/", "exact": True, "threshold": 1.0}
    report = tmp_path / "report.jsonl"
    pages = [{**line, "url": f"http://a.example/{number}", "exact": number > 0} for number in range(40)]
    # One of them came twice.
    report.write_text("".join(json.dumps(page) + "\n" for page in [*pages, pages[0]]), "utf-8")
    labels = tmp_path / "labels.csv"
    labels.write_text("url,other,answer\nhttp://a.example/0,http://a.example/,same\n", "utf-8")
    said = cli("tune", report, "--labels", labels)
    assert "were compared: 40." in said
    assert "keep what you have:\n  SIMHASH_MIN_SIMILARITY = 0.8\n" in said


# --- Stores and feeds.


def story(number: int, changed: int = 0, title: str = "") -> str:
    """Return a page; of another *number* its text is another one, *changed* of its 60 words are."""
    random = Random(number)
    words = [random.choice(WORDS) for _ in range(60)]
    for place in range(changed):
        words[place * 7 % 58 + 2] = f"{words[place]}ing"
    name = title or f"The {words[0]} and the {words[1]}"
    text = ". ".join(" of the ".join(words[start : start + 5]) for start in range(0, 60, 5))
    return f'<html lang="en"><title>{name}</title><main><h1>{name}</h1><p>{text}.</p></main></html>'


def site(pages: int = 40) -> dict[str, str]:
    """Return stories by URL, and versions of each with more and more other words."""
    found = {}
    for number in range(pages):
        found[f"https://a.example/{number}"] = story(number)
        found[f"https://a.example/{number}/later"] = story(number, changed=number % 12 * 3)
    return found


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a report, a store and a feed of one crawl."""
    folder = tmp_path_factory.mktemp("crawled")
    files = {name: folder / f"{name}.{ending}" for name, ending in KINDS.items()}
    lines = []
    with closing(SqliteStore(files["store"], header_for(Config()))) as store:
        store.explains = True
        detector = NearDuplicateDetector(store=store)
        for url, html in site().items():
            verdict = detector.check(html, url)
            miss = verdict.near_miss
            lines.append({"url": url, **verdict.to_dict(), "near_miss": miss and miss._asdict()})
        detector.flush()
    files["report"].write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    records = [{"address": url, "html": html} for url, html in site().items()]
    files["feed"].write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return files


KINDS = {"report": "jsonl", "store": "sqlite", "feed": "jl"}
WORDS = (
    "boat ferry quay tide fog pilot lamp net rope sail gull buoy reef shoal mast keel hull oar anchor".split()
)
FEED = ("--html-field", "html", "--url-field", "address")


def test_a_store_and_a_feed_say_what_the_report_of_the_crawl_says(crawled: dict[str, Path], cli: Cli) -> None:
    report, store, feed = (
        cli.json("tune", crawled[kind], *(FEED if kind == "feed" else ())) for kind in KINDS
    )
    assert report["pairs"] > 35
    assert sum(band["pairs"] > 0 for band in report["bands"]) > 4
    assert store == feed == report


def test_of_many_pages_a_sample_is_taken_the_same_one_each_time_and_it_is_said(
    crawled: dict[str, Path], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = cli.json("tune", crawled["report"])["pairs"]
    monkeypatch.setattr(tune, "MOST_PAGES", 30)
    monkeypatch.setattr(tune, "MOST_PAIRS", 10)
    for kind, sample in (("store", "30 of 80"), ("report", f"10 of {pairs}"), ("feed", f"10 of {pairs}")):
        given = (crawled[kind], *(FEED if kind == "feed" else ()))
        said = cli("tune", *given)
        assert f"They are a sample, the same each time: {sample} were taken." in said
        assert cli("tune", *given) == said


def test_what_pages_say_of_themselves_is_shown_beside_the_answers(tmp_path: Path, cli: Cli) -> None:
    canonical = '<link rel="canonical" href="https://a.example/1">'
    pages = {
        "/1": story(1),
        "/1/print": story(1).replace("<main>", f"{canonical}<main>"),
        "/1?page=2": story(1, changed=2),
        "/1?utm_source=mail": story(1, changed=1),
        "/2": story(2),
    }
    records = [{"url": f"https://a.example{path}", "html": html} for path, html in pages.items()]
    # Later one of them comes again.
    records.append({"url": "https://a.example/2", "html": story(2, changed=1)})
    feed = tmp_path / "pages.csv"
    with feed.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ("url", "html"))
        writer.writeheader()
        writer.writerows(records)
    found = cli.json("tune", feed)
    assert {(one["kind"], one["is_same"], one["pairs"]) for one in found["told"]} == {
        ("pagination", False, 1),
        ("refetched", True, 1),
        ("canonical", True, 1),
        ("address", True, 1),
    }
    said = cli("tune", feed)
    assert "the same page, by canonical URL" in said
    assert "different pages, by page number" in said
    # That is no answer of anybody's.
    assert "Nobody has judged any of them yet" in said
    assert f"tune {feed} --labels labels.csv --judge" in said


def test_a_feed_of_text_and_settings(tmp_path: Path, cli: Cli) -> None:
    text = " ".join(f"the {word} and" for word in WORDS)
    records = [{"url": f"https://a.example/{number}", "text": f"{text} {number}"} for number in range(3)]
    feed = tmp_path / "pages.json"
    feed.write_text(json.dumps([*records, {"url": None}]), "utf-8")
    given = ("tune", feed, "--text-field", "text", "--json")
    assert json.loads(cli.ended(*given)[1])["pairs"] == 2
    found = json.loads(cli.ended(*given, "-s", "SIMHASH_MIN_SIMILARITY=0.99")[1])
    assert found["min_similarity"] == 0.99


def test_a_store_of_the_classic_rule_has_no_pairs(tmp_path: Path, cli: Cli) -> None:
    classic = tmp_path / "classic.sqlite"
    SqliteStore(classic, header_for(Config(rule="classic"))).close()
    status, error = cli.fails("tune", classic)
    assert (status, 'with SIMHASH_RULE = "classic"' in error) == (1, True)
