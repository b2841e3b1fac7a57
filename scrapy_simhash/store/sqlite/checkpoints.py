"""Checkpoints: move the write-ahead log into the file, in a thread.

A transaction is complete when its part of the log, ``-wal``, is in the cache of the operating system, so killing the
process does not lose it. No page waits for the disk. A thread writes to disk, and SQLite releases the GIL meanwhile::

    claims     ----|-|--|-|-|--|--|-|-|--|-|--|-|-|--|-|-->   into the log
    thread         `........ checkpoint ........`             log --> disk, log --> file, file --> disk

If the whole log is in the file, the next claim starts at the beginning of the log again. In a busy crawl new claims
always arrive during a checkpoint, and the log would grow without limit. So if the log is too long, several
checkpoints follow each other; each moves only the claims that arrived during the previous checkpoint, until none
arrived. If claims still arrived during `PASSES` checkpoints, they wait for the last checkpoint.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread

from scrapy_simhash.store.sqlite.files import connect

#: Transactions between two checkpoints. Each transaction adds about 20 KB to the log.
EVERY = 1_000
#: Max length of the log in pages of 4 KiB, that is 64 MiB.
LONG = 16_384
#: Max consecutive checkpoints before claims wait for the last checkpoint.
PASSES = 16


class Checkpoints:
    """A thread that makes checkpoints of the store at *path*. Writers hold the lock *turn*."""

    def __init__(self, path: Path, turn: Lock) -> None:
        self._turn = turn
        self._connection = connect(path, "rw")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._transactions = 0
        self._wake, self._is_ending = Event(), False
        self._thread = Thread(target=self._work, name="simhash checkpoints", daemon=True)
        self._thread.start()

    def count(self, transactions: int = 1) -> None:
        """Count transactions, and wake the thread after `EVERY`."""
        self._transactions += transactions
        if self._transactions >= EVERY:
            self._transactions = 0
            self._wake.set()

    def stop(self) -> None:
        """End the thread after a running checkpoint. A second call does nothing."""
        self._is_ending = True
        self._wake.set()
        self._thread.join()
        self._connection.close()

    def _work(self) -> None:
        while self._wake.wait() and not self._is_ending:
            self._wake.clear()
            # Claims report a full disk. Nothing is lost, because the log contains everything.
            with suppress(sqlite3.Error):
                self._move()

    def _move(self) -> None:
        """Move the log into the file; if the log is too long, also the claims that arrive meanwhile."""
        former = 0
        for _ in range(PASSES):
            pages, left = self._pass()
            # If a reader needs the pages that are left, the log cannot start again yet.
            if pages <= LONG or left or pages == former:
                return
            former = pages
        with self._turn:
            self._pass()

    def _pass(self) -> tuple[int, int]:
        """Move the log as it is at the beginning of the call, without pages that a reader still needs.

        Return its number of pages, and how many of them are left.
        """
        # PASSIVE neither waits for readers and writers nor blocks them.
        ((_, pages, moved),) = self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        return int(pages), int(pages) - int(moved)
