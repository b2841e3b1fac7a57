"""The documented behaviour of stores and revisits, in crawls of one project."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("redis")
from magazine.server import SiteServer, serving
from redis import Redis

from scrapy_simhash import Config, StoreUnavailable
from scrapy_simhash.crawl.store_session import StoreSession
from tests.docs.reader import DOCS, ROOT, blocks, words
from tests.docs.test_crawls import IN_ORDER, LOG_PAGE, NO_WAIT, SHOWN, Run, feed, forked
from tests.stand_in import stand_in
from tests.store.server import RedisServer

STORES = DOCS / "how-to" / "stores.rst"
AGAIN = DOCS / "how-to" / "crawl-again.rst"
#: The folder of the project in the docs.
PLACE = "/srv/archive"

SETTINGS = """
ADDONS = {"scrapy_simhash.Addon": 500}
SPIDER_MODULES = ["archive.spiders"]
SIMHASH_RESULT_FIELD = "near_duplicate"
"""
SPIDER = f"""
import scrapy


class PagesSpider(scrapy.Spider):
    name = "pages"
    start_urls = ["{SHOWN}/boats/night-pilot", "{SHOWN}/print/night-pilot", "{SHOWN}/boats"]

    def parse(self, response):
        yield {{"url": response.url}}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with serving() as started:
        yield started


class Project(NamedTuple):
    """The folder of a project in which crawls run in sequence."""

    folder: Path
    server: SiteServer

    def crawl(self, *settings: str, fails: bool = False) -> Run:
        given = [word for setting in settings for word in ("-s", setting)]
        return forked(
            *(self.folder, self.server, "crawl", "pages", "-O", "items.jsonl"),
            *(*given, *NO_WAIT, *IN_ORDER),
            fails=fails,
        )

    @property
    def items(self) -> dict[str, dict[str, Any]]:
        """The items of the last crawl by their URL."""
        return feed(self.folder / "items.jsonl", self.server)

    def set(self, settings: str) -> None:
        with (self.folder / "archive" / "settings.py").open("a", encoding="utf-8") as file:
            file.write(settings)


@pytest.fixture
def project(tmp_path: Path, server: SiteServer) -> Project:
    (tmp_path / "archive").mkdir()
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = archive.settings\n", "utf-8")
    (tmp_path / "archive" / "settings.py").write_text(SETTINGS, "utf-8")
    (tmp_path / "archive" / "spiders.py").write_text(SPIDER.replace(SHOWN, server.url), "utf-8")
    return Project(tmp_path, server)


def shown(page: Path, of: Path) -> str:
    """Return the text of *page* with the documented folder replaced by that of the project."""
    return words(page.read_text("utf-8")).replace(PLACE, str(of.resolve()))


def test_a_folder_has_the_documented_files(project: Project) -> None:
    (settings, *_) = blocks(STORES, "python")
    project.set(settings.text)
    project.crawl()
    assert (project.folder / "simhash" / "pages.sqlite").is_file()
    log = project.crawl().log
    (kept,) = re.findall(r"store: .+ \(\d+ pages known\)", log)
    for page in (STORES, LOG_PAGE):
        assert re.sub(r"\d+ pages known", "1024 pages known", kept) in shown(page, project.folder)
    assert {item["near_duplicate"]["reason"] for item in project.items.values()} == {"unchanged"}
    stopped = project.crawl("SIMHASH_MIN_SIMILARITY=0.9", fails=True).log
    (message,) = re.findall(r"scrapy_simhash\.exceptions\.StoreMismatch: .+", stopped)
    assert message in shown(LOG_PAGE, project.folder)
    (reset,) = re.findall(r"-s (SIMHASH_RESET=\w+)", STORES.read_text("utf-8"))
    assert "(0 pages known, SIMHASH_RESET is True)" in project.crawl("SIMHASH_MIN_SIMILARITY=0.9", reset).log


def test_an_incremental_crawl_keeps_only_new_pages(project: Project) -> None:
    (settings, *_) = blocks(AGAIN, "python")
    project.set(settings.text)
    project.crawl()
    assert len(project.items) == 3
    project.crawl()
    assert project.items == {}


def test_the_documented_store_keeps_its_pages(project: Project) -> None:
    module = (ROOT / "example_project" / "own_store.py").read_text("utf-8")
    (settings,) = (block for block in blocks(STORES, "python") if "myproject" in block.text)
    path = project.folder / "myproject" / "stores.py"
    path.parent.mkdir()
    path.write_text(module, "utf-8")
    project.set(settings.text)
    first, again = project.crawl().log, project.crawl().log
    assert "store: the file pages.pickle (0 pages known)" in first
    assert "store: the file pages.pickle (3 pages known)" in again
    assert {item["near_duplicate"]["reason"] for item in project.items.values()} == {"unchanged"}
    stopped = project.crawl("SIMHASH_SCOPE=host", fails=True).log
    assert "StoreMismatch: the file pages.pickle holds fingerprints" in stopped


def test_the_log_page_shows_the_log_of_an_outage(caplog: pytest.LogCaptureFixture) -> None:
    page = words(LOG_PAGE.read_text("utf-8"))
    session = StoreSession(stand_in(), Config())
    with caplog.at_level(logging.INFO, "scrapy_simhash"):
        for _ in range(12):
            session.failed(StoreUnavailable("..."))
        session.answered()
    assert len(caplog.messages) == 2
    assert all(message in page for message in caplog.messages)


@pytest.mark.parametrize("caption", ["redis.conf", "redis.conf of each node"])
def test_the_server_accepts_the_documented_configuration(caption: str, tmp_path: Path) -> None:
    found = blocks(STORES, "text")
    (block,) = (block for block in found if block.caption == caption)
    options: dict[str, str] = dict(line.split() for line in block.text.splitlines())
    given: dict[str, Any] = {name.replace("-", "_"): value for name, value in options.items()}
    with (
        RedisServer(tmp_path, **given) as server,
        Redis.from_url(server.url, decode_responses=True) as client,
    ):
        assert {name: client.config_get(name)[name] for name in options} == options
