"""The page about a crawl in a real browser: it says what it must, whatever a site has put into its URLs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.cli.main import main
from scrapy_simhash.view.overview import Overview
from scrapy_simhash.view.overview_page import overview_lines
from tests.browser import Reader
from tests.cli.example_files import write_example_files

SITE = "https://example.com"
PHONE, LAPTOP = 360, 1280
SCHEMES = ("light", "dark")


def line(path: str, of: str | None = None, **values: Any) -> dict[str, Any]:
    status = "new" if of is None else "near_duplicate"
    url = f"{SITE}{path}" if path.startswith("/") else path
    return {"url": url, "status": status, "duplicate_of": of and f"{SITE}{of}", "hints": [], **values}


def crawl() -> Iterator[dict[str, Any]]:
    """Yield a report with something for each section of the page."""
    for number in range(40):
        time = f"2026-09-21T14:{number:02}:00Z"
        yield line(f"/boats/{number}", time=time, cluster=2 * number, referer=f"{SITE}/")
        miss = {"url": f"{SITE}/boats/{number}", "distance": 9, "similarity": 0.7, "threshold": number / 60}
        yield line(f"/towns/{number}", time=time, cluster=2 * number + 1, near_miss=miss)
        like = {"distance": 2, "similarity": 0.9, "threshold": 0.88, "exact": False, "action": "drop_page"}
        for value in range(1 + number % 4):
            copy = line(f"/boats/{number}?session={value}", f"/boats/{number}", time=time, **like)
            yield {**copy, "preferred": f"{SITE}/boats/{number}"}
    for number in range(120):
        same = {"exact": True, "threshold": 1.0, "protected": "listing", "action": "mark"}
        yield line(f"/members/{number}", "/boats/1", time="2026-09-21T14:59:00Z", **same)
    yield {**line("/tides.pdf", time="2026-09-21T14:59:00Z"), "status": "skipped", "reason": "not_html"}
    yield {**line("/boats/2", time="2026-09-21T14:59:00Z"), "status": "revisit", "reason": "unchanged"}


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


def written(folder: Path, lines: Iterator[dict[str, Any]], name: str = "report.jsonl") -> Path:
    report, out = folder / name, folder / "out.html"
    report.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "ascii")
    assert main(["report", str(report), "--html", str(out)]) == 0
    return out


@pytest.fixture(scope="module")
def reader(browser: Any) -> Iterator[Reader]:
    context = browser.new_context(reduced_motion="reduce")
    yield Reader(context.new_page(), "file://", "body")
    context.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("report"), crawl())


def shown_rows(reader: Reader) -> list[str]:
    told: list[str] = reader.page.eval_on_selector_all(
        "#clusters-table > tbody > tr:not([hidden])",
        "rows => rows.map(row => row.querySelector('summary').textContent)",
    )
    return told


def test_a_page_is_shown_on_a_phone_and_in_the_dark_without_a_request(reader: Reader, report: Path) -> None:
    reader.open(str(report))
    faults = [
        fault for scheme in SCHEMES for width in (PHONE, LAPTOP) for fault in reader.faults(width, scheme)
    ]
    assert faults + reader.wrong() == []
    reader.page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true })")
    assert reader.faults(PHONE, "dark") + reader.faults(LAPTOP, "light") + reader.wrong() == []


def test_what_stands_out_is_said_in_sentences(reader: Reader, report: Path) -> None:
    reader.open(str(report))
    told = reader.page.text_content("#findings")
    assert "session on example.com changes nothing: in 100 of 100 cases" in told
    assert "123 URLs returned nearly the same page, 55% of all near-duplicates: pages like" in told


def test_nobody_is_advised_to_take_pages_for_equal_that_have_nothing_in_common(tmp_path: Path) -> None:
    overview = Overview()
    miss = {"url": "http://a.example/", "threshold": 0.0}
    overview.add({"url": "http://a.example/b", "status": "new", "near_miss": miss})
    facts = {"source": {"kind": "crawl", "name": "a"}, **overview.as_dict()}
    assert "SIMHASH_MIN_SIMILARITY</code> of" not in "".join(overview_lines(facts))


def test_search_and_keys_work(reader: Reader, report: Path) -> None:
    reader.open(str(report))
    everything = shown_rows(reader)
    assert len(everything) == 40
    reader.page.keyboard.press("/")
    reader.page.keyboard.type("boats/17 session")
    assert shown_rows(reader) == [f"{SITE}/boats/17"]
    assert reader.page.text_content(".search output") == "1 of 40 clusters"
    reader.page.keyboard.press("Escape")
    assert shown_rows(reader) == everything
    # From the field to the head of the table, and a column sorted by it.
    reader.page.keyboard.press("Tab")
    reader.page.keyboard.press("Enter")
    reader.page.keyboard.press("Enter")
    assert reader.page.get_attribute("#clusters-table th", "aria-sort") == "ascending"
    assert shown_rows(reader)[-1] == f"{SITE}/boats/1"
    # On to the first cluster, which opens.
    for _ in range(4):
        reader.page.keyboard.press("Tab")
    reader.page.keyboard.press("Enter")
    assert reader.page.evaluate("document.activeElement.parentElement.open") is True
    assert reader.wrong() == []


def test_a_bar_leads_to_its_examples(reader: Reader, report: Path) -> None:
    reader.open(str(report))
    reader.page.set_viewport_size({"width": LAPTOP, "height": 844})
    assert not reader.page.is_visible("#s88")
    reader.page.click('#similarity a[href="#s88"]', force=True)
    assert reader.page.is_visible("#s88")
    assert f"{SITE}/boats/0?session=0" in reader.page.text_content("#s88")
    targets = reader.page.eval_on_selector_all(
        "a[href^='#']",
        "links => links.filter(one => !document.querySelector(one.getAttribute('href'))).length",
    )
    assert targets == 0


def test_without_scripts_all_is_there_but_the_search(browser: Any, report: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.locator("#clusters-table summary").count() == 40
    assert not page.is_visible("#search")
    context.close()


def test_a_cluster_shows_what_differs_and_how_to_see_the_words(reader: Reader, report: Path) -> None:
    reader.open(str(report))
    row = reader.page.locator("#clusters-table > tbody > tr", has_text=f"{SITE}/boats/3?session=3")
    row.locator("summary").click()
    assert row.locator("mark").first.inner_text() == "?session=0"
    told = row.inner_text()
    assert "distance 2, similarity 0.9, a near-duplicate up to SIMHASH_MIN_SIMILARITY = 0.88" in told
    assert f"scrapy-simhash compare {SITE}/boats/3 '{SITE}/boats/3?session=0'" in told


def test_nothing_of_a_url_runs_or_breaks_the_page(reader: Reader, tmp_path: Path) -> None:
    out = written(tmp_path, hostile())
    assert out.read_bytes().isascii()
    assert out.stat().st_size < 1_000_000
    reader.open(str(out))
    reader.page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true })")
    assert reader.faults(PHONE, "light") + reader.faults(LAPTOP, "dark") + reader.wrong() == []
    assert reader.page.title() == "Crawl report"
    assert reader.page.locator("h1").count() == 1
    assert reader.page.locator("script").count() == 1
    text = reader.page.text_content("body")
    assert not {"\u202e", "\u2067", "\x1b", "\x00"} & set(text)
    assert "\\u202egnp.elif" in text
    links = reader.page.eval_on_selector_all("a:not([href^='#'])", "links => links.map(one => one.href)")
    assert links
    assert all(link.startswith("https://example.com") for link in links)


def test_a_store_says_what_it_does_not_keep(reader: Reader, tmp_path: Path) -> None:
    write_example_files(tmp_path)
    store = tmp_path / "news.sqlite"
    out = tmp_path / "out.html"
    assert main(["report", str(store), "--html", str(out)]) == 0
    reader.open(str(out))
    assert reader.page.locator("#rules tbody tr").count() == 1
    assert "parameter sid\tstage 3" in reader.page.locator("#rules tbody").inner_text()
    told = reader.page.text_content(".tiles").split()
    assert told == "Pages3 New2 67% Near-duplicates1 33% Clusters1".split()
    for section in ("similarity", "actions", "protected"):
        assert "A store does not keep this" in reader.page.text_content(f"#{section}"), section
    row = reader.page.locator("#clusters-table > tbody > tr")
    row.locator("summary").click()
    assert f"--store {store}" in row.inner_text()
    assert reader.faults(PHONE, "dark") + reader.wrong() == []


def test_an_empty_report_is_a_page_that_says_so(reader: Reader, tmp_path: Path) -> None:
    reader.open(str(written(tmp_path, iter(()))))
    assert "There are no pages in it." in reader.page.text_content("body")
    assert reader.wrong() == []


def test_a_truncated_line_is_told_on_the_page(reader: Reader, tmp_path: Path) -> None:
    report, out = tmp_path / "report.jsonl", tmp_path / "out.html"
    report.write_text(json.dumps(line("/a")) + '\n{"url": "https://exa', "ascii")
    assert main(["report", str(report), "--html", str(out)]) == 0
    reader.open(str(out))
    assert "Unreadable lines, which are left out: 1. The first is line 2." in reader.page.text_content("body")
