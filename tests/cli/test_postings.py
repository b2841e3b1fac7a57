from __future__ import annotations

import json
from base64 import b64encode
from io import BytesIO
from operator import add
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash import Fingerprint
from scrapy_simhash.cli import postings
from scrapy_simhash.cli.postings import (
    Export,
    header_line,
    parsed_header,
    parsed_posting,
    posting_line,
)
from scrapy_simhash.cli.streams import Input, Refused
from scrapy_simhash.judge.rule import ClassicRule, SimilarityRule
from scrapy_simhash.page.fingerprint import FACTS_AT, MINHASH_BYTES, PART, UNKNOWN, WHOLE, OwnPart
from scrapy_simhash.page.fingerprint.facts import NONE
from scrapy_simhash.store import Header, History, Posting
from tests.store.cases import FACTS, whole


def read(*lines: str | bytes) -> Export:
    content = b"".join(line if isinstance(line, bytes) else line.encode() for line in lines)
    return Export(Input(BytesIO(content), "pages.jsonl", "pages.jsonl"))


def as_one(text: str) -> str:
    """Return *text* with the two halves of a character put together, as they can't be told from it in JSON."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


ANY_TEXT = st.text(st.characters() | st.characters(categories=["Cs"])).map(as_one)
ANY_VALUE = st.integers(0, 2**64 - 1)
ANY_OWN_PART = st.builds(
    lambda kind, tokens, value, minhash: OwnPart(kind, tokens, value, minhash).to_bytes(),
    st.sampled_from([UNKNOWN, WHOLE, PART]),
    st.integers(0, 65_535),
    ANY_VALUE,
    st.binary(min_size=MINHASH_BYTES, max_size=MINHASH_BYTES),
)
ANY_TIME = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 2**32)
ANY_POSTING = st.builds(
    Posting,
    st.binary(max_size=40),
    ANY_TEXT,
    ANY_TEXT,
    st.builds(Fingerprint, ANY_VALUE)
    | st.builds(
        Fingerprint,
        ANY_VALUE,
        sketch=st.builds(add, st.binary(min_size=FACTS_AT, max_size=FACTS_AT), st.sampled_from(FACTS)),
        own=st.just(b"") | ANY_OWN_PART,
    ),
    st.booleans(),
    st.none() | ANY_VALUE,
    ANY_TIME,
    st.booleans(),
    st.none() | ANY_VALUE,
    st.none() | st.builds(History, ANY_TIME, ANY_TIME, st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1)),
)


@given(ANY_POSTING, st.none() | ANY_TEXT)
def test_a_posting_is_one_line_of_ascii_and_comes_back_as_it_was(
    posting: Posting, original: str | None
) -> None:
    line = posting_line(posting, original)
    assert line.isascii()
    assert line.endswith("}\n")
    assert len(line.splitlines()) == 1
    assert whole(parsed_posting(line)) == whole(posting)
    assert parsed_posting(line).history == posting.history
    assert parsed_posting(line).fingerprint.own == posting.fingerprint.own
    assert json.loads(line).get("duplicate_of") == original


@pytest.mark.parametrize(
    "header",
    [
        Header("web-4"),
        Header("web-9", SimilarityRule(20, 0.5), 3, 1, True, "host"),
        Header("web-4", ClassicRule()),
        Header("web-4", ClassicRule(63)),
    ],
)
def test_a_header_comes_back_as_it_was(header: Header) -> None:
    assert parsed_header(header_line(header)) == header


def test_lines_are_as_they_are_documented() -> None:
    assert header_line(Header("web-4")) == (
        '{"format": "scrapy-simhash postings", "version": 3, "scheme": "web-4", "width": 64, "own_parts": 1,'
        ' "settings": {"SIMHASH_RULE": "similarity", "SIMHASH_MAX_DISTANCE": 8, "SIMHASH_MIN_SIMILARITY": 0.8,'
        ' "SIMHASH_MIN_SHINGLES": 12, "SIMHASH_SCOPE": "crawl", "SIMHASH_SCHEME": "web"}}\n'
    )
    least = Posting(b"\x01\xab", "https://example.com/\udc80é", "", Fingerprint(0xBEEF))
    assert posting_line(least) == (
        '{"key": "01ab", "url": "https://example.com/\\udc80\\u00e9", "scope": "", "value": "000000000000beef",'
        ' "seen": "1970-01-01T00:00:00Z", "host": "example.com"}\n'
    )
    most = Posting(
        *(
            b"a",
            "http://e.com/",
            "s",
            Fingerprint(1, sketch=b"\xff" * FACTS_AT + NONE),
            True,
            2,
            1_790_000_000,
        ),
        is_delivered=True,
        text_hash=3,
        history=History(1_700_000_000, 1_780_000_000, 3, 1),
    )
    sketch = b64encode(most.fingerprint.sketch).decode()
    assert posting_line(most, "v", 2) == (
        f'{{"key": "61", "url": "http://e.com/", "scope": "s", "value": "0000000000000001", "sketch": "{sketch}",'
        ' "short": true, "page_hash": "0000000000000002", "text_hash": "0000000000000003",'
        ' "seen": "2026-09-21T14:13:20Z", "delivered": true,'
        ' "first_seen": "2023-11-14T22:13:20Z", "last_visit": "2026-05-28T20:26:40Z",'
        ' "visits": 3, "changes": 1, "host": "e.com", "rank": 2, "duplicate_of": "v"}\n'
    )


def test_an_export_is_its_header_and_its_postings() -> None:
    found = [Posting(b"a", "u", "", Fingerprint(1)), Posting(b"b", "v", "", Fingerprint(2))]
    lines = [header_line(Header("web-4")), *map(posting_line, found)]
    export = read(*lines)
    assert (export.header, list(export)) == (Header("web-4"), found)
    # What another program wrote: other blanks, other names, a byte order mark, no last line end.
    others = [json.dumps({"later": 1, **json.loads(line)}, separators=(",", ":")) for line in lines]
    assert list(read(b"\xef\xbb\xbf", "\r\n".join(others))) == found


POSTING = json.loads(posting_line(Posting(b"a", "u", "", Fingerprint(1))))
HEADER = json.loads(header_line(Header("web-4")))
SKETCHED = json.loads(
    posting_line(Posting(b"a", "u", "", Fingerprint(1, sketch=bytes(FACTS_AT) + NONE), history=History(0, 0)))
)
MISSING = object()


def changed(line: dict[str, Any], name: str, value: object) -> str:
    line = {**line, name: value}
    if value is MISSING:
        del line[name]
    return json.dumps(line)


#: By the name of a field: wrong values, and the message.
WRONG_FIELDS: dict[str, list[tuple[object, str]]] = {
    "key": [("abc", "is not hexadecimal, two digits a byte"), ("ab" * 65_536, "has more than 65,535 bytes")],
    "url": [(None, "is not a string")],
    "scope": [(3, "is not a string"), ("é" * 40_000, "has more than 65,535 bytes")],
    "value": [(value, "is not 16 hexadecimal digits") for value in ("0" * 17, "٠" * 16, "ab " * 5 + "a")],
    "sketch": [(value, "is no sketch in base64") for value in ("AAAA", "é", "A" * 171 + "=")],
    "own": [(value, "is no unique text of 11 or 131 bytes in base64") for value in ("", "AAA", "BAAA")],
    "short": [(1, "is neither true nor false")],
    "page_hash": [(None, "is not 16 hexadecimal digits")],
    "seen": [("yesterday", "is not a number of seconds or a date"), (2**63, "does not fit into 64 bits")],
    "first_seen": [(True, "is not a whole number")],
    "visits": [(-1, "is not from 0 to 2**63 - 1"), ("3", "is not a whole number")],
    "changes": [(2**63, "is not from 0 to 2**63 - 1")],
}
WRONG_POSTINGS = [
    ("", "is not JSON"),
    ("[" * 100_000, "is not JSON"),
    ('"text"', "is not a JSON object"),
    (json.dumps(HEADER), "has no 'key'"),
    *((changed(POSTING, name, MISSING), f"has no '{name}'") for name in ("url", "scope", "value", "seen")),
    (changed(POSTING, "own", "AAAAAAAAAAAAAAA="), "has 'own' without 'sketch'"),
    *(
        (changed(SKETCHED, name, value), f"has a wrong value in '{name}': it {problem}")
        for name, wrong in WRONG_FIELDS.items()
        for value, problem in wrong
    ),
    (b"\xff", "is not UTF-8"),
]


@pytest.mark.parametrize(("line", "problem"), WRONG_POSTINGS)
def test_a_wrong_line_is_refused_by_its_number_and_field(line: str | bytes, problem: str) -> None:
    export = read(header_line(Header("web-4")), json.dumps(POSTING), "\n", line, "\n", json.dumps(POSTING))
    steps = iter(export)
    assert next(steps) == parsed_posting(json.dumps(POSTING))
    with pytest.raises(Refused) as caught:
        next(steps)
    assert str(caught.value).startswith(f"pages.jsonl:3: the line {problem}")


OLDER, NEWER = "an older release wrote it; crawl the pages again", "install a newer release"
WRONG_HEADERS = [
    ("{}", "is not the first line of an export"),
    (json.dumps(POSTING), 'is not the first line of an export, which begins with {"format": "scrapy-simhash'),
    (changed(HEADER, "version", 2), f"has version 2, this release reads 3: {OLDER}"),
    (changed(HEADER, "version", 4), f"has version 4, this release reads 3: {NEWER}"),
    (changed(HEADER, "version", MISSING), "has no 'version'"),
    (changed(HEADER, "width", "64"), "has a wrong value in 'width': it is not a whole number"),
    (changed(HEADER, "own_parts", 0), f"has own_parts 0, this release reads 1: {OLDER}"),
    (changed(HEADER, "settings", {}), "has missing or unknown settings: 'SIMHASH_MAX_DISTANCE', "),
    (
        changed(HEADER, "settings", {**HEADER["settings"], "SIMHASH_SCOPE": "planet"}),
        "is wrong: SIMHASH_SCOPE must be one of crawl, domain, host, ",
    ),
]


@pytest.mark.parametrize(("line", "problem"), WRONG_HEADERS)
def test_a_wrong_header_is_refused(line: str, problem: str) -> None:
    with pytest.raises(Refused) as caught:
        read(line, "\n")
    assert str(caught.value).startswith(f"pages.jsonl:1: the line {problem}")


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "LONGEST", 1000)
    with pytest.raises(Refused, match=r"^pages.jsonl:2: the line has more than 1,000 bytes$"):
        list(read(header_line(Header()), b"1" * 2000))
