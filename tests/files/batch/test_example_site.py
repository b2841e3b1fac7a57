"""Sites crawled once by Scrapy and deduplicated from the stored pages have the same results."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from magazine.server import serving
from w3lib.http import headers_raw_to_dict

from scrapy_simhash.cli.main import main
from scrapy_simhash.files.records import Record, open_writer
from tests.crawls.harness import IN_ORDER, Crawl, crawl_one

pytest.importorskip("warcio")
pytestmark = pytest.mark.slow("crawls the whole example site")


class Site(NamedTuple):
    crawl: Crawl
    pages: Path
    """A file with the pages of the crawl."""


def settings_for(folder: Path) -> dict[str, Any]:
    # All links are followed, so the crawled pages do not depend on the action.
    return {
        **IN_ORDER,
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_DIR": str(folder),
        "SIMHASH_ACTION": "drop_items",
    }


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("crawl")
    with serving() as server:
        crawl = crawl_one("Magazine", settings_for(folder), urls=[server.url + "/"])
    return Site(crawl, pages_of(folder / "magazine"))


def pages_of(cache: Path) -> Path:
    """Write the pages of Scrapy's HTTP cache to a WARC file, in the order in which they were fetched."""
    entries = [(pickle.loads(meta.read_bytes()), meta.parent) for meta in cache.glob("*/*/pickled_meta")]
    path = cache.with_suffix(".warc.gz")
    with open_writer(path) as writer:
        for meta, entry in sorted(entries, key=lambda one: one[0]["timestamp"]):
            headers = headers_raw_to_dict((entry / "response_headers").read_bytes()) or {}
            found = {name.lower(): values[-1].decode("latin-1") for name, values in headers.items()}
            content_type = found.get(b"content-type", "")
            if 200 <= meta["status"] < 300 and "html" in content_type:
                body = (entry / "response_body").read_bytes()
                language = found.get(b"content-language")
                page = Record(meta["response_url"], body, str(entry), False, content_type, language)
                writer.write(replace(page, seen=int(meta["timestamp"])))
    return path


def answers_of_the_crawl(crawl: Crawl) -> dict[str, Any]:
    """Return the crawl's verdict on the first visit of each page, and whether its items were dropped."""
    answers: dict[str, Any] = {}
    for page in crawl.pages:
        marks = [page.marks.get(name) for name in ("status", "duplicate_of", "cluster", "protected")]
        answers.setdefault(page.url, (*marks, page.marks.get("action") == "drop_items"))
    return answers


def answers_for(path: Path, out: Path, *arguments: str) -> dict[str, Any]:
    """Return the verdicts of dedup for the pages at *path*."""
    assert main(["dedup", str(path), "--protect", "--mark", "-o", str(out), *arguments]) == 0
    answers = {}
    for line in out.read_text("utf-8").splitlines():
        fields = json.loads(line)
        answers[fields["url"]] = (
            fields["simhash_status"],
            fields["simhash_duplicate_of"],
            fields["simhash_cluster"],
            fields["simhash_protected"],
            not fields["simhash_kept"],
        )
    return answers


def test_stored_pages_get_the_verdicts_of_the_crawl(site: Site, tmp_path: Path) -> None:
    expected = answers_of_the_crawl(site.crawl)
    found = answers_for(site.pages, tmp_path / "out.jsonl")
    assert len(found) > 150
    assert found == {url: answer for url, answer in expected.items() if url in found}
    assert sum(dropped for *_, dropped in found.values()) > 40
    assert answers_for(site.pages, tmp_path / "two.jsonl", "--processes", "2") == found
    assert (tmp_path / "two.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()
