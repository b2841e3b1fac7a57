"""The command in a Scrapy project, with the project's settings and spiders."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.store.sqlite import SqliteStore
from tests.cli.example_files import feed
from tests.crawls.harness import ENABLED, forked, make_project, scrapy
from tests.crawls.site import article, serve
from tests.store.server import RedisServer

SPIDER = """
import scrapy

class TidesSpider(scrapy.Spider):
    name = "tides"
    custom_settings = {{"SIMHASH_SCOPE": "host"}}
    start_urls = {urls}

    def parse(self, response):
        yield {{"url": response.url, "html": response.text}}
"""
OTHER_SPIDER = """
class WindsSpider(scrapy.Spider):
    name = "winds"
"""
#: Identifies pages by the path of the URL.
OWN = """
from urllib.parse import urlsplit
from scrapy_simhash.store.sqlite import SqliteStore

class ByPath:
    def fingerprint(self, request):
        return urlsplit(request.url).path.encode()

class OwnStore(SqliteStore):
    @classmethod
    def from_crawler(cls, crawler, header):
        return cls(header=header)
"""
A = [{"url": "https://example.com/a", "html": article(1)}]


def project(folder: Path, *, urls: Sequence[str] = (), **settings: Any) -> None:
    """Make a Scrapy project with one spider."""
    make_project(folder, **ENABLED, **{"SPIDER_MODULES": ["tides"], "SIMHASH_STORE": "./seen", **settings})
    (folder / "own.py").write_text(OWN, "utf-8")
    (folder / "tides.py").write_text(SPIDER.format(urls=urls), "utf-8")


def simhash(folder: Path, *arguments: str) -> str:
    """Run a command that succeeds, and return its output."""
    done = forked("-m", "scrapy_simhash", *arguments, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refused(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run a command that fails, and return its status and message."""
    done = forked("-m", "scrapy_simhash", *arguments, cwd=folder)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    return done.returncode, done.stderr.removeprefix("scrapy-simhash: ").rstrip("\n")


