"""The overview of a crawl: its counts, and its page in a real browser, from a file and during a crawl."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from magazine.server import in_thread

from scrapy_simhash.cli.report import page_of
from scrapy_simhash.view import overview, serving
from scrapy_simhash.view.overview import Overview
from tests.browser import Reader
from tests.cli.test_main import AS_IN_A_TERMINAL
from tests.commands import Cli
from tests.crawls.harness import IN_ORDER, crawl_one
from tests.crawls.site import Routes, article, serve

SITE = "https://example.com"


def line(path: str, of: str | None = None, **values: Any) -> dict[str, Any]:
    status = "new" if of is None else "near_duplicate"
    url = f"{SITE}{path}" if path.startswith("/") else path
    return {"url": url, "status": status, "duplicate_of": of and f"{SITE}{of}", "hints": [], **values}


def crawl() -> Iterator[dict[str, Any]]:
    """Yield a report with lines for each section of the page."""
    for number in range(40):
        time = f"2026-09-21T14:{number:02}:00Z"
        yield line(f"/boats/{number}", time=time, cluster=2 * number, referer=f"{SITE}/")
        miss = {"url": f"{SITE}/boats/{number}", "distance": 9, "similarity": 0.7, "threshold": number / 60}
        yield line(f"/towns/{number}", time=time, cluster=2 * number + 1, near_miss=miss)
        for value in range(1 + number % 4):
            like = {"distance": 2, "similarity": 0.9, "threshold": 0.82 + value / 20, "action": "drop_page"}
            yield line(f"/boats/{number}?session={value}", f"/boats/{number}", time=time, exact=False, **like)
    for number in range(120):
        same = {"exact": True, "threshold": 1.0, "protected": "listing", "action": "mark"}
        yield line(f"/members/{number}", "/boats/1", time="2026-09-21T14:59:00Z", **same)
    yield {**line("/tides.pdf", time="2026-09-21T14:59:00Z"), "status": "skipped", "reason": "not_html"}
    yield {**line("/boats/2", time="2026-09-21T14:59:00Z"), "status": "revisit", "reason": "unchanged"}
    yield line("/found", time="2026-09-21T14:59:00Z", referer=f"{SITE}/members/1")


def facts_of(lines: Iterator[dict[str, Any]]) -> dict[str, Any]:
    counts = Overview()
    for one in lines:
        counts.add(one)
    return counts.as_dict()


def test_the_counts_equal_those_of_the_lines() -> None:
    facts = facts_of(crawl())
    lines = list(crawl())
    copies = [one for one in lines if one["duplicate_of"]]
    assert (facts["pages"], facts["near_duplicates"], facts["identical"]) == (len(lines), len(copies), 120)
    assert facts["clusters"] == len({one["duplicate_of"] for one in copies}) == 40
    assert facts["action"] == {"mark": 120, "drop_page": 100}
    largest = facts["largest_clusters"][0]
    assert (largest["first"], largest["pages"], largest["identical"]) == (f"{SITE}/boats/1", 123, 120)
    rows = {row["pattern"]: (row["pages"], row["near_duplicates"]) for row in facts["url_patterns"]}
    assert rows["example.com/boats/{number}?session"] == (100, 100)
    assert rows["example.com/boats/{number}"] == (41, 0)
    assert (facts["start"], facts["end"]) == ("2026-09-21T14:00:00Z", "2026-09-21T14:59:00Z")
    # The pairs nearest to the threshold, on both sides.
    near, miss = (
        [pair["threshold"] for pair in facts["doubtful"] if pair["is_near_duplicate"] is is_near]
        for is_near in (True, False)
    )
    assert near == [0.82] * 6
    assert miss == [pytest.approx(number / 60) for number in range(39, 33, -1)]


def test_the_least_similar_page_of_a_cluster_is_among_the_shown_pages() -> None:
    likes = [0.99, 0.98, 0.97, 0.96, 0.83, 0.95]
    (cluster,) = facts_of(line(f"/{like}", "/a", threshold=like) for like in likes)["largest_clusters"]
    assert [member["threshold"] for member in cluster["members"]] == [0.83, 0.95, 0.96]


def test_findings_are_described_in_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    told = "\n".join(facts_of(crawl())["findings"])
    assert f"123 URLs returned nearly the same page, 55% of all near-duplicates: {SITE}/boats/1." in told
    assert "100 of 100 pages at example.com/boats/{number}?session are near-duplicates." in told
    assert f"may be linked only from near-duplicates: 1, for example {SITE}/found." in told
    monkeypatch.setattr(overview, "LATEST_PAGES", 100)
    assert "Only 1 of the last 100 pages were new." in "\n".join(facts_of(crawl())["findings"])


HOSTILE = [
    "<script>document.title='run'</script>",
    "https://example.com/\"onmouseover=\"document.title='run'",
    "javascript:document.title='run'",
    "https://example.com/\u202egnp.elif",
    "https://example.com/\u2067\u0000\u001b[2J\ud800\U000e0041",
    "https://example.com/" + "word" * 500_000,
    "https://example.com/</title></style></script></table></main><h1>x",
    "https://example.com/\u05d0\u05d1\u05d2/" + "\u0300" * 500,
    "https://example.com/?" + "&".join(f"<b>{number}=1" for number in range(10)),
]


def hostile() -> Iterator[dict[str, Any]]:
    for number, url in enumerate(HOSTILE):
        values = dict.fromkeys(("referer", "reason", "action", "protected"), url)
        other = HOSTILE[number - 1]
        yield {"url": other, "status": url, "near_miss": {"url": url, "threshold": 0.5}, **values}
        yield {"url": url, "status": "near_duplicate", "duplicate_of": other, "threshold": 0.9, **values}
        yield {"url": url + "2", "status": "near_duplicate", "duplicate_of": other, "exact": True, **values}


def write(path: Path, lines: Iterator[dict[str, Any]]) -> None:
    with path.open("a") as file:
        file.writelines(f"{json.dumps(one)}\n" for one in lines)


def page_at(report: Path, command: Cli) -> Path:
    out = report.with_suffix(".html")
    assert command("report", report, "--html", out) == ""
    return out


def shown_rows(reader: Reader) -> list[str]:
    rows: list[str] = reader.page.eval_on_selector_all(
        "#clusters-table tbody > tr", "rows => rows.map(row => row.querySelector('summary').textContent)"
    )
    return rows


OPEN_ALL = """async () => {
    for (let closed = [1]; closed.length;) {
        closed = document.querySelectorAll("details:not([open])");
        closed.forEach(one => { one.open = true });
        await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
    }
}"""


def test_the_page_of_a_report_in_a_browser(reader: Reader, tmp_path: Path, command: Cli) -> None:
    report = tmp_path / "report.jsonl"
    write(report, crawl())
    reader.open(str(page_at(report, command)))
    headings = reader.page.eval_on_selector_all("h2", "all => all.map(one => one.textContent)")
    assert headings == [
        *("Findings", "Doubtful pairs", "Clusters", "Decisions", "Where near-duplicates come from"),
    ]
    assert len(everything := shown_rows(reader)) == 40
    reader.page.fill("#search", "boats/17 session")
    assert shown_rows(reader) == [f"{SITE}/boats/17"]
    assert reader.page.text_content(".search output") == "1 of 40 clusters"
    reader.page.fill("#search", "")
    assert shown_rows(reader) == everything
    pages = "#clusters-table tbody:first-of-type > tr > td:first-child"
    for direction in ("descending", "ascending"):
        reader.page.click("#clusters-table th:has-text('pages') button")
        counts = reader.page.eval_on_selector_all(pages, "all => all.map(one => Number(one.textContent))")
        assert counts == sorted(counts, reverse=direction == "descending")
        assert reader.page.get_attribute("#clusters-table th", "aria-sort") == direction
    row = reader.page.locator("#clusters-table tbody > tr", has_text=f"{SITE}/boats/33")
    row.locator("summary").first.click()
    row.locator("li").first.wait_for()
    assert row.locator("mark").first.inner_text() == "?session=0"
    row.locator("summary").last.click()
    assert (
        row.locator("code").inner_text()
        == f"scrapy-simhash compare {SITE}/boats/33 '{SITE}/boats/33?session=0'"
    )
    reader.page.evaluate(OPEN_ALL)
    assert reader.faults() == []


def test_urls_cannot_run_scripts_or_break_the_page(reader: Reader, tmp_path: Path, command: Cli) -> None:
    report = tmp_path / "report.jsonl"
    write(report, hostile())
    out = page_at(report, command)
    assert out.read_bytes().isascii()
    assert out.stat().st_size < 1_000_000
    reader.open(str(out))
    reader.page.evaluate(OPEN_ALL)
    assert reader.faults() == []
    assert reader.page.title() == "Crawl report"
    text = reader.page.text_content("main")
    assert "<script>document.title='run'</script>" in text
    assert "\\u{202e}gnp.elif" in text
    assert all(sign.isprintable() or sign == "\n" for sign in text)
    schemes = reader.page.eval_on_selector_all("a", "all => [...new Set(all.map(one => one.protocol))]")
    assert schemes == ["https:"]


# --- The served page.


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "report.jsonl"
    path.touch()
    return path


@pytest.fixture
def served(report: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [sys.executable, "-c", AS_IN_A_TERMINAL, sys.executable, "-m", "scrapy_simhash"]
    command += ["report", str(report), "--serve"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            assert said.startswith(f"serving {report} at http://127.0.0.1:")
            yield said.split()[3].rstrip("/"), process
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        finally:
            process.kill()


def asked(
    url: str, path: str = "/data.json", method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], str]:
    connection = HTTPConnection(urlsplit(url).netloc, timeout=20)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read().decode("ascii")
    connection.close()
    return answer.status, dict(answer.getheaders()), body


ROUTES: Routes = {"/": article(0), "/print": article(0), "/other": article(1)}


def test_a_report_is_followed_during_and_after_the_crawl(report: Path, served: tuple[str, Any]) -> None:
    url, _ = served
    assert json.loads(asked(url)[2])["pages"] == 0
    with serve(ROUTES) as site:
        settings = {**IN_ORDER, "SIMHASH_REPORT": str(report), "ROBOTSTXT_OBEY": False}
        done = crawl_one("spiders.Visitor", settings, urls=site.urls(*ROUTES))
    assert done.complaints == []
    facts = json.loads(asked(url)[2])
    assert (facts["pages"], facts["status"]) == (3, {"new": 2, "near_duplicate": 1})
    # An incomplete line is not read, and a file that starts again is counted again.
    with report.open("a") as file:
        file.write('{"url": "https://example.com/half", ')
    assert json.loads(asked(url)[2])["pages"] == 3
    with report.open("a") as file:
        file.write('"status": "new"}\noops\n')
    facts = json.loads(asked(url)[2])
    assert (facts["pages"], facts["bad_lines"]) == (4, {"count": 1, "lines": [5]})
    report.write_text('{"url": "https://example.com/again", "status": "new"}\n' * 100)
    assert json.loads(asked(url)[2])["pages"] == 100


def test_only_local_host_names_get_a_response(served: tuple[str, Any]) -> None:
    url, _ = served
    place = urlsplit(url)
    for host, status in (("localhost", 200), ("127.0.0.1:1", 200), ("[::1]:80", 200)):
        assert asked(url, Host=host)[0] == status
    for host in ("example.com", "127.0.0.1.example.com", "localhost.example.com", "", "[::1", "10.0.0.1"):
        assert asked(url, Host=host)[0] == 403
    assert asked(url, "/../../etc/passwd")[0] == 404
    assert asked(url, method="POST")[0] == 501
    headers = asked(url, "/")[1]
    assert "script-src 'sha256-" in headers["Content-Security-Policy"]
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    # Clients that are silent or do not speak HTTP do not block others.
    silent = [socket.create_connection((place.hostname or "", place.port or 0)) for _ in range(30)]
    silent[0].sendall(b"\x16\x03\x01\x02\x00")
    assert asked(url)[0] == 200
    for one in silent:
        one.close()


def test_a_port_in_use_and_a_missing_report_are_errors(
    report: Path, served: tuple[str, Any], command: Cli
) -> None:
    port = urlsplit(served[0]).port
    status, message = command.fails("report", report, "--serve", port)
    assert (status, message) == (1, f"cannot listen on 127.0.0.1:{port}: {os.strerror(98)}")
    status, message = command.fails("report", report.with_name("none.jsonl"), "--serve")
    assert (status, message) == (2, f"--serve needs a report in a file, got {report.with_name('none.jsonl')}")


def test_a_browser_follows_the_report_and_keeps_its_state(
    tab: Any, report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "REFRESH", 0.1)
    growing = serving.GrowingReport(report, page_of)
    with in_thread(serving.ReportServer(growing, 0)) as server:
        reader = Reader(tab, server.url)
        tab.goto(server.url)
        assert "The report has no pages yet." in tab.text_content("body")
        pairs = (
            line(f"/{number // 2}{'?copy' * (number % 2)}", f"/{number // 2}" if number % 2 else None)
            for number in range(70)
        )
        write(report, (next(pairs) for _ in range(20)))
        tab.wait_for_selector("#clusters-table tbody tr")
        tab.fill("#search", "/3")
        tab.click("#clusters-table tbody summary")
        write(report, pairs)
        tab.wait_for_selector("text=6 of 35 clusters")
        assert tab.input_value("#search") == "/3"
        opened = "#clusters-table td > details[open] > summary"
        assert tab.eval_on_selector_all(opened, "all => all.map(one => one.textContent)") == [f"{SITE}/3"]
        assert reader.faults() == []
    tab.wait_for_selector("text=The server was stopped.")
    assert tab.input_value("#search") == "/3"
