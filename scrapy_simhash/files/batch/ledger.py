"""Ledger: what came of each record, on the disk: for clusters, and to choose which page of them is kept.

A file without a name: it is gone with the ledger. Memory for one cluster at a time, and a byte for each record.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from scrapy_simhash.display import html_of
from scrapy_simhash.files.batch.steps import Fate, Step
from scrapy_simhash.judge.clusters import Contest, Preference
from scrapy_simhash.verdict import Verdict

_TABLE = """\
CREATE TABLE records (
    number INTEGER PRIMARY KEY, cluster INTEGER, content INTEGER, url BLOB, canonical BLOB, features INTEGER,
    role INTEGER, judged BLOB
)
"""
#: Records that are written at once.
_AT_ONCE = 1_000

#: Which of the records of one content a record may be: the first, a copy that another one may take the place of, or
#: one that is kept or dropped whatever the others are.
_FIRST, _COPY, _ASIDE = range(3)


class PageCluster(NamedTuple):
    """Pages that say the same, two or more."""

    cluster: int
    """Number of the cluster, as in `Verdict.cluster`."""
    members: tuple[str, ...]
    """Their URLs, in the order in which they came; the first one is that which the others repeat."""
    preferred: str
    """The URL that is to be preferred by ``SIMHASH_PREFER``."""

    def to_dict(self) -> dict[str, Any]:
        """Return the cluster as a row of a table; its URLs are one string, with blanks between them."""
        return {
            "cluster": self.cluster,
            "pages": len(self.members),
            "first": self.members[0],
            "preferred": self.preferred,
            "urls": " ".join(self.members),
        }

    def _repr_html_(self) -> str:
        return html_of(self)


class _Row(NamedTuple):
    """A record of the table."""

    content: int
    number: int
    url: bytes
    canonical: bytes | None
    features: int
    role: int


class Ledger:
    """Takes note of every step that was judged."""

    def __init__(self, prefer: Sequence[str], *, keeps_all: bool) -> None:
        """Prefer by the criteria *prefer*, see `Preference`; *keeps_all* is for those who ask for `judged`."""
        self._keeps_all = keeps_all
        self._preference = Preference(prefer)
        # Not every batch needs it.
        import sqlite3

        # SQLite's own temporary database: on the disk as soon as it does not fit into its cache.
        self._connection = sqlite3.connect("", isolation_level=None)
        self._connection.execute(_TABLE)
        self._waiting: list[tuple[object, ...]] = []
        self._number = 0

    def note(self, step: Step) -> None:
        """Take note of the next step, broken ones included."""
        number = self._number
        self._number += 1
        verdict, page, read = step.verdict, step.page, step.read
        if verdict is None or page is None or not (self._keeps_all or verdict.cluster is not None):
            return
        if step.fate is Fate.COPY:
            role = _COPY
        else:
            role = _FIRST if step.fate is Fate.KEPT and not verdict.is_duplicate else _ASIDE
        judged = (verdict, step.fate.value, step.exemption, step.fault) if self._keeps_all else None
        row = (
            number,
            verdict.cluster,
            step.content,
            _bytes(page.url),
            _bytes(read.canonical) if read is not None and read.canonical is not None else None,
            0 if verdict.fingerprint is None else verdict.fingerprint.features,
            role,
            pickle.dumps(judged, pickle.HIGHEST_PROTOCOL) if judged else None,
        )
        self._waiting.append(row)
        if len(self._waiting) >= _AT_ONCE:
            self._write()

    def judged(self) -> Iterator[tuple[int, Verdict, Fate, str, str]]:
        """Yield for each record that is not broken its number, verdict, fate, exemption and fault."""
        self._write()
        for number, data in self._connection.execute("SELECT number, judged FROM records ORDER BY number"):
            verdict, fate, exemption, fault = pickle.loads(data)
            yield number, verdict, Fate(fate), exemption, fault

    def clusters(self) -> Iterator[PageCluster]:
        """Yield the clusters of two URLs or more, by their number."""
        self._write()
        rows = self._connection.execute(
            "SELECT cluster, url, canonical FROM records ORDER BY cluster, number"
        )
        for cluster, members in groupby(rows, key=itemgetter(0)):
            contest: Contest | None = None
            urls: dict[str, None] = {}
            for _, data, canonical in members:
                url = _text(data)
                contest = contest or Contest(self._preference, url)
                contest.enter(url, None if canonical is None else _text(canonical))
                urls[url] = None
            if contest is not None and len(urls) > 1:
                yield PageCluster(cluster, tuple(urls), contest.winner)

    def exchanges(self, keep: str) -> Iterator[tuple[int, int]]:
        """Yield the number of each record that was kept though another copy is *longest* or *preferred*, and of that.

        The longest has the most different shingles in its main text; of equal ones the first stays.
        """
        self._write()
        rows = self._connection.execute(
            "SELECT content, number, url, canonical, features, role FROM records WHERE content IS NOT NULL"
            " ORDER BY content, number"
        )
        best_of = self._longest if keep == "longest" else self._preferred
        for _, group in groupby(rows, key=itemgetter(0)):
            first, *others = [_Row(*row) for row in group]
            copies = [row for row in others if row.role == _COPY]
            if first.role == _FIRST and copies:
                best = best_of([first, *copies])
                if best != first.number:
                    yield first.number, best

    def _longest(self, rivals: Sequence[_Row]) -> int:
        return max(rivals, key=lambda row: (row.features, -row.number)).number

    def _preferred(self, rivals: Sequence[_Row]) -> int:
        contest = Contest(self._preference, _text(rivals[0].url))
        for row in rivals:
            contest.enter(_text(row.url), None if row.canonical is None else _text(row.canonical))
        winner = contest.winner.encode("utf-8", "surrogatepass")
        return next(row.number for row in rivals if row.url == winner)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _write(self) -> None:
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)", self._waiting)
        self._connection.execute("COMMIT")
        self._waiting.clear()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _bytes(url: str) -> bytes:
    # A lone surrogate has no form that SQLite could keep as text.
    return url.encode("utf-8", "surrogatepass")
