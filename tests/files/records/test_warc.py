"""Web archives, written by warcio as crawlers write them, and their errors."""

from __future__ import annotations

import gzip
import re
import zipfile
import zlib
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.exceptions import KindError
from scrapy_simhash.files.records import Broken, Record, read, warc
from scrapy_simhash.files.records.record import extra
from tests.files.records.pages import FERRY, LONG, URL, found, pages, passed_over, reasons

pytest.importorskip("warcio")

from warcio.statusandheaders import StatusAndHeaders  # type: ignore[import-untyped]
from warcio.warcwriter import WARCWriter  # type: ignore[import-untyped]

# warcio leaves its temporary files to the garbage collector.
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


def chunked(body: bytes) -> bytes:
    chunks = [body[at : at + 1_000] for at in range(0, len(body), 1_000)]
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


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
        # Some archives have decoded the body but kept the header.
        ("gzip", body),
    ]
    with suppress(KindError):
        made.append(("br", extra("Brotli data", "brotli").compress(body, quality=1)))
    with suppress(KindError):
        made.append(("zstd", extra("zstd data", "compression.zstd", "backports.zstd").compress(body)))
    return made


@pytest.mark.parametrize(
    ("encoding", "body"), encoded(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_encodings_by_servers_are_decoded(encoding: str, body: bytes, tmp_path: Path) -> None:
    headers = {**HTML, "Content-Encoding": encoding}
    archive = Archive(tmp_path / "crawl.warc.gz").response(body, headers)
    archive.response(chunked(body), {**headers, "Transfer-Encoding": "chunked"})
    archive.response(body, {**headers, "Transfer-Encoding": "chunked"})  # decoded by the archive
    trailer = chunked(body)[:-2] + b"X-Checked: yes\r\n\r\n"
    archive.response(trailer, {**headers, "Transfer-Encoding": "chunked", "Trailer": "X-Checked"})
    extended = b"%x;name=value\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    archive.response(extended, {**headers, "Transfer-Encoding": "Chunked"})
    assert [page for _, page in pages(archive.close())] == [LONG.encode()] * 5


NOT_PAGES: list[tuple[dict[str, Any], str]] = [
    ({"status": "301 Moved", "headers": {**HTML, "Location": "/"}}, "HTTP status 301"),
    ({"headers": {"Content-Type": "image/png"}, "page": b"\x89PNG\r\n\x1a\n\x00"}, "not HTML"),
    ({"headers": {"Content-Type": "application/json"}, "page": "{}"}, "not HTML"),
    ({"headers": {"Content-Type": "text/html"}, "page": "<?xml version='1.0'?><rss>"}, "not HTML"),
    ({"WARC-Truncated": "length"}, "truncated"),
    ({"WARC-Segment-Number": "1"}, "WARC record in segments"),
]


@pytest.mark.parametrize(("response", "reason"), NOT_PAGES)
def test_records_that_a_crawl_would_skip_are_skipped(
    response: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    archive = Archive(tmp_path / "crawl.warc").response(**{"page": FERRY, **response}).close()
    assert pages(archive) == []
    assert passed_over(archive) == {reason: 1}


def test_other_records_are_written_as_resources_and_conversions(tmp_path: Path) -> None:
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
        "WARC record of type revisit": 1,
        "not HTML": 1,
    }


# --- Errors.


REST = r".*\(record \d+\)"
TRUNCATED = r" (the last record ends too early|not a WARC record: .*) \(record 2\)"


@pytest.mark.parametrize(
    ("damage", "read_pages", "reason"),
    [
        # A broken record does not hide the next.
        (lambda rest: rest.replace(b"HTTP/1.1", b"SMTP/1.1", 1), [0, 2], ":2 no HTTP response in the record"),
        (
            lambda rest: rest.replace(b"https://", b"//", 1),
            [0, 2],
            ":2 '//example.com/1' is not a URL: it has no scheme",
        ),
        # A damaged header ends the file.
        (lambda rest: b"rubbish\r\n" * 3 + rest, [0], REST),
        (lambda rest: rest.replace(b"Content-Length", b"Content-Size", 2), [0], REST),
        (lambda rest: rest.replace(b"Content-Length: ", b"Content-Length: x", 2), [0], REST),
        *((lambda rest, size=size: rest[:size], [0], TRUNCATED) for size in (5, 100, 250, 400)),
        (lambda rest: rest.replace(b"Type: response", b"Type: request", 1)[:250], [0], TRUNCATED),
    ],
)
def test_damage_is_reported_and_the_records_before_it_are_read(
    damage: Any, read_pages: list[int], reason: str, tmp_path: Path
) -> None:
    records = []
    for number in range(3):
        one = Archive(tmp_path / f"{number}.warc").response(FERRY, url=f"{URL}/{number}").close()
        records.append(one.read_bytes())
    path = tmp_path / "crawl.warc"
    path.write_bytes(records[0] + damage(b"".join(records[1:])))
    assert [one.url for one in found(path) if isinstance(one, Record)] == [f"{URL}/{n}" for n in read_pages]
    last = [one for one in found(path) if isinstance(one, Broken)][-1]
    assert last.is_rest is (read_pages == [0])
    assert re.fullmatch(reason, reasons(path)[-1])


def test_a_record_that_is_too_large_is_skipped_whatever_its_declared_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warc, "LIMIT", 5_000)
    archive = Archive(tmp_path / "crawl.warc.gz").response("<p>" * 5_000).response(FERRY)
    # A small page that becomes large when decompressed.
    archive.response(gzip.compress(LONG.encode(), 9)[:4_000], {**HTML, "Content-Encoding": "gzip"})
    records = found(archive.close())
    assert [type(one) for one in records] == [Broken, Record, Broken]


# --- Other versions and containers.


def test_the_archives_in_a_wacz_file_are_read(tmp_path: Path) -> None:
    made = Archive(tmp_path / "data.warc.gz").response(FERRY).close()
    with zipfile.ZipFile(tmp_path / "crawl.wacz", "w") as package:
        package.write(made, "archive/data.warc.gz")
        package.writestr("pages/pages.jsonl", "{}")
    (record,) = found(tmp_path / "crawl.wacz")
    assert isinstance(record, Record)
    assert record.place == f"{tmp_path}/crawl.wacz!archive/data.warc.gz:1"
    content = (tmp_path / "crawl.wacz").read_bytes()
    (tmp_path / "crawl.wacz").write_bytes(content[: len(content) // 2])
    (reason,) = reasons(tmp_path / "crawl.wacz")
    assert reason.startswith(" the zip data is damaged")


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [(8, 1, "is encrypted, password required"), (10, 99, "compression method")],
    ids=["encrypted", "unknown compression"],
)
def test_a_member_of_a_wacz_file_that_cannot_be_read_is_not_called_damaged(
    place: int, value: int, reason: str, tmp_path: Path
) -> None:
    made = Archive(tmp_path / "data.warc").response(FERRY).close()
    with zipfile.ZipFile(tmp_path / "crawl.wacz", "w") as package:
        package.write(made, "archive/data.warc")
    content = bytearray((tmp_path / "crawl.wacz").read_bytes())
    # Change the flags or the method in the central directory, and in the header of the member two bytes earlier.
    directory = content.index(b"PK\x01\x02")
    content[directory + place] = content[place - 2] = value
    (tmp_path / "crawl.wacz").write_bytes(content)
    (found_reason,) = reasons(tmp_path / "crawl.wacz")
    assert found_reason.startswith(" the zip member cannot be read: ")
    assert reason in found_reason
