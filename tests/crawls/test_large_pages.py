"""Large pages are read in a thread, without any other difference, on every kind of event loop."""

import sys
from pathlib import Path

import pytest

from tests.crawls.harness import IN_THREADS, Crawl, Plan, crawl_each, scrapy
from tests.crawls.site import Routes, Site, article, large
from tests.crawls.test_reactors import REACTORS

PAGES: Routes = {
    "/small": article(0),
    "/large": large(0),
}


@pytest.fixture(scope="module", params=REACTORS)
def reactor(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def crawls(site: Site, reactor: str) -> dict[str, Crawl]:
    one_and_a_late_one = {"urls": site.urls("/large"), "late": site.url("/small")}
    plans = {
        "one large": Plan("SlowReader", {}, one_and_a_late_one),
        # All pages count as large.
        "two large": Plan("SlowReader", {"EXTENSIONS": IN_THREADS}, one_and_a_late_one),
        "closing": Plan("SlowReader", {}, {**one_and_a_late_one, "closes": True}),
    }
    crawls = crawl_each(plans, reactor=reactor)
    assert {name: done.complaints for name, done in crawls.items()} == {name: [] for name in crawls}
    return crawls


@pytest.mark.parametrize("name", ["one large", "two large"])
def test_the_crawl_goes_on_while_a_large_page_is_read(crawls: dict[str, Crawl], name: str) -> None:
    done = crawls[name]
    # The page requested while the large page is read is downloaded, judged and parsed before the reading
    # ends.
    assert done.notes == ["meanwhile", "/small", "/large"]
    assert [item["path"] for item in done.items] == ["/small", "/large"]
    assert done.verdicts == {"/small": "new", "/large": "new"}


def test_a_crawl_closed_during_a_reading_loses_no_page(crawls: dict[str, Crawl]) -> None:
    done = crawls["closing"]
    assert done.stats["finish_reason"] == "enough"
    assert done.notes[0] == "meanwhile"
    assert done.paths_scraped == ["/large", "/small"]
    assert done.verdicts["/large"] == "new"
    assert done.stat("processed") == 2
    assert "2 pages compared" in done.log("INFO", "scrapy_simhash")[-1]


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal there")
def test_a_crawl_interrupted_during_a_reading_ends_cleanly(site: Site, reactor: str, tmp_path: Path) -> None:
    setting = {
        "asyncio": "TWISTED_REACTOR=twisted.internet.asyncioreactor.AsyncioSelectorReactor",
        "select": "TWISTED_REACTOR=twisted.internet.selectreactor.SelectReactor",
        "none": "TWISTED_REACTOR_ENABLED=False",
    }[reactor]
    spider = f"""
from tests.crawls.spiders import SlowReader

class Interrupted(SlowReader):
    custom_settings = {{"ADDONS": {{"scrapy_simhash.Addon": 500}}, "TELNETCONSOLE_ENABLED": False}}

    def __init__(self, **arguments):
        super().__init__(urls=["{site.url("/large")}"], **arguments)
"""
    (tmp_path / "interrupted.py").write_text(spider)
    done = scrapy("runspider", "interrupted.py", "-s", setting, "-o", "-:jsonlines", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == '{"path": "/large"}\n'
    assert "Spider closed (shutdown)" in done.stderr
    assert "1 page compared, 1 new" in done.stderr
    for trouble in ("Traceback", "ERROR", "Error while", "never awaited", "Unhandled", "destroyed"):
        assert trouble not in done.stderr
