from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from io import BytesIO
from operator import add
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash import Fingerprint
from scrapy_simhash.cli import postings
from scrapy_simhash.cli.postings import (
    Site,
    header_line,
    parsed_posting,
    parsed_site,
    posting_line,
    read_export,
    site_line,
)
from scrapy_simhash.cli.streams import Refused
from scrapy_simhash.notes import RULES, SITE
from scrapy_simhash.observers.url_rules.urls import Note as RuleNote
from scrapy_simhash.page.fingerprint import FACTS_AT, MINHASH_BYTES, PART, UNKNOWN, WHOLE, UniqueText
from scrapy_simhash.page.fingerprint.facts import NONE
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.store import Header, History, Posting
from tests.store.cases import FACTS, whole


def read(*lines: str | bytes) -> tuple[Header, Iterator[Posting | Site]]:
    content = b"".join(line if isinstance(line, bytes) else line.encode() for line in lines)
    return read_export(BytesIO(content), "pages.jsonl")


def as_one(text: str) -> str:
    """Return *text* with surrogate pairs joined, which JSON does not distinguish."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


ANY_TEXT = st.text(st.characters() | st.characters(categories=["Cs"])).map(as_one)
ANY_VALUE = st.integers(0, 2**64 - 1)
ANY_UNIQUE_TEXT = st.builds(
    lambda kind, tokens, value, minhash: UniqueText(kind, tokens, value, minhash).to_bytes(),
    st.sampled_from([UNKNOWN, WHOLE, PART]),
    st.integers(0, 65_535),
    ANY_VALUE,
    st.binary(min_size=MINHASH_BYTES, max_size=MINHASH_BYTES),
)
ANY_TIME = st.integers(-(2**63) + 1, 2**63 - 1) | st.integers(0, 2**32)
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
        own=st.just(b"") | ANY_UNIQUE_TEXT,
    ),
    st.booleans(),
    st.none() | ANY_VALUE,
    ANY_TIME,
    st.booleans(),
    st.none() | ANY_VALUE,
    st.none() | st.builds(History, ANY_TIME, ANY_TIME, st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1)),
)


@given(ANY_POSTING, st.none() | ANY_TEXT)
def test_a_posting_is_one_line_of_ascii_and_survives_a_round_trip(
    posting: Posting, original: str | None
) -> None:
    line = posting_line(posting, original)
    assert line.isascii()
    assert line.endswith("}\n")
    assert len(line.splitlines()) == 1
    assert whole(parsed_posting(json.loads(line))) == whole(posting)
    assert parsed_posting(json.loads(line)).history == posting.history
    assert parsed_posting(json.loads(line)).fingerprint.own == posting.fingerprint.own
    assert json.loads(line).get("duplicate_of") == original


def test_lines_have_the_documented_format() -> None:
    assert header_line(Header("web-4")) == (
        '{"format": "scrapy-simhash postings", "version": 4, "scheme": "web-4", "width": 64, "own_parts": 1,'
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


def test_an_export_has_a_header_and_postings() -> None:
    found = [Posting(b"a", "u", "", Fingerprint(1)), Posting(b"b", "v", "", Fingerprint(2))]
    lines = [header_line(Header("web-4")), *map(posting_line, found)]
    header, entries = read(*lines)
    assert (header, list(entries)) == (Header("web-4"), found)
    # Lines of other programs: other white space and field names, a byte order mark, no final newline.
    others = [json.dumps({"later": 1, **json.loads(line)}, separators=(",", ":")) for line in lines]
    assert list(read(b"\xef\xbb\xbf", "\r\n".join(others))[1]) == found


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


def note_line(**changes: object) -> str:
    line = json.loads(site_line(Site("e.com", "site", SiteProfile().to_bytes())))
    return json.dumps({**line, **changes})


def test_a_boilerplate_profile_survives_a_round_trip() -> None:
    for kind, note in ((SITE, SiteProfile().to_bytes()), (RULES, RuleNote().to_bytes())):
        site = Site("e.com", kind, note)
        assert parsed_site(json.loads(site_line(site))) == site


WRONG_VALUES: dict[str, list[Any]] = {
    "key": ["abc", None, "ab" * 65_536],
    "url": [None, MISSING],
    "scope": [3, "é" * 40_000],
    "value": ["0" * 17, "٠" * 16, 7, MISSING],
    "sketch": ["AAAA", "é", "A" * 171 + "="],
    "own": ["AAA", "BAAA"],
    "short": [1],
    "page_hash": [None],
    "seen": ["yesterday", 2**63, MISSING],
    "first_seen": [True, []],
    "visits": [2**63, "3", 1.5],
}
WRONG: list[str | bytes] = [
    *("", "{}", '["url"]', "[" * 100_000, b"\xff", json.dumps(HEADER)),
    *(changed(SKETCHED, name, value) for name, values in WRONG_VALUES.items() for value in values),
    changed(POSTING, "own", "AAAAAAAAAAAAAAA="),
    note_line(note="AAAA"),
    note_line(kind="weather"),
    note_line(site=5),
]


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_line_is_refused_with_its_number(line: str | bytes) -> None:
    _, entries = read(
        header_line(Header("web-4")), json.dumps(POSTING), "\n", line, "\n", json.dumps(POSTING)
    )
    assert next(entries) == parsed_posting(POSTING)
    with pytest.raises(Refused, match=r"^pages.jsonl:3: the line is not a page or a site of an export: .+$"):
        next(entries)


def test_the_wrong_field_is_reported() -> None:
    for name, value in (("value", "0" * 15), ("url", None), ("visits", -(2**64))):
        with pytest.raises(ValueError, match=f"^'{name}' is wrong: "):
            parsed_posting({**SKETCHED, name: value})


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{}", "it must begin with"),
        (
            changed(HEADER, "version", 3),
            "version is 3, but this release reads 4: use the release that wrote it",
        ),
        (changed(HEADER, "version", MISSING), "'version'"),
        (changed(HEADER, "settings", {}), "missing or unknown settings: 'SIMHASH_MAX_DISTANCE', "),
        (
            changed(HEADER, "settings", {**HEADER["settings"], "SIMHASH_SCOPE": "planet"}),
            "SIMHASH_SCOPE must be",
        ),
    ],
)
def test_a_wrong_header_is_refused(line: str, problem: str) -> None:
    with pytest.raises(Refused) as caught:
        read(line, "\n")
    assert str(caught.value).startswith(f"pages.jsonl:1: the line is not the header of an export: {problem}")


def test_an_endless_line_is_refused_before_it_fills_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "LONGEST", 1000)
    with pytest.raises(Refused, match=r"^pages.jsonl:2: .* it has more than 1,000 bytes$"):
        list(read(header_line(Header()), b"1" * 2000)[1])
