"""Functions over batches of rows, from pages to fingerprints and keys, and from candidates to pairs and verdicts."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain, groupby
from operator import itemgetter
from sys import byteorder
from typing import Any

from xxhash import xxh3_64_intdigest

from scrapy_simhash.config import Config
from scrapy_simhash.detector import header_for, verdict_of, verdict_without_text
from scrapy_simhash.files.batch.page import GivenSite, PageReader, Read, Selection, marks_of, selection_of
from scrapy_simhash.files.engines import sql
from scrapy_simhash.files.engines.sql import BANDS, arrow, rows_of
from scrapy_simhash.files.records import Record
from scrapy_simhash.files.records.record import wrong_url
from scrapy_simhash.judge.clusters import first_of_joined, gathered
from scrapy_simhash.judge.policy import Protection
from scrapy_simhash.judge.rule import rule_of
from scrapy_simhash.page.fingerprint import FACTS_AT, MINHASH_BYTES, Fingerprint, UniqueText, is_part, number
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.scope import host_of, scope_function
from scrapy_simhash.store import Posting
from scrapy_simhash.store.candidates import distance_of
from scrapy_simhash.store.sqlite import SqliteStore
from scrapy_simhash.store.sqlite.schema import signed, unsigned
from scrapy_simhash.verdict import Reason


class ReadPages:
    """Map pages to `READINGS`. The columns of pages: id, url, page, scope, content_type, content_language, answer.

    The last four may be None. A page without an *answer* of the boilerplate model is read without a model.
    """

    def __init__(self, config: Config, *, is_text: bool) -> None:
        """*is_text* is whether the pages are plain text."""
        self._config = config
        self._is_text = is_text

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield batches of `READINGS`."""
        reader = PageReader(self._config, with_canonical=True)
        scope_of = scope_function(self._config.scope)
        for batch in batches:
            rows = []
            for id, url, page, scope, kind, language, answer in rows_of(batch):
                url = url or ""
                scope = scope_of(url) if scope is None else scope
                asked = Record(url, page or "", "", self._is_text, kind, language)
                rows.append(self._row(reader, id, asked, scope, GivenSite(answer)))
            yield sql.READINGS.batch(rows)

    def _row(self, reader: PageReader, id: int, page: Record, scope: str, site: GivenSite) -> tuple[Any, ...]:
        learns = self._config.site_learning and not page.is_text
        fault = wrong_url(page.url)
        read = Read(None, fault=fault) if fault else reader.read(page, site if learns else None)
        reading, host = read.reading, host_of(page.url)
        about = (id, page.url, scope, host)
        if reading is None or (reading.fingerprint is None and reading.page_hash is None):
            why = Reason.TOO_LARGE if reading is None else verdict_without_text(reading).reason
            outcome = sql.FAULT if read.fault or why is None else why.value
            return *about, None, None, False, None, None, read.canonical, outcome, None
        page_hash = reading.page_hash
        # Pages without a fingerprint and a hash have already been returned.
        found = reading.fingerprint or Fingerprint(page_hash or 0, 0)
        text_hash = None if page_hash is None else signed(page_hash)
        is_short = reading.fingerprint is None
        content = signed(found.value), text_hash, is_short, found.sketch, found.own
        return *about, *content, read.canonical, None, reading.pieces or None


