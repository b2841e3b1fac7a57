from __future__ import annotations

from pathlib import Path

import pytest
from scrapy import Request
from scrapy.utils.request import fingerprint

from scrapy_simhash.cli.postings import header_line, posting_line
from scrapy_simhash.store import Posting
from tests.cli.conftest import Cli, Places
from tests.store.cases import CLASSIC, FAR, content, header

URLS = ("https://a.example/1", "https://a.example/2", "https://A.example/3", "https://b.example/1")


@pytest.fixture
def store(places: Places, tmp_path: Path, cli: Cli) -> str:
    """Return the place of a store with three pages of one host and one of another."""
    place = places.new()
    values = (0, 1, FAR, FAR)
    pages = [
        Posting(fingerprint(Request(url)), url, "", content(value, text=str(value // 2)), seen=number)
        for number, (url, value) in enumerate(zip(URLS, values, strict=True))
    ]
    source = tmp_path / "pages.jsonl"
    source.write_text("".join([header_line(header(CLASSIC)), *map(posting_line, pages)]))
    cli("import", place, source)
    return place


def urls_in(store: str, cli: Cli) -> list[str]:
    return [line.split('"url": "')[1].split('"')[0] for line in cli("export", store).splitlines()[1:]]


def test_one_page_is_removed(store: str, cli: Cli) -> None:
    assert cli("remove", store, URLS[1], "--dry-run") == "pages that would be removed: 1\n"
    assert len(urls_in(store, cli)) == 4
    assert cli("remove", store, URLS[1]) == "pages removed: 1\n"
    assert sorted(urls_in(store, cli)) == sorted((URLS[0], URLS[2], URLS[3]))
    assert cli.json("remove", store, URLS[1]) == {"pages": 0, "is_removed": True}
    assert cli.json("remove", store, URLS[1], "--dry-run") == {"pages": 0, "is_removed": False}
    runs = [run["reason"] for run in cli.json("info", store)["runs"]]
    assert runs == ["import", "remove", "remove"]


def test_a_host_is_removed(store: str, cli: Cli) -> None:
    assert cli("remove", store, "--host", "A.example", "--dry-run") == "pages that would be removed: 3\n"
    assert len(urls_in(store, cli)) == 4
    assert cli.json("remove", store, "--host", "a.example") == {"pages": 3, "is_removed": True}
    assert urls_in(store, cli) == [URLS[3]]
    assert cli("remove", store, "--host", "c.example") == "pages removed: 0\n"
    info = cli.json("info", store)
    assert (info["pages"], info["near_duplicates"]) == (1, 0), "its original was removed"


def test_a_url_or_a_host_is_needed(tmp_path: Path, cli: Cli) -> None:
    wanted = "remove needs a URL or --host HOST, and not both"
    assert cli.fails("remove", tmp_path / "a.sqlite") == (2, wanted)
    assert cli.fails("remove", tmp_path / "a.sqlite", URLS[0], "--host", "a.example") == (2, wanted)


def test_a_store_must_be_there(tmp_path: Path, cli: Cli) -> None:
    place = tmp_path / "none.sqlite"
    assert cli.fails("remove", place, URLS[0]) == (1, f"no such store: {place}")
    assert not place.exists()
