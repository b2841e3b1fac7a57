"""Checkpoints: what was written to the log goes into the file, beside the crawl.

A transaction ends when it is in the log, ``-wal``, and in the system's hands: no kill takes it back. Nobody waits for
the disk. That is done here, in a thread, while SQLite lets go of the interpreter::

    claims     ----|-|--|-|-|--|--|-|-|--|-|--|-|-|--|-|-->   into the log
    thread         `........ checkpoint ........`             log --> disk, log --> file, file --> disk

When the thread finds that it has everything, the next claim begins at the start of the log again. In a busy crawl
some claims have always come meanwhile, and the log would grow for ever: when it is too long, the thread has the
claims wait for the little that is left.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread

from scrapy_simhash.store.sqlite.files import connect

#: Transactions from one checkpoint to the next; each adds some 20 KB to the log.
EVERY = 1_000
#: Pages of 4 KiB that the log may have before claims have to wait, for what came during a checkpoint: 64 MiB.
LONG = 16_384


class Checkpoints:
    """A thread that makes checkpoints of the store at *path*, every now and then. Nobody may write without *turn*."""

    def __init__(self, path: Path, turn: Lock) -> None:
        self._turn = turn
        self._connection = connect(path, "rw")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._transactions = 0
        self._wake, self._is_ending = Event(), False
        self._thread = Thread(target=self._work, name="simhash checkpoints", daemon=True)
        self._thread.start()

    def count(self) -> None:
        """Take note of a transaction."""
        self._transactions += 1
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
            # A full disk is told by the claims. Nothing is lost: all is in the log.
            with suppress(sqlite3.Error):
                if self._pass() > LONG:
                    with self._turn:
                        self._pass()

    def _pass(self) -> int:
        """Move what is in the log by now, and return how many pages that are, with those that were moved before."""
        # PASSIVE waits for nobody, neither for readers nor for writers, and nobody waits for it.
        ((_, pages, _),) = self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        return int(pages)
