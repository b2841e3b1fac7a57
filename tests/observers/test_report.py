"""The report as a file: its lines, and errors when writing it."""

from __future__ import annotations

import json
import os
import re
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse

from scrapy_simhash import Config, PageFingerprinter, Reason, SettingError, Status, Verdict
from scrapy_simhash.action import Action
from scrapy_simhash.crawl.marks import write_result
from scrapy_simhash.crawling import Page
from scrapy_simhash.judge.policy import Decision, Protection
from scrapy_simhash.observers.output_file import line_of
from scrapy_simhash.observers.report import Report
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.verdict import NearMiss
from tests.docs.reader import DOCS, sections
from tests.stand_in import simhash_stats, stand_in

URL = "https://example.com/a?print=1"
NEW = Verdict(Status.NEW, Fingerprint(1), cluster=4, rank=0)
COPY = Verdict(
    Status.NEAR_DUPLICATE,
    Fingerprint(3),
    duplicate_of="https://example.com/a",
    distance=1,
    similarity=0.98046875,
    cluster=4,
    rank=1,
    is_exact=False,
    hints=("canonical", "address"),
)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def report_at(path: Path | str, job: str | None = None) -> Report:
    """Return the report at *path* of a crawl with the JOBDIR *job*."""
    crawler = stand_in()
    crawler.settings.set("JOBDIR", job)
    return Report(crawler, Config(report=str(path)))


def written_by(path: Path, *lines_: dict[str, Any]) -> list[dict[str, Any]]:
    report = report_at(path)
    report.spider_opened()
    for line in lines_:
        report.write(line)
    report.spider_closed()
    return lines(path)


def line(
    verdict: Verdict, url: str = URL, decision: Decision | None = None, **request: Any
) -> dict[str, Any]:
    """Return the line about a page that is compared now."""
    page = Page(Request(url, **request), HtmlResponse(url), PageFingerprinter(Config()), verdict)
    if decision is not None:
        page.action, page.protected, page.dropped_as = decision
    write_result(page)
    return line_of(page)


def test_a_line_has_all_data_about_a_page() -> None:
    decision = Decision(Action.DROP_ITEMS | Action.DROP_LINKS, Protection.START, "near_duplicate")
    made = line(COPY, decision=decision, meta={"depth": 2}, headers={"Referer": "https://example.com/"})
    assert made == {
        "url": URL,
        **COPY.to_dict(),
        "action": "drop_items,drop_links",
        "dropped_as": "near_duplicate",
        "protected": "start",
        "change": None,
        "http_status": 200,
        "depth": 2,
        "referer": "https://example.com/",
        "time": made["time"],
    }


def test_a_key_without_a_value_is_null(tmp_path: Path) -> None:
    near_miss = NearMiss("https://example.com/a", 5, 0.71249, 0.712, "title", 0.95)
    revisit = Verdict(Status.REVISIT, reason=Reason.UNCHANGED, last_seen=1_790_000_000, near_miss=near_miss)
    (made,) = written_by(tmp_path / "report.jsonl", line(revisit))
    assert list(made) == list(line(COPY))
    assert {key: value for key, value in made.items() if value not in (None, [])} == {
        "url": URL,
        "status": "revisit",
        "reason": "unchanged",
        "last_seen": "2026-09-21T14:13:20Z",
        "delivered": False,
        "near_miss": {**near_miss._asdict(), "similarity": 0.712},
        "http_status": 200,
        "depth": 0,
        "time": made["time"],
    }


def test_the_keys_are_exactly_the_documented_ones() -> None:
    parts = sections(DOCS / "reference" / "results.rst")
    result = re.findall(r"^``(\w+)``$", parts["``simhash_result``"], flags=re.MULTILINE)
    keys = parts["The report"].partition("A line has the")[2].partition("(ISO 8601")[0]
    url, _, *beside = re.findall(r"``(\w+)``", keys)
    assert [url, *result, *beside] == list(line(COPY))


def test_a_url_with_lone_surrogates_is_written(tmp_path: Path) -> None:
    report = report_at(tmp_path / "report.jsonl")
    url = "https://example.com/\udcff\n\N{GREEK SMALL LETTER ALPHA}"
    report.write(line(NEW, headers={b"Referer": b"http://\xff/"}) | {"url": url})
    report.spider_closed()
    (written,) = lines(report.file.path)
    assert (written["url"], written["referer"]) == (url, "http://\xff/")
    assert report.file.path.read_bytes().isascii()


def test_a_report_is_emptied_at_the_start_and_keeps_lines_after_the_end(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    assert len(written_by(path, line(NEW), line(COPY))) == 2
    report = report_at(path)
    # Not before the crawl starts, which may fail.
    assert len(lines(path)) == 2
    report.spider_opened()
    assert lines(path) == []
    for verdict in (NEW, COPY):
        report.write(line(verdict))
        report.spider_closed()
        report.spider_closed()
    assert [line["status"] for line in lines(path)] == ["new", "near_duplicate"]


@pytest.mark.parametrize(
    "left", [b"", b'{"url": "x"}\n', b'{"url": "x"}\n{"url": "y", "sta', b'{"url": "x"}']
)
def test_a_resumed_report_keeps_complete_lines(left: bytes, tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    path.write_bytes(left)
    report = report_at(path, "job")
    report.spider_opened()
    report.write(line(NEW))
    report.spider_closed()
    kept = path.read_bytes().splitlines()
    assert kept[:-1] == left.splitlines()[: left.count(b"\n")]
    assert json.loads(kept[-1])["url"] == URL


@pytest.mark.parametrize("name", [".", "file/report.jsonl", "a\0b"])
def test_an_output_that_cannot_be_written_is_refused_at_the_start(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match=r"^SIMHASH_REPORT must be a file that can be written, got "):
        report_at(tmp_path / name)


class Disk(BytesIO):
    """A file on a disk that is full after *room* bytes, until *room* grows."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def write(self, content: Any) -> int:
        if not self.room:
            raise OSError(28, "No space left on device")
        count = super().write(content[: self.room])
        self.room -= count
        return count


def test_a_full_disk_is_logged_once_and_counted_and_no_line_is_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    crawler = stand_in()
    report = Report(crawler, Config(report=str(tmp_path / "report.jsonl")))
    report.spider_opened()
    disk = Disk(room=100)
    report.file.close()
    report.file._file = disk  # type: ignore[assignment]
    for _ in range(3):
        report.write(line(NEW))
    assert simhash_stats(crawler) == {"errors/report": 3}
    disk.room = 10_000
    report.write(line(COPY))
    # Lines are kept until there is space.
    found = [json.loads(each)["status"] for each in disk.getvalue().splitlines()]
    assert found == ["new", "new", "new", "near_duplicate"]
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage() == (
        f"Cannot write the report {report.file.path}: [Errno 28] No space left on device. The crawl continues;"
        " lines are written later if possible, and failures are counted in the stat simhash/errors/report"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="a thing of POSIX")
def test_a_pipe_gets_the_lines(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reading = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    report = report_at(tmp_path / "pipe")
    report.spider_opened()
    report.write(line(NEW))
    report.write(line(COPY))
    report.spider_closed()
    try:
        assert len(os.read(reading, 100_000).splitlines()) == 2
    finally:
        os.close(reading)