def test_pages_of_a_crawl_are_shown_exported_and_merged(tmp_path: Path) -> None:
    routes = {"/ferry": article(1), "/ferry/print": article(1), "/pilot": article(2)}
    with serve(routes) as site:
        project(tmp_path, urls=[site.url(path) for path in routes])
        done = scrapy("crawl", "tides", "-O", "items.jsonl", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    # The only spider, its name, and its file.
    file = tmp_path / "seen" / "tides.sqlite"
    infos = [json.loads(simhash(tmp_path, "info", *place, "--json")) for place in ([], [str(file)])]
    assert infos[0] == infos[1]
    assert (infos[0]["place"], infos[0]["pages"], infos[0]["clusters"]) == (str(file), 3, 1)
    assert infos[0]["settings"]["SIMHASH_SCOPE"] == "host"
    assert infos[0]["runs"][0]["reason"] == "finished"
    # Importing the items of the crawl gives the pages of the crawl.
    counted = simhash(tmp_path, "import", "tides", "items.jsonl", "--html-field", "html")
    assert counted == "pages: 3, new: 0, near-duplicates: 0, revisits: 3, short: 0\n"
    simhash(tmp_path, "export", "-o", "seen.jsonl")
    simhash(tmp_path, "import", "copy.sqlite", "seen.jsonl")
    with closing(SqliteStore(tmp_path / "copy.sqlite", read_only=True)) as copy:
        assert (len(copy), copy.index_size, copy.header.scope) == (3, 2, "host")


def test_settings_of_the_command_override_those_of_the_project(tmp_path: Path) -> None:
    project(tmp_path)
    source = feed(tmp_path, A)
    settings = ["-s", "SIMHASH_STORE=./elsewhere", "--set", "SIMHASH_MIN_SHINGLES=20"]
    simhash(tmp_path, "import", "tides", source, "--html-field", "html", *settings)
    with closing(SqliteStore(tmp_path / "elsewhere/tides.sqlite", read_only=True)) as store:
        assert (len(store), store.header.min_shingles, store.header.scope) == (1, 20, "host")


def test_the_reset_setting_applies_only_to_crawls(tmp_path: Path) -> None:
    project(tmp_path, SIMHASH_RESET=True)
    for number in (1, 2):
        source = feed(tmp_path, [{"url": f"https://example.com/{number}", "html": article(number)}])
        simhash(tmp_path, "import", "tides", source, "--html-field", "html")
    assert json.loads(simhash(tmp_path, "info", "--json"))["pages"] == 2


def test_keys_of_pages_use_the_fingerprinter_of_the_project(tmp_path: Path) -> None:
    project(tmp_path, REQUEST_FINGERPRINTER_CLASS="own.ByPath")
    pages = [{"url": f"https://{host}.example/a", "html": article(1)} for host in ("one", "two")]
    counted = simhash(tmp_path, "import", "tides", feed(tmp_path, pages), "--html-field", "html")
    assert counted.startswith("pages: 2, new: 1, near-duplicates: 0, revisits: 1, ")
    # The import also works with a named file, which belongs to no spider.
    counted = simhash(tmp_path, "import", "a.sqlite", feed(tmp_path, pages), "--html-field", "html")
    assert counted.startswith("pages: 2, new: 1, near-duplicates: 0, revisits: 1, ")
    with closing(SqliteStore(tmp_path / "a.sqlite", read_only=True)) as store:
        assert store.header.scope == "crawl"
        assert [posting.key for posting in store] == [b"/a"]


def test_the_store_of_a_spider_in_redis_is_the_one_in_its_url(shared: RedisServer, tmp_path: Path) -> None:
    project(tmp_path, SIMHASH_STORE=shared.url)
    source = feed(tmp_path, A)
    simhash(tmp_path, "import", "tides", source, "--html-field", "html")
    infos = json.loads(simhash(tmp_path, "info", "tides", "--json"))
    assert (infos["pages"], infos["place"]) == (1, f"{shared.url}?prefix=simhash:tides")
    assert infos == json.loads(simhash(tmp_path, "info", infos["place"], "--json"))


def test_one_of_several_spiders_must_be_named(tmp_path: Path) -> None:
    project(tmp_path)
    with (tmp_path / "tides.py").open("a") as file:
        file.write(OTHER_SPIDER)
    assert refused(tmp_path, "info") == (
        2,
        "no store given: name a store, or a spider of this project (tides, winds)",
    )
    place = tmp_path / "seen" / "winds.sqlite"
    assert refused(tmp_path, "info", "winds") == (1, f"no such store: {place}")
    neither = (
        "'gales' is neither a spider of this project (tides, winds) nor a file. To create a file of"
        " that name, write ./gales"
    )
    assert refused(tmp_path, "info", "gales") == (2, neither)
    source = feed(tmp_path, A)
    assert refused(tmp_path, "import", "gales", source, "--html-field", "html") == (2, neither)
    assert not (tmp_path / "gales").exists()
    assert refused(tmp_path, "info", "./gales") == (1, "no such store: gales")


@pytest.mark.parametrize(
    ("settings", "line", "complaint"),
    [
        (
            {"SIMHASH_STORE": "own.OwnStore"},
            "",
            "spider 'tides' has a store of the class own.OwnStore, but commands read only SQLite and Redis",
        ),
        (
            {"SIMHASH_STORE": None},
            "",
            "spider 'tides' has no persistent store: set SIMHASH_STORE or JOBDIR, or name a store",
        ),
        (
            {"SIMHASH_MIN_SIMILARITY": 3},
            "",
            "SIMHASH_MIN_SIMILARITY must be a number above 0 and at most 1, got 3",
        ),
        ({}, "settings.py: oops(", "the settings of this Scrapy project cannot be loaded: SyntaxError: "),
        ({}, "tides.py: 1 / 0", "the spiders of this Scrapy project cannot be loaded: ZeroDivisionError"),
    ],
)
def test_a_project_without_a_readable_store_is_refused_in_one_sentence(
    settings: dict[str, Any], line: str, complaint: str, tmp_path: Path
) -> None:
    project(tmp_path, **settings)
    file, _, wrong = line.partition(": ")
    if wrong:
        with (tmp_path / file).open("a") as opened:
            opened.write(wrong)
    status, message = refused(tmp_path, "info", "tides")
    assert (status, message.startswith(complaint)) == (2, True), message
