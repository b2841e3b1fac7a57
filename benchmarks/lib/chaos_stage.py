"""Where ``chaos`` plays: a plan of faults, a store, crawlers that claim from it, and the means of the faults."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from threading import Thread
from typing import NamedTuple, TypeAlias

from benchmarks.lib.chaos_crawler import PREFIX, crawl
from benchmarks.lib.chaos_ledger import Ledger
from benchmarks.lib.proxy import Proxy
from scrapy_simhash.cli.info import check
from scrapy_simhash.cli.stores import FilePlace, Place, RedisPlace, walk
from scrapy_simhash.place import StorePlace
from scrapy_simhash.store import Header
from scrapy_simhash.store.redis import Server
from tests.store.server import RedisServer
from tests.store.sqlite.stores import assert_sound

#: Seconds after which a crawler that does not get an answer, or does not end, never will.
PATIENCE = 60
#: Bytes of a file that can be written while the disk is full: a write ends in the middle.
ROOM = 50_000
#: The stores that a plan can be for.
SQLITE, REDIS = "sqlite", "redis"
#: Kinds of faults.
KILL, STOP = "kill a crawler", "stop a crawler"
FILL_DISK = "fill the disk"
KILL_SERVER, STOP_SERVER, FILL_SERVER = "kill the server", "stop the server", "fill the server"
CUT, HALVE, STALL, CRUMBLE = "cut connections", "halve replies", "stall connections", "crumble replies"

#: Seconds that a fault may last, least and most.
_LASTS = {
    KILL: (0.0, 0.3),
    STOP: (0.1, 0.8),
    FILL_DISK: (0.2, 0.8),
    KILL_SERVER: (0.05, 0.5),
    STOP_SERVER: (0.1, 0.8),
    FILL_SERVER: (0.05, 0.4),
    CUT: (0.05, 0.5),
    HALVE: (0.05, 0.5),
    STALL: (0.1, 0.9),
    CRUMBLE: (0.1, 0.5),
}
#: Faults that hit one thing, one after another; those of different lanes may come together.
_DISK_LANE = (FILL_DISK,)
_SERVER_LANE = (KILL_SERVER, STOP_SERVER, FILL_SERVER)
_NETWORK_LANE = (CUT, HALVE, STALL, CRUMBLE)
#: Seconds from one fault of a lane to the next, least and most.
_PAUSE = (0.2, 1.5)


class Fault(NamedTuple):
    """One thing that goes wrong, and passes."""

    at: float
    """Seconds from the beginning."""
    lasts: float
    """Seconds."""
    kind: str
    crawler: int | None = None
    """Which crawler it happens to; None where it is what all of them use."""


def plan(store: str, seed: int, seconds: float, crawlers: int) -> list[Fault]:
    """Return the faults of a run, by the time at which they begin; the same for the same arguments.

    Each kind comes once before any comes twice in its lane. Systems that cannot do something leave it out.

    >>> plan("redis", 1, 20, 3) == plan("redis", 1, 20, 3) != plan("redis", 2, 20, 3)
    True
    >>> sorted({fault.kind for fault in plan("sqlite", 1, 20, 3)})[-2:]
    ['kill a crawler', 'stop a crawler']
    """
    crawler_lane = [KILL, *([STOP] if hasattr(signal, "SIGSTOP") else [])]
    lanes: list[tuple[list[str], list[int | None]]] = [(crawler_lane, [*range(crawlers)])]
    if store == REDIS:
        lanes += [([*_SERVER_LANE], [None]), ([*_NETWORK_LANE], [None])]
    elif sys.platform == "linux":
        lanes += [([*_DISK_LANE], [None])]
    found = [
        fault
        for number, (kinds, targets) in enumerate(lanes)
        for fault in _lane(Random(f"{store} {seed} {number}"), kinds, targets, seconds)
    ]
    return sorted(found, key=lambda fault: fault.at)


def _lane(draw: Random, kinds: list[str], targets: list[int | None], seconds: float) -> Iterator[Fault]:
    at = draw.uniform(*_PAUSE)
    while True:
        for kind in draw.sample(kinds, len(kinds)):
            lasts = draw.uniform(*_LASTS[kind])
            if at + lasts > seconds:
                return
            yield Fault(round(at, 3), round(lasts, 3), kind, draw.choice(targets))
            at += lasts + draw.uniform(*_PAUSE)


#: Begins one kind of fault, and ends it.
Means: TypeAlias = Callable[[], AbstractContextManager[None]]


def happen(
    faults: Sequence[Fault],
    begin: Callable[[Fault], AbstractContextManager[None]],
    tell: Callable[[int], None],
) -> None:
    """Let *faults* come and pass, from now on; *tell* hears how many have begun."""
    begins = [(fault.at, number, True) for number, fault in enumerate(faults)]
    ends = [(fault.at + fault.lasts, number, False) for number, fault in enumerate(faults)]
    start = time.monotonic()
    with ExitStack() as all_faults:
        under_way = [all_faults.enter_context(ExitStack()) for _ in faults]
        for at, number, is_begin in sorted([*begins, *ends]):
            time.sleep(max(0.0, start + at - time.monotonic()))
            if is_begin:
                tell(number + 1)
                under_way[number].enter_context(begin(faults[number]))
            else:
                under_way[number].close()


def means_of(server: RedisServer, proxy: Proxy) -> Mapping[str, Means]:
    """Return how to begin and end what can happen to *server*, and to connections over *proxy*."""
    return {
        KILL_SERVER: partial(_server_killed, server),
        STOP_SERVER: partial(_server_stopped, server),
        FILL_SERVER: partial(_server_full, server),
        CUT: proxy.cutting,
        HALVE: proxy.halving,
        STALL: proxy.stalling,
        CRUMBLE: proxy.crumbling,
    }


@contextmanager
def _server_killed(server: RedisServer) -> Iterator[None]:
    server.kill()
    yield
    server.start()


@contextmanager
def _server_stopped(server: RedisServer) -> Iterator[None]:
    server.pause()
    yield
    server.resume()


@contextmanager
def _server_full(server: RedisServer) -> Iterator[None]:
    from redis import Redis

    with Redis.from_url(server.url, protocol=2) as client:
        client.config_set("maxmemory", "1kb")
        yield
        client.config_set("maxmemory", "0")


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
            kept = {page.posting.key.decode(): page for page in walk(store)}
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
        return self._killed(crawler) if fault.kind == KILL else _stopped(crawler)

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
        if store == SQLITE:
            path = folder / "store.sqlite"
            play = Stage(FilePlace(path), str(path), crawlers, seed)
            means: Mapping[str, Means] = {FILL_DISK: play.full_disk}
        else:
            server = ends.enter_context(RedisServer(folder, appendfsync="always"))
            proxy = ends.enter_context(Proxy(server.port))
            place = RedisPlace(Server(server.url), StorePlace(REDIS), PREFIX)
            play = Stage(place, f"redis://127.0.0.1:{proxy.port}/0", crawlers, seed)
            means = means_of(server, proxy)
        ends.callback(play.kill)
        yield play, means
