"""Scrapy's HTTP cache, as real crawls write it."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.files.records import Record, read
from tests.crawls.harness import IN_ORDER, crawl_one
from tests.crawls.site import Answer, serve
from tests.files.records.pages import FERRY, PILOT, found, pages, passed_over, reasons

FOLDER = "scrapy.extensions.httpcache.FilesystemCacheStorage"
STORAGES: dict[str, dict[str, Any]] = {
    "folder": {"HTTPCACHE_STORAGE": FOLDER},
    "gzip": {"HTTPCACHE_STORAGE": FOLDER, "HTTPCACHE_GZIP": True},
}
# Each in another order than that of its key.
PATHS = ("/ferry", "/pilot", "/packed", "/moved", "/boat.png", "/missing", "/last")
EXPECTED = {"/ferry": FERRY.encode(), "/pilot": PILOT, "/packed": FERRY.encode(), "/last": FERRY.encode()}


@pytest.mark.parametrize("storage", STORAGES)
def test_the_pages_of_a_crawl_come_in_the_order_in_which_they_were_fetched(
    storage: str, tmp_path: Path
) -> None:
    routes: dict[str, str | Answer] = {
        "/ferry": FERRY,
        "/last": FERRY,
        "/pilot": Answer(PILOT, content_type="text/html; charset=koi8-r", headers={"Content-Language": "ru"}),
        # Scrapy keeps what a server sends, not what it unpacks.
        "/packed": Answer(gzip.compress(FERRY.encode()), headers={"Content-Encoding": "gzip"}),
        "/moved": Answer(status=301, headers={"Location": "/ferry"}),
        "/boat.png": Answer(b"\x89PNG\x00", content_type="image/png"),
    }
    settings = {**IN_ORDER, "HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path / "cache")}
    with serve(routes) as site:
        crawl_one("Visitor", {**settings, **STORAGES[storage]}, urls=site.urls(*PATHS))
    records = found(tmp_path / "cache")
    assert [(one.url, one.page) for one in records if isinstance(one, Record)] == [
        (site.url(path), page) for path, page in EXPECTED.items()
    ]
    pilot = records[1]
    assert isinstance(pilot, Record)
    assert (pilot.content_type, pilot.content_language) == ("text/html; charset=koi8-r", "ru")
    assert pilot.seen is not None
    assert pilot.seen > 1_700_000_000
    assert passed_over(tmp_path / "cache") == {"HTTP status 301": 1, "not HTML": 1, "HTTP status 404": 1}
    # The spider's part, named by itself.
    (part,) = (tmp_path / "cache").iterdir()
    assert len(pages(part)) == 4
    assert read([tmp_path / "cache"]).share() == 0.0


# --- What is wrong, and what is hostile.


class Hostile:
    def __reduce__(self) -> Any:
        return (print, ("it ran",))


META = {
    "url": "a:b",
    "method": "GET",
    "status": 200,
    "response_url": "https://example.com/",
    "timestamp": 1.5,
}
KEY = "3f" + "0" * 38


def entry(
    folder: Path, meta: Any = META, key: str = KEY, headers: bytes = b"Content-Type: text/html"
) -> Path:
    place = folder / "spider" / key[:2] / key
    place.mkdir(parents=True)
    (place / "pickled_meta").write_bytes(meta if isinstance(meta, bytes) else pickle.dumps(meta, 4))
    (place / "response_headers").write_bytes(headers)
    (place / "response_body").write_text(FERRY, "utf-8")
    return place


def test_older_caches_have_fewer_files(tmp_path: Path) -> None:
    entry(tmp_path)
    assert pages(tmp_path) == [("https://example.com/", FERRY.encode())]


@pytest.mark.parametrize(
    ("meta", "reason"),
    [
        (Hostile(), "its pickle wants builtins.print"),
        (b"no pickle", "no pickle: "),
        ([], "its pickle is no dictionary"),
        ({**META, "timestamp": "noon"}, "could not convert string to float: 'noon'"),
        ({**META, "status": None}, "int() argument must be"),
        ({"timestamp": 1}, "'response_url'"),
        (b"\x1f\x8b\x08\x00" + b"\xff" * 20, "the gzip data is damaged: "),
    ],
)
def test_a_damaged_entry_is_broken_and_nothing_in_it_is_run(
    meta: Any, reason: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    place = entry(tmp_path, meta)
    entry(tmp_path, key="40" + "0" * 38)
    (told,) = reasons(tmp_path)
    where = place.relative_to(tmp_path).as_posix()
    assert told.startswith(f"/{where} the entry of the cache is damaged: {reason}")
    assert len([one for one in found(tmp_path) if isinstance(one, Record)]) == 1
    assert capfd.readouterr().out == ""


def test_a_missing_body_is_broken(tmp_path: Path) -> None:
    (entry(tmp_path) / "response_body").unlink()
    (told,) = reasons(tmp_path)
    assert "No such file or directory" in told


def test_what_is_incomplete_is_passed_over(tmp_path: Path) -> None:
    (entry(tmp_path) / "response_data").write_bytes(pickle.dumps({"flags": ["dataloss"]}, 4))
    assert passed_over(tmp_path) == {"truncated": 1}
