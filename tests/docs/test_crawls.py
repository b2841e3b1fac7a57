"""The documented output of crawls equals that of real crawls of the example site."""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from magazine.server import SiteServer, serving
from magazine.truth import Truth

from scrapy_simhash import Config, kernel
from scrapy_simhash.cli.main import main
from scrapy_simhash.view.tuning import EDGES
from tests.crawls import harness
from tests.docs.reader import DOCS, README, ROOT, blocks, words
from tests.fixtures.pages import all_pages

LOG_PAGE = DOCS / "reference" / "results.rst"
EXAMPLE = ROOT / "example_project"
#: The documented port; the tests use any free port.
SHOWN = "http://127.0.0.1:8000"
#: Requests one page at a time, so that the same page is always the original.
IN_ORDER = ("-s", "CONCURRENT_REQUESTS=1")
NO_WAIT = ("-s", "DOWNLOAD_DELAY=0")


class Run(NamedTuple):
    out: str
    log: str


def forked(folder: Path, server: SiteServer, *arguments: str, fails: bool = False) -> Run:
    """Run ``scrapy`` in *folder* against *server*; the port in its output is replaced by the documented one."""
    given = [argument.replace(SHOWN, server.url) for argument in arguments]
    done = harness.scrapy(*given, cwd=folder)
    assert fails == (done.returncode != 0), done.stderr
    return Run(done.stdout.replace(server.url, SHOWN), done.stderr.replace(server.url, SHOWN))


def feed(path: Path, server: SiteServer) -> dict[str, dict[str, Any]]:
    """Return the items in the file *path* by their URL."""
    lines = path.read_text("utf-8").replace(server.url, SHOWN).splitlines()
    return {item["url"]: item for item in map(json.loads, lines)}


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with serving() as started:
        yield started


class ExampleCrawl(NamedTuple):
    log: str
    items: dict[str, dict[str, Any]]
    report: Path

    @classmethod
    def with_action(cls, action: str, path: Path) -> ExampleCrawl:
        """Crawl the example site, one page at a time; the items are written to *path*."""
        # A new server, because advertisements depend on the number of visits.
        with serving() as fresh:
            chosen = ("-s", f"SIMHASH_ACTION={action}", "-a", f"start={SHOWN}/", "-O", str(path))
            report = path.with_suffix(".report")
            run = forked(
                EXAMPLE, fresh, "crawl", "pages", *chosen, "-s", f"SIMHASH_REPORT={report}", *IN_ORDER
            )
            return cls(run.log, feed(path, fresh), report)

    def stat(self, name: str) -> int:
        (value,) = re.findall(rf"'{name}': (\d+)", self.log)
        return int(value)


@pytest.fixture(scope="module")
def example_crawl(tmp_path_factory: pytest.TempPathFactory) -> ExampleCrawl:
    return ExampleCrawl.with_action("mark", tmp_path_factory.mktemp("example") / "pages.jsonl")


def shown_in_readme(language: str) -> str:
    return blocks(README, language)[0].text


#: Some copies are found or missed depending on the order of pages.
VARYING = re.compile(r"\d+(?= new, )|(?<= new, )\d+")


def assert_about(shown: str, ours: str) -> None:
    assert VARYING.sub("N", shown) == VARYING.sub("N", ours)
    numbers = zip(VARYING.findall(shown), VARYING.findall(ours), strict=True)
    assert all(abs(int(one) - int(other)) <= 6 for one, other in numbers)


def test_the_readme_shows_the_log_of_the_example_crawl(example_crawl: ExampleCrawl) -> None:
    ours = [line[20:] for line in example_crawl.log.splitlines() if "near-duplicates: " in line.lower()]
    # The C extension may be missing.
    shown = shown_in_readme("text").replace("kernel native", f"kernel {kernel.NAME}")
    assert_about(shown.rstrip(), "\n".join(ours))


def test_the_readme_shows_an_item_of_the_example_crawl(example_crawl: ExampleCrawl) -> None:
    item = json.loads(shown_in_readme("json"))
    ours = example_crawl.items[item["url"]]
    result = ours["near_duplicate"]
    # The README shows some keys of the result, in the same order.
    shown = {name: value for name, value in result.items() if name in item["near_duplicate"]}
    assert json.dumps(item) == json.dumps({**ours, "near_duplicate": shown})


def numbers_in(sentence: str) -> list[int]:
    (found,) = re.findall(sentence, words(README.read_text("utf-8")))
    return [int(number) for number in found]


def test_the_readme_has_the_measured_benefit(example_crawl: ExampleCrawl, tmp_path: Path) -> None:
    dropped, items = numbers_in(r"(\d+) of (\d+) items are dropped, and no unique page is lost")
    saved, requests = numbers_in(r"(\d+) of (\d+) requests are saved")
    kept = ExampleCrawl.with_action("drop_items,drop_links", tmp_path / "kept.jsonl")
    marks = {url: item["near_duplicate"] for url, item in example_crawl.items.items() if repeats(item)}
    protected = [mark for mark in marks.values() if mark["contradicts"]]
    assert example_crawl.stat("item_scraped_count") == items
    assert example_crawl.stat("downloader/request_count") == requests
    # A few depend on the order of pages.
    assert abs(len(marks) - len(protected) - dropped) <= 6
    assert abs(requests - kept.stat("downloader/request_count") - saved) <= 3
    truth = Truth()
    repeated = [(url, mark["duplicate_of"]) for url, mark in marks.items()]
    assert not [pair for pair in repeated if truth.relation(*pair).expected == "different"]
    pages, left = ({truth.key(url) for url in crawl.items} for crawl in (example_crawl, kept))
    for page in pages - left:
        assert any(truth.relation(page, other).expected != "different" for other in left), page


def test_the_how_to_leads_from_a_crawl_to_a_setting(
    example_crawl: ExampleCrawl,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = DOCS / "how-to" / "look.rst"
    typed = [line[2:] for block in blocks(page, "console") for line in block.text.splitlines()]
    first, write, last = (line for line in typed if line.startswith("scrapy-simhash tune"))
    monkeypatch.chdir(tmp_path)
    Path("report.jsonl").write_bytes(example_crawl.report.read_bytes())
    pages = [{"url": page.url, "html": page.body.decode("utf-8", "replace")} for page in all_pages()[:12]]
    Path("pages.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in pages), "utf-8")

    def said(command: str) -> str:
        assert main(shlex.split(command)[1:]) == 0
        return capsys.readouterr().out

    assert "No pair has been judged yet" in said(first)
    said(write)
    facts = json.loads(Path("judge.html").read_text().partition('id="facts">')[2].partition("</script>")[0])
    truth = Truth()
    with Path("pairs.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["url", "other", "answer"])
        for pair in facts["pairs"]:
            relation = truth.relation(pair["url"], pair["other"]).expected
            writer.writerow([pair["url"], pair["other"], "different" if relation == "different" else "same"])
    # At three seconds per pair, about five minutes.
    assert 20 < len(facts["pairs"]) <= 120
    advice = said(last)
    (setting,) = re.findall(r"^  SIMHASH_MIN_SIMILARITY = (\S+)$", advice, flags=re.MULTILINE)
    assert EDGES[0] <= float(setting) <= Config.min_similarity
    shown = next(block.text for block in blocks(page, "text")).partition(" in settings")[0]
    assert shown.partition(",")[0] in advice


def repeats(item: dict[str, Any]) -> bool:
    """Return whether the page of an item is a near-duplicate; revisits have a result too."""
    return bool(item["near_duplicate"] and item["near_duplicate"]["duplicate_of"])
