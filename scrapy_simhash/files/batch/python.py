"""dedup() and cluster(): run a batch in Python over any iterable of pages."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from scrapy_simhash.config import Config
from scrapy_simhash.files.batch.page import Selection
from scrapy_simhash.files.batch.run import Options, PageCluster, Run
from scrapy_simhash.files.records import Broken, Fields, PassedOver, Record

logger = logging.getLogger(__name__)

#: A page in Python: a record, its URL and its HTML, or a dictionary with fields for both.
AnyPage: TypeAlias = "Record | tuple[str, str | bytes] | Mapping[str, Any]"
#: Max broken records that are logged.
_LOGGED = 10


def dedup(
    pages: Iterable[AnyPage],
    *,
    mark: bool = False,
    keep: str = "first",
    protect: bool = False,
    two_pass: bool = False,
    processes: int = 1,
    config: Config | None = None,
    fields: Fields | None = None,
) -> Iterator[Any]:
    """Yield, unchanged, those of *pages* that are not near-duplicates of an earlier page.

    With *mark*, yield an `Outcome` for each page instead. A page is a `Record`, a pair of URL and HTML, or a
    dictionary. *fields* has the names of the fields of a dictionary; the default is ``url``, and ``html``, ``text``
    or ``body``. Any other object is left out and logged.

    *keep* selects which page of a cluster is kept: the ``first``, the ``longest``, or the ``preferred`` page
    (``https`` before ``http``, then the most frequent canonical URL). *protect* keeps copies that ``SIMHASH_PROTECT``
    protects in a crawl. *two_pass* learns the boilerplate of sites from all pages before the first page is judged.
    With *two_pass*, or a *keep* other than ``first``, the pages are read twice and cannot be an iterator. *processes*
    is the number of processes that read pages; it does not affect the results.

    >>> story = "<p>" + " ".join(f"the ship and {word} went out to the sea" for word in "abcdefgh")
    >>> pages = [("https://example.com/story", story), ("https://example.com/story?print=1", story + "<p>Buy boats!")]
    >>> [url for url, html in dedup(pages)]
    ['https://example.com/story']
    >>> [outcome.verdict.status.value for outcome in dedup(pages, mark=True)]
    ['new', 'near_duplicate']
    """
    options = Options(config or Config(), keep, protect, two_pass, processes)
    run = Run(_records_of(pages, fields or Fields(), options.reads_twice), options)
    return _outcomes(run, mark)


def cluster(
    pages: Iterable[AnyPage],
    *,
    two_pass: bool = False,
    processes: int = 1,
    config: Config | None = None,
    fields: Fields | None = None,
) -> Iterator[PageCluster]:
    """Read all *pages*, then yield the clusters of two or more pages. Arguments as for dedup().

    >>> story = "<p>" + " ".join(f"the ship and {word} went out to the sea" for word in "abcdefgh")
    >>> pages = [("https://example.com/story", story), ("https://example.com/story?print=1", story + "<p>Buy boats!")]
    >>> [found.members for found in cluster(pages)]
    [('https://example.com/story', 'https://example.com/story?print=1')]
    """
    options = Options(config or Config(), two_pass=two_pass, processes=processes, with_clusters=True)
    return _clusters(Run(_records_of(pages, fields or Fields(), options.reads_twice), options))


def _outcomes(run: Run, mark: bool) -> Iterator[Any]:
    for step in run.steps():
        if isinstance(step.item, Broken):
            continue
        # A Record of the caller keeps its source.
        source = step.item.source
        given = source.page if isinstance(source, _Given) else None
        if mark:
            outcome = step.outcome
            yield outcome if given is None else outcome._replace(record=replace(outcome.record, source=given))
        elif step.selection is Selection.KEPT:
            yield step.item if given is None else given


def _clusters(run: Run) -> Iterator[PageCluster]:
    for _ in run.steps():
        pass
    yield from run.clusters()


class _Given(NamedTuple):
    """A page as the caller passed it, as the source of a record."""

    page: Any


def _records_of(
    pages: Iterable[Any], fields: Fields, reads_twice: bool
) -> Callable[[], Iterator[Record | Broken]]:
    kind = type(pages).__name__
    if isinstance(pages, str | bytes | Mapping):
        raise TypeError(f"the pages must be an iterable of pages, got one {kind}")
    if hasattr(pages, "columns") and hasattr(pages, "shape"):
        raise TypeError(
            f"the pages must be an iterable of pages, got a {kind}, which yields its columns. Pass its rows as"
            " dictionaries: .to_dict('records') in pandas, .iter_rows(named=True) in polars"
        )
    if reads_twice and iter(pages) is pages:
        raise TypeError(
            "two_pass, keep='longest' and keep='preferred' read the pages twice: pass a list or another collection"
            f" instead of a {kind}"
        )

    def records() -> Iterator[Record | Broken]:
        broken = 0
        for number, page in enumerate(pages, 1):
            record = _record(f"page {number}", page, fields)
            if isinstance(record, Broken):
                broken += 1
                if broken <= _LOGGED:
                    more = " (further records are not logged)" if broken == _LOGGED else ""
                    logger.warning("%s is left out: %s%s", record.place, record.reason, more)
            yield record

    return records


def _record(place: str, page: object, fields: Fields) -> Record | Broken:
    if isinstance(page, Record):
        return page
    if isinstance(page, tuple) and len(page) == 2:
        values, fields = dict(zip(("url", "html"), page, strict=True)), Fields("url", "html")
    elif isinstance(page, Mapping):
        values = dict(page)
    else:
        return Broken(
            place, f"{type(page).__name__} is not a Record, a pair of URL and HTML, or a dictionary"
        )
    record = fields.record(place, values, _Given(page))
    return Broken(place, record.reason) if isinstance(record, PassedOver) else record
