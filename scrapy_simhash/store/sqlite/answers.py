"""Answers: what a crawl keeps of each page's latest answer, in a table that is made when the first one is kept.

A file without the table is complete: no other table refers to it, so the version of the tables stays.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from pathlib import Path

from scrapy_simhash.store.base import Answered
from scrapy_simhash.store.damage import Damage
from scrapy_simhash.store.sqlite.failures import said_at_work
from scrapy_simhash.store.sqlite.rows import told, unsigned, unsigned_hash

#: By number of the page: a key would take as much as all else.
TABLE = """CREATE TABLE IF NOT EXISTS answers (
    page INTEGER PRIMARY KEY,
    about BLOB NOT NULL,
    requests BLOB
)"""
_IS_THERE = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'answers'"
_ANSWER = """SELECT pages.seen,
    EXISTS (SELECT 1 FROM runs WHERE runs.number = pages.run AND ended IS NOT NULL),
    pages.text_hash, pages.value, contents.is_short, contents.page, originals.url, about, requests
FROM pages
JOIN answers ON answers.page = pages.number
JOIN contents ON contents.number = pages.content
LEFT JOIN pages AS originals ON originals.number = contents.page AND originals.number <> pages.number
WHERE pages.key = ?"""
_SEEN = "UPDATE pages SET seen = ? WHERE key = ?"
_KEEP = "INSERT OR REPLACE INTO answers SELECT number, ?, ? FROM pages WHERE key = ?"


class KeepsAnswers:
    """The part of a SqliteStore that keeps answers; see :class:`~scrapy_simhash.store.base.KeepsAnswers`."""

    _path: Path
    damage: Damage
    _execute: Callable[..., sqlite3.Cursor]
    _transaction: Callable[[], AbstractContextManager[None]]
    _commit: Callable[[], None]
    _has_answers = False

    def _look_for_answers(self) -> None:
        self._has_answers = bool(self._execute(_IS_THERE).fetchall())

    def answer(self, key: bytes) -> Answered | None:
        """See :meth:`KeepsAnswers.answer <scrapy_simhash.store.base.KeepsAnswers.answer>`. One query."""
        if not self._has_answers:
            return None
        with said_at_work(self._path, self.damage):
            found = self._execute(_ANSWER, (key,)).fetchall()
        if not found:
            return None
        ((seen, is_settled, text_hash, value, is_short, cluster, original, about, requests),) = found
        return Answered(
            *(seen, bool(is_settled), unsigned_hash(text_hash), unsigned(value), bool(is_short), cluster),
            None if original is None else told(original),
            about,
            requests or b"",
        )

    def keep_answers(self, answers: Collection[tuple[bytes, int, bytes, bytes]]) -> None:
        """See :meth:`KeepsAnswers.keep_answers <scrapy_simhash.store.base.KeepsAnswers.keep_answers>`.

        One transaction, with which the table is made if it is not there.
        """
        with self._transaction():
            if not self._has_answers:
                self._execute(TABLE)
            for key, seen, about, requests in answers:
                self._execute(_SEEN, (seen, key))
                self._execute(_KEEP, (about, requests or None, key))
            self._commit()
        self._has_answers = True

    def _forget_answer(self, page: int) -> None:
        """Forget the answer of a page that is removed, in the transaction that removes it."""
        if self._has_answers:
            self._execute("DELETE FROM answers WHERE page = ?", (page,))
