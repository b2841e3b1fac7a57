"""dedup() and cluster(): inputs, results and errors."""

from __future__ import annotations

import logging
from typing import Any

import pytest

import scrapy_simhash
from tests.files.batch.test_run import OTHER, STORY, record

RECORDS = [record("a", STORY), record("b", STORY), record("c", OTHER)]
PAIRS = [(each.url, each.page) for each in RECORDS]
DICTIONARIES = [{"url": each.url, "html": each.page, "number": number} for number, each in enumerate(RECORDS)]


def test_clusters_near_one_page_are_merged_but_no_more_pages_are_dropped() -> None:
    def text_of(first: int, last: int) -> list[str]:
        return [f"the {''.join(chr(97 + int(digit)) for digit in str(n))}" for n in range(first, last)]

    words = text_of(100, 200)
    first, second = [*text_of(200, 209), *words[9:]], [*words[:-9], *text_of(300, 309)]
    texts = {"a": first, "b": second, "x": text_of(400, 500), "between": words, "c": second}
    pages = [(f"https://example.com/{name}", f"<p>{' '.join(text)}</p>") for name, text in texts.items()]
    outcomes = list(scrapy_simhash.dedup(pages, mark=True))
    assert [outcome.is_kept for outcome in outcomes] == [True, True, True, False, False]
    assert [outcome.verdict.also_near for outcome in outcomes][3] in ((0,), (1,))
    (cluster,) = scrapy_simhash.cluster(pages)
    assert (cluster.cluster, cluster.members) == (0, tuple(pages[at][0] for at in (0, 1, 3, 4)))


@pytest.mark.parametrize("page", ["<p>A page", b"<p>A page", DICTIONARIES[0]], ids=["str", "bytes", "dict"])
def test_a_single_page_is_not_a_collection_of_pages(page: Any) -> None:
    for take in (scrapy_simhash.dedup, scrapy_simhash.cluster):
        with pytest.raises(TypeError, match=f"must be an iterable of pages, got one {type(page).__name__}"):
            take(page)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_table_is_refused_with_a_hint_about_its_rows(library: str) -> None:
    frame = pytest.importorskip(library).DataFrame(DICTIONARIES)
    for take in (scrapy_simhash.dedup, scrapy_simhash.cluster):
        with pytest.raises(TypeError, match=r"got a DataFrame, which yields its columns\. Pass its rows"):
            take(frame)


def test_records_that_are_not_pages_are_skipped_and_reported(caplog: pytest.LogCaptureFixture) -> None:
    odd: list[Any] = [PAIRS[0], {"url": "https://example.com/"}, {"url": 3, "html": "x"}, "page", PAIRS[1]]
    with caplog.at_level(logging.WARNING):
        assert list(scrapy_simhash.dedup(odd)) == [PAIRS[0]]
    messages = [each.getMessage() for each in caplog.records]
    assert messages == [
        "page 2 is left out: no HTML and no text",
        "page 3 is left out: the URL is not text: its type is int",
        "page 4 is left out: str is not a Record, a pair of URL and HTML, or a dictionary",
    ]
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        assert list(scrapy_simhash.dedup([odd[3]] * 30)) == []
    assert len(caplog.records) == 10
