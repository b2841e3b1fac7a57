"""Checkpoints: what was written to the log goes into the file, beside the crawl.

A transaction ends when it is in the log, ``-wal``, and in the system's hands: no kill takes it back. No page waits
for the disk. That is done here, in a thread, while SQLite lets go of the interpreter::

    claims     ----|-|--|-|-|--|--|-|-|--|-|--|-|-|--|-|-->   into the log
    thread         `........ checkpoint ........`             log --> disk, log --> file, file --> disk

When the thread finds that it has everything, the next claim begins at the start of the log again. In a busy crawl
some claims have always come meanwhile, and the log would grow without end. So when it is too long, one checkpoint
follows another: each has only what came during the one before it, and takes less time. If the log is still not moved
as a whole after some of them, claims wait for the little that is left.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread

from scrapy_simhash.store.sqlite.files import connect

#: Transactions from one checkpoint to the next; each adds some 20 KB to the log.
EVERY = 1_000
#: Pages of 4 KiB from which on the log is too long: 64 MiB.
LONG = 16_384
#: Max checkpoints one after another before claims wait for the last one.
PASSES = 16


class Checkpoints:
    """A thread that makes checkpoints of the store at *path* from time to time. Each writer must hold *turn*."""

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
        """End the thread; a checkpoint that it is about is finished first. Again, it does nothing."""
        self._is_ending = True
        self._wake.set()
        self._thread.join()
        self._connection.close()

    def _work(self) -> None:
        while self._wake.wait() and not self._is_ending:
            self._wake.clear()
            # A full disk is reported by the claims. Nothing is lost: all is in the log.
            with suppress(sqlite3.Error):
                self._move()

    def _move(self) -> None:
        """Move the log into the file; if it is too long, all of it."""
        for _ in range(PASSES):
            pages, left = self._pass()
            if pages <= LONG or not left:
                return
        with self._turn:
            self._pass()

    def _pass(self) -> tuple[int, int]:
        """Move what is in the log by now; return its pages, and how many of them are not in the file yet."""
        # PASSIVE does not wait for readers and writers, and they do not wait for it.
        ((_, pages, moved),) = self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        return int(pages), int(pages) - int(moved)