def learn_sites(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield batches of `SITES` for batches of rows of host, pieces and sketch, sorted by host and page."""
    rows = (row for batch in batches for row in rows_of(batch))
    found = []
    for host, pages in groupby(rows, key=itemgetter(0)):
        profile = SiteProfile()
        for _, pieces, sketch in pages:
            profile.learn(pieces, sketch)
        found.append((host, profile.to_bytes()))
        if len(found) >= _SITES:
            yield sql.SITES.batch(found)
            found = []
    yield sql.SITES.batch(found)


def answer_pages(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield batches of `ANSWERS` for batches of rows of host, id and pieces, sorted by host.

    The first row of a host has its model instead of the pieces, and no id.
    """
    host, profile = None, SiteProfile()
    for batch in batches:
        found = []
        for name, id, pieces in rows_of(batch):
            if name != host:
                host, profile = name, SiteProfile()
            if id is None:
                profile.join(pieces)
            elif (answer := profile.flags(pieces)) is not None:
                found.append((id, answer))
        yield sql.ANSWERS.batch(found)


#: Models per batch, each of 64 KiB at most.
_SITES = 100


def keys(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield batches of `KEYS` for batches of rows of id, scope, value, sketch and own."""
    pa = arrow()
    scope_number = lru_cache(1_000)(lambda scope: signed(number(scope)))
    for batch in batches:
        ids, scopes, values, title_keys = array("q"), array("q"), array("q"), array("q")
        minhashes = bytearray()
        for id, scope, value, sketch, own in rows_of(batch):
            words = sketch[MINHASH_BYTES:FACTS_AT]
            title_key = signed(xxh3_64_intdigest(words)) if any(words) else 0
            forms = [(value, sketch[:MINHASH_BYTES])]
            if is_part(own):
                part = UniqueText.from_bytes(own)
                # A unique text that is too short for a fingerprint has no value.
                if part.value:
                    forms.append((signed(part.value), part.minhash))
            for form_value, minhash in forms:
                ids.append(id)
                scopes.append(scope_number(scope))
                values.append(form_value)
                title_keys.append(title_key)
                minhashes += minhash
        bands = array("i", bytes(minhashes))
        if byteorder == "little":
            bands.byteswap()
        columns = [_column(pa.int64(), row) for row in (ids, scopes, values, title_keys)]
        columns += [_column(pa.int32(), bands[band::BANDS]) for band in range(BANDS)]
        yield pa.RecordBatch.from_arrays(columns, schema=sql.KEYS.arrow())


def _column(kind: Any, values: array[int]) -> Any:
    pa = arrow()
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


#: Clusters per batch.
_CLUSTERS = 10_000


class ComparePairs:
    """Map candidates (a, b, and value, sketch and unique text of each) to `PAIRS`."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield batches of the pairs that the rule accepts."""
        rule = rule_of(self._config)
        for batch in batches:
            found = []
            for first, group in groupby(rows_of(batch), key=itemgetter(0)):
                rows = list(group)
                one = _fingerprint(*rows[0][2:5])
                others = [_fingerprint(*row[5:]).compared_bytes() for row in rows]
                for place, similarity, *_ in rule.compare_all(one, others):
                    if similarity is not None:
                        found.append((first, rows[place][1], similarity, distance_of(one, others[place])))
            yield sql.PAIRS.batch(found)


def _fingerprint(value: int, sketch: bytes, own: bytes) -> Fingerprint:
    return Fingerprint(unsigned(value), 0, sketch, own)


class JudgePages:
    """Map component, id, url, scope, value, text_hash, is_short, sketch, own, titled_elsewhere to `JUDGED_PAGES`.

    The rows are sorted by component and id. The pages of each component are claimed in order, in a separate scope, as
    in a crawl. *titled_elsewhere* is the number of clusters of other components with the title of the page.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._protects_facts = Protection.FACTS.value in config.protect

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Claim the pages of each component in order, and yield batches of the results."""
        header = header_for(self._config)
        store = SqliteStore(header=header)
        #: The ids of pages by key, and the ids of originals by number in the store.
        ids, id_of, last = dict[bytes, int](), dict[int, int](), None
        for batch in batches:
            found = []
            for row in rows_of(batch):
                component, id, url, scope, value, text_hash, is_short, sketch, own, titled_elsewhere = row
                if component != last:
                    ids, id_of = {}, {}
                    if len(store) >= _PAGES:
                        store.close()
                        store = SqliteStore(header=header)
                last, store.titled_elsewhere = component, titled_elsewhere
                # A page of another component, in another scope, may have the same URL.
                key = f"{component} {url}".encode("utf-8", "surrogatepass")
                first = ids.setdefault(key, id)
                fingerprint = _fingerprint(value, sketch, own)
                known = None if text_hash is None else unsigned(text_hash)
                posting = Posting(key, url, f"{component} {scope}", fingerprint, is_short, known)
                claim = store.claim(posting)
                # A cluster that is not known yet begins with this page.
                id_of.setdefault(claim.cluster, first)
                verdict = verdict_of(posting, claim)
                if verdict.cluster is not None:
                    verdict = replace(verdict, cluster=id_of[verdict.cluster])
                # Other protections need the page, not only its fingerprint.
                is_protected = verdict.contradicts and self._protects_facts
                is_kept = is_protected or selection_of(verdict) is Selection.KEPT
                marks = marks_of(verdict, is_kept, Protection.FACTS.value if is_protected else None)
                also_near = [id_of[cluster] for cluster in verdict.also_near]
                text = None if verdict.text_number is None else id_of[verdict.text_number]
                found.append((id, url, *marks.values(), text, also_near))
            yield sql.JUDGED_PAGES.batch(found)


#: Number of pages after which a new store is created, so that memory does not grow with the table.
_PAGES = 20_000


def gather_clusters(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield `CLUSTERS` for rows of component, cluster, url, canonical and also_near, sorted by component.

    A cluster has two or more URLs.
    """
    rows = chain.from_iterable(map(rows_of, batches))
    found: list[tuple[object, ...]] = []
    for _, component in groupby(rows, key=itemgetter(0)):
        pages = list(component)
        first_of = first_of_joined((cluster, other) for _, cluster, _, _, near in pages for other in near)
        of_clusters = [(first_of.get(cluster, cluster), *page) for _, cluster, *page, _ in pages]
        found += gathered(sorted(of_clusters, key=itemgetter(0)))
        if len(found) >= _CLUSTERS:
            yield sql.CLUSTERS.batch(found)
            found = []
    yield sql.CLUSTERS.batch(found)
