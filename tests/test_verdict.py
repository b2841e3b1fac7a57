"""Verdicts, matches and clusters as rows of a table."""

from __future__ import annotations

import json
from typing import Any

import pandas  # type: ignore[import-untyped]
import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response

from scrapy_simhash import (
    Fingerprint,
    PageFingerprinter,
    Reason,
    SimhashIndex,
    Status,
    Verdict,
    result,
)
from scrapy_simhash.crawl.marks import write_result
from scrapy_simhash.crawling import Page
from scrapy_simhash.verdict import NearMiss

NEW = Verdict(
    Status.NEW,
    Fingerprint(2**64 - 2, 30),
    cluster=3,
    near_miss=NearMiss("https://example.com/other", 9, 0.61239, 0.583),
)
COPY = Verdict(
    Status.REVISIT,
    Fingerprint(5, 30),
    "https://example.com/",
    4,
    0.91239,
    7,
    Reason.NOW_NEAR_DUPLICATE,
    last_seen=1_790_000_000,
    rank=2,
    hints=("canonical", "url"),
    threshold=0.9,
)


def page_of(request: Request, verdict: Verdict, **more: Any) -> Page:
    return Page(request, HtmlResponse(request.url), PageFingerprinter(), verdict, **more)


@pytest.mark.parametrize(
    "verdict", [NEW, COPY, Verdict(Status.UNKNOWN), Verdict(Status.SKIPPED, reason=Reason.STATUS)]
)
def test_the_verdict_of_a_response_is_in_its_result(verdict: Verdict) -> None:
    request = Request("https://example.com/b")
    assert result(request) is result(Response(request.url)) is None
    write_result(page_of(request, verdict))
    page = Response(request.url, request=request)
    assert result(page) == result(request) == Verdict.from_dict(json.loads(json.dumps(verdict.to_dict())))
    found = result(page)
    assert found is not None
    assert found.to_dict() == verdict.to_dict()
    assert (found.status, found.reason, found.fingerprint) == (
        verdict.status,
        verdict.reason,
        verdict.fingerprint,
    )


def test_pandas_keeps_all_bits() -> None:
    frame = pandas.DataFrame([NEW.to_dict(), COPY.to_dict()])
    assert list(frame["fingerprint"]) == [NEW.fingerprint.hex, COPY.fingerprint.hex]  # type: ignore[union-attr]
    assert list(frame["similarity"].dropna()) == [0.912]
    assert str(pandas.to_datetime(frame["last_seen"]).dropna().iloc[0]) == "2026-09-21 14:13:20+00:00"
    index = SimhashIndex()
    index.add(2**64 - 1, key=1)
    matches = pandas.DataFrame([match.to_dict() for match in index.find(2**64 - 2)])
    assert matches.to_dict("records") == [{"key": 1, "fingerprint": "f" * 16, "distance": 1}]
