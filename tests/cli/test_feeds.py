from __future__ import annotations

import csv
import json
from io import BytesIO, StringIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_simhash.cli import feeds
from scrapy_simhash.cli.failures import Failed, Refused
from scrapy_simhash.cli.feeds import Record, format_of, records
from scrapy_simhash.cli.input import Input
from tests.examples import examples

RECORDS: list[dict[str, Any]] = [
    {"url": "https://example.com/ferry", "html": '<p>The ferry\n\u2028 "sails", at 8'},
    {"url": "https://example.com/é", "html": "", "price": 3.5, "tags": ["a", {"b": None}]},
    {},
    {"html": "x" * 200_000},
]


def read(content: bytes | str, form: str) -> list[Record]:
    data = content.encode() if isinstance(content, str) else content
    return list(records(Input(BytesIO(data), "feed", "feed"), form))


def fields(content: bytes | str, form: str) -> list[dict[str, Any]]:
    return [dict(record.fields) for record in read(content, form)]


def lines_of(values: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("pages.jsonl", "jsonlines"),
        ("pages.jl", "jsonlines"),
        ("a.json/pages", "jsonlines"),
        ("pages.json", "json"),
        ("PAGES.CSV", "csv"),
        ("-", "jsonlines"),
    ],
)
def test_the_ending_of_a_file_tells_its_format(path: str, form: str) -> None:
    assert format_of(path) == form


# --- JSON Lines.


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_json_lines_are_records(start: str) -> None:
    assert fields(start + lines_of(RECORDS), "jsonlines") == RECORDS


def test_a_record_knows_its_line_and_blank_lines_count() -> None:
    assert [record.place for record in read('{}\r\n\n  \n{"a": 1}', "jsonlines")] == ["feed:1", "feed:4"]


# --- JSON.


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 16])
@pytest.mark.parametrize("indent", [None, 0, 4])
def test_an_array_is_records_however_it_is_laid_out_and_wherever_reading_breaks_it(
    chunk: int, indent: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "CHUNK", chunk)
    short = [{**record, "html": record.get("html", "")[:50]} for record in RECORDS]
    for text in (json.dumps(short, indent=indent), f"\ufeff [ {', '.join(map(json.dumps, short))}\r\n]\n "):
        assert fields(text, "json") == short


JSON_VALUES = (
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=9) | st.lists(st.integers())
)


@settings(max_examples=examples(60))
@given(st.lists(st.dictionaries(st.text(max_size=3), JSON_VALUES, max_size=3), max_size=4), st.booleans())
def test_an_array_is_what_json_says_it_is(values: list[dict[str, Any]], is_ascii: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feeds, "CHUNK", 5)
        text = json.dumps(values, ensure_ascii=is_ascii, indent=1)
        assert fields(text, "json") == values


def test_what_scrapy_writes_for_no_items_is_an_empty_array() -> None:
    assert fields("[\n\n]", "json") == fields("[]", "json") == []


def test_a_record_of_an_array_knows_the_line_where_it_begins() -> None:
    text = '[\n{"a": "\\n",\n"b": 2},\n\n{"c":\n3}]'
    assert [record.place for record in read(text, "json")] == ["feed:2", "feed:5"]


def test_a_wrong_array_is_refused_where_it_is_wrong_and_not_read_to_its_end() -> None:
    class Endless(BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            assert self.tell() <= 1 << 20, "it reads on"
            return super().read(size)

        read1 = read

    stream = Endless(b'[{"a": 1}, {"b": oops' + b"s" * (1 << 22))
    with pytest.raises(Refused, match=r"^feed:1: not JSON from here on$"):
        list(records(Input(stream, "feed", "feed"), "json"))


# --- CSV.


def test_rows_are_records_with_fields_as_long_as_pages_are() -> None:
    limit = csv.field_size_limit()
    text = StringIO(newline="")
    writer = csv.DictWriter(text, ["url", "html"])
    writer.writeheader()
    rows = [{"url": record.get("url", ""), "html": record.get("html", "")} for record in RECORDS]
    writer.writerows(rows)
    assert fields(text.getvalue(), "csv") == fields("\ufeff" + text.getvalue(), "csv") == rows
    assert csv.field_size_limit() == limit


def test_a_row_knows_the_line_where_it_ends() -> None:
    assert [record.place for record in read('url,html\na,"b\nc"\nd,e\n', "csv")] == ["feed:3", "feed:4"]


def test_a_row_that_is_too_short_has_no_more_fields() -> None:
    assert fields("url,html\na\n", "csv") == [{"url": "a", "html": None}]


# --- What is wrong.

WRONG = [
    ("jsonlines", "{}\nnonsense\n", "feed:2: the line is not JSON"),
    ("jsonlines", "{}\n" + "[" * 100_000, "feed:2: the line is not JSON"),
    ("jsonlines", "[\n{}\n]", "feed:1: the line is not JSON"),
    ("jsonlines", "[]", "feed:1: the record is not a JSON object"),
    ("json", "", "feed:1: the file is not a JSON array; see --format"),
    ("json", "{}\n{}", "feed:1: the file is not a JSON array; see --format"),
    ("json", "[{}\n{}]", "feed:2: expected a comma or the end of the array"),
    ("json", "[{},\n]", "feed:2: not JSON from here on"),
    ("json", "[{},\n[]]", "feed:2: the record is not a JSON object"),
    ("json", "[{},\n7]", "feed:2: the record is not a JSON object"),
    ("json", '[{},\n{"a": "b', "feed:2: not JSON from here on"),
    ("json", "[{}\n", "feed:2: expected a comma or the end of the array"),
    ("json", "[{}]\n[{}]", "feed:2: unexpected data after the end of the array"),
    ("json", "[" + "[" * 100_000, "feed:1: not JSON from here on"),
    ("csv", 'url,html\na,"b', "feed:2: not CSV: unexpected end of data"),
    ("csv", 'url,html\na,"b"c\n', "feed:2: not CSV: ',' expected after '\"'"),
]


@pytest.mark.parametrize(("form", "text", "message"), WRONG)
def test_what_is_wrong_is_refused_by_its_line(form: str, text: str, message: str) -> None:
    with pytest.raises(Refused) as caught:
        read(text, form)
    assert str(caught.value) == message


@pytest.mark.parametrize(("form", "start"), [("jsonlines", b"{}\n"), ("json", b"[{},"), ("csv", b"url\n")])
def test_what_is_no_text_is_refused(form: str, start: bytes) -> None:
    with pytest.raises(Refused, match=r"^feed: the file is not valid UTF-8$"):
        read(start + b"\xff\n", form)


@pytest.mark.parametrize("form", ["jsonlines", "json", "csv"])
def test_what_cannot_be_read_is_told(form: str) -> None:
    class Broken(BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError(5, "Input/output error")

        read1 = read

    with pytest.raises(Failed, match=r"^cannot read standard input: Input/output error$"):
        list(records(Input(Broken(), "<stdin>", "standard input"), form))


@pytest.mark.parametrize("form", ["jsonlines", "json", "csv"])
def test_the_input_is_left_open(form: str) -> None:
    stream = BytesIO(b"[]")
    feed = records(Input(stream, "feed", "feed"), form)
    next(feed, None) if form != "jsonlines" else None
    feed.close()
    assert not stream.closed
