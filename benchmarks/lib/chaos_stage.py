"""Where ``chaos`` plays: a store, crawlers that claim from it, and the means to let things go wrong."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread

from benchmarks.lib import chaos_plan as kinds
from benchmarks.lib.chaos_crawler import PREFIX, crawl
from benchmarks.lib.chaos_ledger import Ledger
from benchmarks.lib.chaos_plan import Fault
from benchmarks.lib.trouble import Means, happen, means_of
from scrapy_simhash.cli.info import check
from scrapy_simhash.cli.places import FilePlace, Place, RedisPlace
from scrapy_simhash.cli.stores import walk
from scrapy_simhash.store import Header
from scrapy_simhash.store.redis import Server
from tests.store.proxy import Proxy
from tests.store.server import RedisServer
from tests.store.sqlite.stores import assert_sound

#: Seconds after which a crawler that does not get an answer, or does not end, never will.
PATIENCE = 60
#: Bytes of a file that can be written while the disk is full: a write ends in the middle.
ROOM = 50_000


class Crawler:
    """A process that crawls, with a thread that takes what it tells."""

    def __init__(self, number: int, place: str, seed: int, ledger: Ledger) -> None:
        self.number = number
        self._arguments = place, number, seed
        self._ledger = ledger
        self.start()

    def start(self) -> None:
        """Start the process; also in the place of one that was killed."""
        spawn = multiprocessing.get_context("spawn")
        self._pipe, end = spawn.Pipe()
        arguments = (*self._arguments, *self._ledger.begin(self.number), end)
        self.process = spawn.Process(target=crawl, args=arguments, daemon=True)
        self.process.start()
        end.close()
        self._reader = Thread(target=self._read, args=(self._pipe,), daemon=True)
        self._reader.start()

    def kill(self) -> None:
        """Kill the process, if it has not ended; all that it has told is taken."""
        self.process.kill()
        self._join()
        self._ledger.end(self.number)

    def end(self) -> str | None:
        """Tell the process to end, and return what is wrong with how it does."""
        with suppress(OSError):  # it has ended
            self._pipe.send("stop")
        self.process.join(PATIENCE)
        is_late = self.process.is_alive()
        self.kill()
        if is_late:
            return f"crawler {self.number} did not end"
        code = self.process.exitcode
        return None if code == 0 else f"crawler {self.number} ended by itself, with {code}"

    def _read(self, pipe: Connection) -> None:
        # A kill cuts what is under way.
        with suppress(EOFError, OSError):
            while True:
                self._ledger.take(self.number, pipe.recv())

    def _join(self) -> None:
        self.process.join()
        self._reader.join()
        self._pipe.close()


class Stage:
    """Crawlers that claim from the store at *asked*, which others find at *place*; *means* are those of its kind."""

    def __init__(self, place: Place, asked: str, crawlers: int, seed: int) -> None:
        self.ledger = Ledger()
        #: Pages of the store, once it was looked at.
        self.pages = 0
        self._place = place
        self._crawlers = [Crawler(number, asked, seed, self.ledger) for number in range(crawlers)]
        self._limit: int | None = None

    def kill(self) -> None:
        """Kill whatever still runs."""
        for crawler in self._crawlers:
            crawler.kill()

    def act(self, faults: Sequence[Fault], means: Mapping[str, Means], tell: Callable[[int], None]) -> None:
        """Let *faults* happen, once each crawler had an answer; *tell* hears how many have begun.

        Raises RuntimeError if a crawler gets none at the beginning.
        """
        if silent := self._await_answers():
            raise RuntimeError("; ".join(silent + self.ledger.failures))
        happen(faults, partial(self._fault, means=means), tell)

    def end(self) -> list[str]:
        """Let the crawlers end, look at the store, and return all that is wrong."""
        found = self._await_answers()
        found += [said for crawler in self._crawlers if (said := crawler.end()) is not None]
        with self._place.claiming(Header(), "chaos"):
            pass  # it opens
        with self._place.reading() as store:
            checked = check(self._place, store, lambda number: None)
            kept = {page.posting.key.decode(): page for _, page in walk(store) if page is not None}
        self.pages = len(kept)
        found += [f"damaged: {record}" for record in checked["damaged"]]
        if isinstance(self._place, FilePlace):
            try:
                assert_sound(self._place.path)
            except AssertionError as error:
                found.append(f"the file is not sound: {error}")
        return found + self.ledger.faults(kept)

    def _fault(self, fault: Fault, means: Mapping[str, Means]) -> AbstractContextManager[None]:
        if fault.crawler is None:
            return means[fault.kind]()
        crawler = self._crawlers[fault.crawler]
        return self._killed(crawler) if fault.kind == kinds.KILL else _stopped(crawler)

    @contextmanager
    def _killed(self, crawler: Crawler) -> Iterator[None]:
        crawler.kill()
        yield
        crawler.start()
        _limit(crawler, self._limit)

    @contextmanager
    def full_disk(self) -> Iterator[None]:
        """Let crawlers write nothing beyond the first bytes of a file."""
        self._limit = ROOM
        for crawler in self._crawlers:
            _limit(crawler, ROOM)
        yield
        self._limit = None
        for crawler in self._crawlers:
            _limit(crawler, None)

    def _await_answers(self) -> list[str]:
        """Wait until each crawler was told something that it asked from now on; return what is said of others."""
        before = dict(self.ledger.heard)
        end = time.monotonic() + PATIENCE
        waiting = self._crawlers
        while waiting and time.monotonic() < end:
            time.sleep(0.01)
            waiting = [
                crawler
                for crawler in waiting
                if crawler.process.is_alive()
                # One claim may have been answered before.
                and self.ledger.heard.get(crawler.number, 0) < before.get(crawler.number, 0) + 2
            ]
        return [f"crawler {crawler.number} gets no answer any more" for crawler in waiting]


@contextmanager
def _stopped(crawler: Crawler) -> Iterator[None]:
    assert crawler.process.pid is not None
    os.kill(crawler.process.pid, signal.SIGSTOP)
    yield
    os.kill(crawler.process.pid, signal.SIGCONT)


def _limit(crawler: Crawler, most: int | None) -> None:
    """Let no file of a crawler's process grow beyond *most* bytes; None for no limit."""
    import resource

    if crawler.process.is_alive() and crawler.process.pid is not None:
        hard = resource.RLIM_INFINITY
        resource.prlimit(crawler.process.pid, resource.RLIMIT_FSIZE, (hard if most is None else most, hard))


@contextmanager
def stage(store: str, folder: Path, crawlers: int, seed: int) -> Iterator[tuple[Stage, Mapping[str, Means]]]:
    """Yield a stage for a new *store* in *folder*, and its means; whatever still runs at the end is killed."""
    with ExitStack() as ends:
        if store == kinds.SQLITE:
            path = folder / "store.sqlite"
            play = Stage(FilePlace(path), str(path), crawlers, seed)
            means: Mapping[str, Means] = {kinds.FILL_DISK: play.full_disk}
        else:
            server = ends.enter_context(RedisServer(folder, appendfsync="always"))
            proxy = ends.enter_context(Proxy(server.port))
            place = RedisPlace(Server(server.url), PREFIX)
            play = Stage(place, f"redis://127.0.0.1:{proxy.port}/0", crawlers, seed)
            means = means_of(server, proxy)
        ends.callback(play.kill)
        yield play, means
