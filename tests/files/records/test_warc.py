"""Web archives, written by warcio as crawlers write them, and what is wrong in them."""

from __future__ import annotations

import gzip
import zlib
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.exceptions import KindError
from scrapy_simhash.files.records import Broken, Record, http, read
from scrapy_simhash.files.records.record import brotli, zstd
from tests.files.records.pages import FERRY, LONG, PILOT, URL, found, pages, passed_over, reasons

pytest.importorskip("warcio")

from warcio.statusandheaders import StatusAndHeaders  # type: ignore[import-untyped]
from warcio.warcwriter import WARCWriter  # type: ignore[import-untyped]

# It leaves its temporary files to the garbage collector.
pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)

HTML = {"Content-Type": "text/html"}


class Archive:
    """Writes an archive."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("wb")
        self._writer = WARCWriter(self._file, gzip=path.suffix == ".gz")

    def response(
        self, page: bytes | str, headers: dict[str, str] = HTML, status: str = "200 OK", **named: str
    ) -> Archive:
        body = page.encode() if isinstance(page, str) else page
        return self.add(
            "response", body, http_headers=StatusAndHeaders(status, [*headers.items()], "HTTP/1.1"), **named
        )

    def add(self, kind: str, body: bytes, url: str = f"{URL}/ferry", **arguments: Any) -> Archive:
        named = {name: value for name, value in arguments.items() if name not in ("http_headers", "media")}
        record = self._writer.create_warc_record(
            url,
            kind,
            payload=BytesIO(body),
            http_headers=arguments.get("http_headers"),
            warc_content_type=arguments.get("media", ""),
            warc_headers_dict={"WARC-Date": "2026-09-21T14:13:20Z", **named},
        )
        self._writer.write_record(record)
        return self

    def close(self) -> Path:
        self._file.close()
        return self.path


def chunked(body: bytes, size: int = 10) -> bytes:
    chunks = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


@pytest.mark.parametrize("name", ["crawl.warc", "crawl.warc.gz", "crawl"])
def test_responses_with_html_are_pages(name: str, tmp_path: Path) -> None:
    headers = {"Content-Type": "text/html; charset=koi8-r", "Content-Language": "ru"}
    archive = Archive(tmp_path / name)
    archive.add("warcinfo", b"software: test\r\n")
    archive.response(PILOT, headers).response(FERRY, url=f"{URL}/2")
    first, second = found(archive.close())
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert (first.url, first.page, first.content_type, first.content_language, first.seen) == (
        f"{URL}/ferry",
        PILOT,
        "text/html; charset=koi8-r",
        "ru",
        1_790_000_000,
    )
    assert (first.place, second.place) == (f"{archive.path}:2", f"{archive.path}:3")
    assert (second.url, second.page) == (f"{URL}/2", FERRY.encode())


def encoded() -> list[tuple[str, bytes]]:
    body = LONG.encode()
    raw = zlib.compressobj(wbits=-15)
    made = [
        ("gzip", gzip.compress(body)),
        ("x-gzip", gzip.compress(body)),
        ("deflate", zlib.compress(body)),
        ("deflate", raw.compress(body) + raw.flush()),
        ("identity", body),
        ("gzip, deflate", zlib.compress(gzip.compress(body))),
        # Some archives have undone the encoding and kept the header.
        ("gzip", body),
    ]
    with suppress(KindError):
        made.append(("br", brotli().compress(body, quality=1)))
    with suppress(KindError):
        made.append(("zstd", zstd().compress(body)))
    return made


@pytest.mark.parametrize(
    ("encoding", "body"), encoded(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_servers_do_to_a_page_is_undone(encoding: str, body: bytes, tmp_path: Path) -> None:
    headers = {**HTML, "Content-Encoding": encoding}
    archive = Archive(tmp_path / "crawl.warc.gz").response(body, headers)
    archive.response(chunked(body, 1000), {**headers, "Transfer-Encoding": "chunked"})
    archive.response(body, {**headers, "Transfer-Encoding": "chunked"})  # undone by the archive
    assert [page for _, page in pages(archive.close())] == [LONG.encode()] * 3


NOT_PAGES: list[tuple[dict[str, Any], str]] = [
    ({"status": "301 Moved", "headers": {**HTML, "Location": "/"}}, "HTTP status 301"),
    ({"status": "404 Not Found"}, "HTTP status 404"),
    ({"headers": {"Content-Type": "image/png"}, "page": b"\x89PNG\r\n\x1a\n\x00"}, "not HTML"),
    ({"headers": {"Content-Type": "application/json"}, "page": "{}"}, "not HTML"),
    ({"headers": {"Content-Type": "text/html"}, "page": "<?xml version='1.0'?><rss>"}, "not HTML"),
    ({"headers": {}, "page": "User-agent: *"}, "not HTML"),
    ({"WARC-Truncated": "length"}, "truncated"),
    ({"WARC-Segment-Number": "1"}, "WARC record in segments"),
]


@pytest.mark.parametrize(("response", "reason"), NOT_PAGES)
def test_what_a_crawl_would_pass_over_is_passed_over(
    response: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    archive = Archive(tmp_path / "crawl.warc").response(**{"page": FERRY, **response}).close()
    assert pages(archive) == []
    assert passed_over(archive) == {reason: 1}


def test_html_that_is_not_called_so_is_told_by_its_name_or_content_as_scrapy_does(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "crawl.warc").response(FERRY, {})
    archive.response("<p>", {"Content-Type": "application/octet-stream"}, url=f"{URL}/a.html")
    assert len(pages(archive.close())) == 2


def test_other_records_are_no_pages_but_resources_and_texts(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "crawl.warc")
    archive.add("request", b"", http_headers=StatusAndHeaders("GET / HTTP/1.1", [], is_http_request=True))
    archive.add("metadata", b"a: b\r\n")
    archive.add("revisit", b"")
    archive.add("resource", FERRY.encode(), media="text/html")
    archive.add("resource", b"\x00", media="image/png")
    archive.add("conversion", "Лоцман".encode(), media="text/plain")
    records = read([archive.close()])
    assert [(one.page, one.is_text) for one in records if isinstance(one, Record)] == [
        (FERRY.encode(), False),
        ("Лоцман", True),
    ]
    assert records.passed_over == {
        "WARC record of type request": 1,
        "WARC record of type metadata": 1,
        "WARC record of type revisit": 1,
        "not HTML": 1,
    }


# --- What is wrong.


def three(path: Path) -> tuple[Path, list[bytes]]:
    """Write three pages, and return each record as bytes."""
    records = []
    for number in range(3):
        one = Archive(path.with_name(f"{number}.warc")).response(FERRY, url=f"{URL}/{number}").close()
        records.append(one.read_bytes())
        one.unlink()
    return path, records


@pytest.mark.parametrize(
    ("damage", "left", "reason"),
    [
        (lambda one: b"rubbish\r\n" * 3 + one, [0, 1, 2], ":2 not a WARC record"),
        (lambda one: one.replace(b"Content-Length", b"Content-Size", 1), [0, 2], ":2 not a WARC record"),
        (lambda one: one.replace(b"WARC/1.0", b"WRAC/1.0"), [0, 2], ":2 not a WARC record"),
        (lambda one: one.replace(b"HTTP/1.1", b"SMTP/1.1"), [0, 2], ":2 no HTTP answer in the record"),
        (
            lambda one: one.replace(b"https://", b"//"),
            [0, 2],
            ":2 '//example.com/1' is not a URL: it has no scheme",
        ),
        (
            lambda one: b"WARC/1.0\r\n" + b"a: b\r\n" * 2_000 + one.partition(b"\r\n")[2],
            [0, 2],
            ":2 not a WARC record",
        ),
    ],
)
def test_a_broken_record_does_not_hide_the_next(
    damage: Any, left: list[int], reason: str, tmp_path: Path
) -> None:
    path, records = three(tmp_path / "crawl.warc")
    path.write_bytes(b"".join((records[0], damage(records[1]), records[2])))
    assert [one.url for one in found(path) if isinstance(one, Record)] == [
        f"{URL}/{number}" for number in left
    ]
    assert reasons(path) == [reason]


@pytest.mark.parametrize("size", range(5, 800, 53))
def test_an_archive_that_ends_too_early_has_the_records_before(size: int, tmp_path: Path) -> None:
    path, records = three(tmp_path / "crawl.warc")
    path.write_bytes(records[0] + records[1][: min(size, len(records[1]) - 10)])
    assert [one.url for one in found(path) if isinstance(one, Record)] == [f"{URL}/0"]
    assert reasons(path) in ([" the last record ends too early"], [":2 not a WARC record"])


def test_a_damaged_member_of_a_compressed_archive_ends_it(tmp_path: Path) -> None:
    path, records = three(tmp_path / "crawl.warc.gz")
    whole = gzip.compress(records[0])
    path.write_bytes(whole + gzip.compress(records[1])[:-20])
    assert len(found(path)) == 2
    assert reasons(path) == [" the gzip data ends too early"]
    path.write_bytes(whole + b"\x1f\x8b\x08\x00" + b"\xff" * 100)
    (reason,) = reasons(path)
    assert reason.startswith(" the gzip data is damaged: ")


def test_a_record_that_is_too_large_is_skipped_whatever_it_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "LIMIT", 5_000)
    archive = Archive(tmp_path / "crawl.warc.gz").response("<p>" * 5_000).response(FERRY)
    # A page that is small and becomes large.
    archive.response(gzip.compress(LONG.encode(), 9)[:4_000], {**HTML, "Content-Encoding": "gzip"})
    records = found(archive.close())
    assert [type(one) for one in records] == [Broken, Record, Broken]


def test_an_encoding_that_is_not_known_or_not_right_is_told(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "crawl.warc").response("?", {**HTML, "Content-Encoding": "sdch"})
    archive.response(b"\xff" * 9, {**HTML, "Content-Encoding": "deflate"})
    first, second = reasons(archive.close())
    assert first == ":1 the content encoding 'sdch' is not known"
    assert second.startswith(":2 the deflate data of the page is damaged: ")
