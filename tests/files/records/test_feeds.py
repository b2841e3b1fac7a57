"""Feeds: JSON Lines, JSON arrays and tables of text, and their errors."""

from __future__ import annotations

import csv
import json
import re
from io import BufferedReader, BytesIO, RawIOBase, StringIO
from typing import Any

import pytest

from scrapy_simhash.files.records import Broken, Fields, Record, read

PAGES: list[dict[str, Any]] = [
    {"url": "https://example.com/ferry", "html": '<p>The ferry\n\u2028 "sails", at 8'},
    {"url": "https://example.com/é", "html": "<p>", "price": 3.5, "tags": ["a", {"b": None}]},
    {"url": "https://example.com/long", "html": "x" * 200_000},
]


def found(
    content: bytes | str,
    fields: Fields = Fields(),  # noqa: B008
    kind: str | None = None,
) -> list[Record | Broken]:
    data = content.encode() if isinstance(content, str) else content
    return list(read([BytesIO(data)], fields, kind or kind_of(data)))


def kind_of(data: bytes) -> str:
    """Return the format of *data*: ``json``, ``csv`` or ``jsonl``."""
    if data.lstrip(b" \n\xef\xbb\xbf").startswith(b"["):
        return "json"
    return "csv" if re.match(rb"(\xef\xbb\xbf)?(url|name)[,;\t]", data) else "jsonl"


def broken(content: bytes | str) -> list[str]:
    return [
        f"{one.place.removeprefix('<stream>:')}: {one.reason}"
        for one in found(content)
        if isinstance(one, Broken)
    ]


URL = {"url": "https://example.com/"}
MANY = {**URL, "html": "<p>no", "page": "<p>yes", "words": "yes", "link": "https://b.example/"}
LINE = json.dumps(PAGES[0])
#: One record, the names of its fields, and its URL, page and whether the page is plain text.
READ: list[tuple[dict[str, Any], Fields, tuple[str, str, bool]]] = [
    ({**URL, "html": "<p>a"}, Fields(), (URL["url"], "<p>a", False)),
    ({**URL, "text": "", "body": "<p>c"}, Fields(), (URL["url"], "<p>c", False)),
    # Only named fields are read.
    (MANY, Fields(html="page", url="link"), ("https://b.example/", "<p>yes", False)),
    (MANY, Fields(text="words"), (URL["url"], "yes", True)),
]


@pytest.mark.parametrize(("line", "fields", "expected"), READ)
def test_fields_are_recognised_by_their_names(
    line: dict[str, Any], fields: Fields, expected: tuple[str, str, bool]
) -> None:
    (record,) = found(json.dumps(line), fields)
    assert isinstance(record, Record)
    assert (record.url, record.page, record.is_text) == expected


def test_records_have_line_numbers_and_times() -> None:
    assert [one.place for one in found(f"{LINE}\r\n\n  \n{LINE}")] == ["<stream>:1", "<stream>:4"]
    times = ("2026-09-21T14:13:20Z", 1.7, "noon", "")
    lines = "".join(json.dumps({**URL, "text": "a", "fetched": value}) + "\n" for value in times)
    seen = [record.seen for record in found(lines) if isinstance(record, Record)]
    assert seen == [1_790_000_000, 1, None, None]


def test_rows_are_records_with_fields_as_long_as_pages() -> None:
    text = StringIO(newline="")
    writer = csv.DictWriter(text, ["url", "html"], extrasaction="ignore")
    writer.writeheader()
    writer.writerows(PAGES)
    for content in (text.getvalue(), f"\ufeff{text.getvalue()}"):
        rows = [(record.url, record.page) for record in found(content) if isinstance(record, Record)]
        assert rows == [(page["url"], page["html"]) for page in PAGES]


def test_records_without_a_url_or_a_page_are_skipped_and_an_input_without_any_is_reported() -> None:
    lines = [{"html": "<p>"}, URL, {**URL, "html": ""}, PAGES[0]]
    records = read([BytesIO("\n".join(map(json.dumps, lines)).encode())])
    assert len(list(records)) == 1
    assert records.passed_over == {"no URL": 1, "no HTML and no text": 2}
    assert records.complaint is None
    records = read([BytesIO(b'{"url": "https://example.com/", "name": "a"}')])
    assert list(records) == []
    assert records.complaint == (
        "no record has the fields 'url', 'link' or 'uri', and one of html, text, body and content;"
        " <stream>:1 has 'url', 'name'"
    )


WRONG: list[tuple[str | bytes, list[str]]] = [
    (f"{LINE}\nnonsense\n{LINE}\n", ["2: not JSON"]),
    (f"{LINE}\n[]\n7", ["2: not a JSON object", "3: not a JSON object"]),
    (f"[{LINE},\n[], {LINE}]", ["2: not a JSON object"]),
    ('url,html\nhttps://a.example/,"b', ["2: not CSV: unexpected end of data"]),
    ('url,html\nhttps://a.example/,"b"c\n', ["2: not CSV: ',' expected after '\"'"]),
    ("url,html\nhttps://a.example/,b,c\n", ["2: 3 fields, but 2 names in the first row"]),
    (b"url,html\nhttps://a.example/,\xff\n", ["2: not valid UTF-8"]),
    ('{"url": "example.com", "html": "a"}', ["1: 'example.com' is not a URL: it has no scheme"]),
    ('{"url": 7, "html": "a"}', ["1: the URL is not text: its type is int"]),
]


@pytest.mark.parametrize(("content", "expected"), WRONG)
def test_a_broken_record_is_reported_with_its_name(content: str | bytes, expected: list[str]) -> None:
    assert broken(content) == expected


@pytest.mark.parametrize("start", [f"{LINE}\n", f"url,html\n{PAGES[0]['url']},a\n"])
def test_an_input_is_broken_from_the_first_damaged_byte_on(start: str) -> None:
    class Failing(RawIOBase):
        content = start.encode().ljust(1_000)

        def readable(self) -> bool:
            return True

        def readinto(self, target: Any) -> int:
            if not self.content:
                raise OSError(5, "Input/output error")
            size = len(self.content)
            target[:size], self.content = self.content, b""
            return size

    records = list(read([BufferedReader(Failing())], kind=kind_of(start.encode())))
    assert records[1:] == [Broken("<stream>", "the rest cannot be read: Input/output error", is_rest=True)]
