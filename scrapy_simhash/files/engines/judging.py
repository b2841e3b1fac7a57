"""Candidates to pairs by the rule, and pages that hang together to verdicts and clusters by the store of a crawl."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from scrapy_simhash.config import Config
from scrapy_simhash.detector import header_for, verdict_of
from scrapy_simhash.files.batch.marks import marks_of
from scrapy_simhash.files.batch.steps import Fate, fate_of
from scrapy_simhash.files.engines.tables import CLUSTERS, PAIRS, VERDICTS, rows_of
from scrapy_simhash.judge.clusters import Contest, Preference
from scrapy_simhash.judge.rule import rule_of
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.store import MemoryStore, Posting
from scrapy_simhash.store.candidates import distance_of
from scrapy_simhash.store.sqlite.schema import unsigned

#: Pages after which a store makes place for another one: components are whole in one.
_PAGES = 10_000


class ComparePairs:
    """Candidates to `PAIRS`: a, b, and value, sketch and own part of each."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Return batches of the pairs that the rule accepts."""
        rule = rule_of(self._config)
        for batch in batches:
            found = []
            for first, group in groupby(rows_of(batch), key=itemgetter(0)):
                rows = list(group)
                one = Fingerprint(unsigned(rows[0][2]), 0, rows[0][3], rows[0][4])
                others = [Fingerprint(unsigned(row[5]), 0, row[6], row[7]).compared_bytes() for row in rows]
                for place, similarity, _ in rule.compare_all(one, others):
                    if similarity is not None:
                        found.append((first, rows[place][1], similarity, distance_of(one, others[place])))
            yield PAIRS.batch(found)


class JudgePages:
    """Pages to `VERDICTS`: component, id, url, scope, value, text_hash, is_short, sketch, own.

    By component and id. A store gets the pages of each component in their order, and says what it says in a crawl.
    """

    def __init__(self, config: Config) -> None:
        self._config = config

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Return batches of what a store says that gets the pages of each component in their order."""
        header, blocks = header_for(self._config), self._config.blocks
        store, ids, last = MemoryStore(header, blocks), dict[bytes, int](), None
        numbers: list[int] = []
        for batch in batches:
            found = []
            for component, id, url, scope, value, text_hash, is_short, sketch, own in rows_of(batch):
                if component != last and len(ids) >= _PAGES:
                    store, ids, numbers = MemoryStore(header, blocks), {}, []
                last = component
                key = url.encode("utf-8", "surrogatepass")
                if key not in ids:
                    # The store counts pages as they come, too.
                    ids[key] = id
                    numbers.append(id)
                fingerprint = Fingerprint(unsigned(value), 0, sketch, own)
                known = None if text_hash is None else unsigned(text_hash)
                posting = Posting(key, url, scope, fingerprint, is_short, known)
                verdict = verdict_of(posting, store.claim(posting))
                if verdict.cluster is not None:
                    verdict = replace(verdict, cluster=numbers[verdict.cluster])
                is_kept = fate_of(verdict) is Fate.KEPT
                found.append((id, url, *marks_of(verdict, is_kept, None).values()))
            yield VERDICTS.batch(found)


class GatherClusters:
    """Pages to `CLUSTERS`: cluster, url, canonical; by cluster and id."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Return batches of the clusters of two URLs or more."""
        preference = Preference(self._config.prefer)
        rows = (row for batch in batches for row in rows_of(batch))
        found = []
        for cluster, pages in groupby(rows, key=itemgetter(0)):
            contest: Contest | None = None
            urls: dict[str, None] = {}
            for _, url, canonical in pages:
                contest = contest or Contest(preference, url)
                contest.enter(url, canonical)
                urls[url] = None
            if contest is not None and len(urls) > 1:
                found.append((cluster, list(urls), contest.winner))
            if len(found) >= _PAGES:
                yield CLUSTERS.batch(found)
                found = []
        yield CLUSTERS.batch(found)
