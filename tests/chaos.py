"""Crawl a generated web repeatedly with random failures, and check that no page is lost.

    SIMHASH_CHAOS_SEEDS=1000 pytest -n auto tests/test_chaos.py

Each seed is a series of Scrapy crawls of the web of ``benchmarks/soak.py``, with randomly chosen features of the
plugin. Each crawl runs in a separate process, in which some of these steps fail, as the seed decides:

* every public method of every class of the observers, the views, the boilerplate models, the reading of pages and the
  comparison of items, and every method of a store. These methods are found by inspecting the package, so new features
  are included;
* every statement of SQLite, as on a full disk;
* a Redis server, which loses its connections, or crashes and comes back.

A step raises before or after it has done its work, takes long, makes the clock jump, or ends the process by SIGKILL;
after a kill the crawl continues from JOBDIR. These conditions are checked for every crawl that was not killed:

* the crawl has ended with the reason ``finished``, and Scrapy has logged no error;
* each page of the web was delivered, or a near-duplicate with its text was;
* the number of errors in the stats equals that of the steps that raised, where an error and one raised while it is
  handled are one, and the log has each error at most once.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from enum import Enum
from functools import partial, wraps
from inspect import iscoroutine
from pathlib import Path
from random import Random
from shutil import rmtree
from typing import Any, NamedTuple

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from benchmarks.soak import HOSTS, Web, WebHandler
from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.names import FLAG_NOT_DUE
from scrapy_simhash.observers.recrawl.cache import PageStorage, RecrawlPolicy
from scrapy_simhash.observers.recrawl.middleware import SimhashRecrawlMiddleware
from scrapy_simhash.store import Store
from tests.clock import Clock, classes, public_functions
from tests.crawls.harness import ENABLED, IN_THREADS, forked
from tests.store.server import RedisServer

#: Modules whose public methods are steps.
SEAMS = (
    "scrapy_simhash.observers",
    "scrapy_simhash.page.site",
    "scrapy_simhash.fingerprinter",
    "scrapy_simhash.crawl.items",
)
#: Exceptions: value objects, and functions that Scrapy calls.
OTHERS = (Enum, BaseSpiderMiddleware, SimhashRecrawlMiddleware, RecrawlPolicy, PageStorage)
DAY = 86_400
RECRAWL: dict[str, Any] = {
    "HTTPCACHE_ENABLED": (True,),
    "HTTPCACHE_POLICY": ("scrapy_simhash.RecrawlPolicy",),
    "HTTPCACHE_STORAGE": ("scrapy_simhash.PageStorage",),
    "HTTPCACHE_DIR": ("cache",),
}
#: Failures of a step; *late* is an error after the step has finished its work.
KINDS = ("error", "error", "late", "delay", "clock", "kill")
ERRORS: tuple[Callable[[str], Exception], ...] = (
    RuntimeError,
    KeyError,
    TimeoutError,
    partial(OSError, 28),
    sqlite3.OperationalError,
)
OF_STORES = StoreUnavailable, RuntimeError
#: Settings that may drop pages.
DROPPING = ("ACTION", "REVISIT_ACTION", "ITEM_ACTION", "URL_RULES")
#: Values of these settings that drop nothing.
KEEPING = {"mark", "off", "observe", "None", "False"}
#: Errors of these steps are not counted one by one. If the store fails, the pages and items that are not compared are
#: counted. If reading in a thread fails, the page is read again. An item that could not be read is counted once,
#: although it is read again after it was scraped.
QUIET = r"in (SQL|ItemFingerprinter.read|PageFingerprinter.extract|store (?!claim))"
#: Max kills per crawl.
KILLS = 2
PAGES = 40


def full_disk(name: str) -> Exception:
    return sqlite3.OperationalError(f"database or disk is full ({name})")


class ChaosWeb(Web):
    """Two hosts of the web; some of their stories change in each *generation*."""

    def __init__(self, seed: int, generation: int) -> None:
        super().__init__(seed)
        self._changes, self._generation = f"{seed} changes", generation
        lanes = Random(f"{seed} lanes").sample(range(4), 2)
        self.urls = [self.url(index * HOSTS + lane) for index in range(PAGES // 2) for lane in lanes]

    def text_of(self, url: str) -> tuple[int, int | None]:
        """Return host and story of the current text at *url*."""
        host, story = super().text_of(url.partition("?sid")[0])
        if story is not None:
            draw = Random(f"{self._changes} {host} {story}")
            story += 1_000 * sum(draw.random() < 0.2 for _ in range(self._generation))
        return host, story


class Handler(WebHandler):
    """A download handler that returns 304 for unchanged pages."""

    async def download_request(self, request: Request) -> Response:
        response = await super().download_request(request)
        if request.headers.get("If-None-Match") == response.headers["ETag"]:
            return Response(request.url, status=304, request=request)
        return response


class Life(NamedTuple):
    """One crawl process of a seed, and its settings."""

    seed: int
    number: int
    generation: int
    settings: dict[str, Any]
    may_die: bool
    share: float
    """Share of steps that fail."""
    is_early: bool
    """Whether steps may fail before the crawl has started, which may stop it."""

    @property
    def file(self) -> Path:
        """The file to which the failures of this process are written, one per line."""
        return Path(f"life-{self.number}.jsonl")

    def note(self, what: str, **more: Any) -> None:
        """Append a line at once, so that a kill does not lose it."""
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"what": what, **more}, default=str) + "\n")


class Faults:
    """Decides by the seed which calls of each step fail in one process."""

    def __init__(self, life: Life, clock: Clock) -> None:
        self._life, self._clock = life, clock
        store = life.settings.get("SIMHASH_STORE") or ""
        self._redis = store.partition("?")[0] if store.startswith("redis:") else ""
        self._plans: dict[str, tuple[Random, int, int]] = {}
        self._calls: Counter[str] = Counter()
        self.are_on = life.is_early
        self.raised = 0

    def due(self, step: str, errors: Sequence[Callable[[str], Exception]] = ERRORS) -> bool:
        """Cause the failures of this call to *step*; return whether the call fails after it has done its work."""
        if not self.are_on:
            return False
        if step not in self._plans:
            draw = Random(f"{self._life.seed} {self._life.number} {step}")
            share = self._life.share * (5 if self._redis and errors == OF_STORES else 1)
            first = int(40 ** draw.random()) if draw.random() < share else 10**9
            self._plans[step] = draw, first, draw.choice((1, 1, 2, 1_000))
        draw, first, most = self._plans[step]
        self._calls[step] += 1
        if not first <= self._calls[step] < first + most:
            return False
        kind = draw.choice(KINDS + ("cut", "crash") * bool(self._redis and errors == OF_STORES))
        if kind == "error":
            self.fail(step, errors)
        if kind in ("error", "late") or (kind == "kill" and not self._life.may_die):
            return kind == "late"
        self._life.note("fault", kind=kind, name=step)
        if kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif kind == "delay":
            time.sleep(0.02)
        elif kind == "clock":
            self._clock.ahead += draw.choice((-400, -1, -0.01, 0.04, 1, 400)) * DAY
        else:
            self._fell_redis(kind)
        return False

    def fail(self, step: str, errors: Sequence[Callable[[str], Exception]]) -> None:
        self.raised += 1
        name = f"chaos {self.raised} in {step}!"
        self._life.note("fault", kind="error", name=name)
        raise self._plans[step][0].choice(errors)(name)

    def _fell_redis(self, kind: str) -> None:
        from redis import Redis, RedisError

        # A crashed server does not reply.
        with Redis.from_url(self._redis) as client, suppress(RedisError):
            if kind == "cut":
                client.client_kill_filter(_type="normal")
            else:
                client.execute_command("DEBUG", "CRASH-AND-RECOVER", "100")

    def step(self, name: str, function: Callable[..., Any], errors: Any = ERRORS) -> Callable[..., Any]:
        """Return *function* as a step that may fail."""

        @wraps(function)
        def stepped(*arguments: Any, **named: Any) -> Any:
            if "signal" in named:  # for Scrapy, which reads the signature of a handler
                known = function.__code__.co_varnames
                return function(*arguments, **{key: value for key, value in named.items() if key in known})
            is_late = self.due(name, errors)
            result = function(*arguments, **named)
            if is_late:
                if iscoroutine(result):
                    result.close()
                self.fail(name, errors)
            return result

        return stepped

    def spread(self) -> None:
        """Wrap everything that may fail in this process."""
        for kind in classes():
            functions = public_functions(kind)
            if issubclass(kind, Store):
                for name in functions.keys() & public_functions(Store):
                    setattr(kind, name, self.step(f"store {name}", functions[name], OF_STORES))
            elif (
                kind.__module__.startswith(SEAMS) and not issubclass(kind, OTHERS) and kind.__name__[0] != "_"
            ):
                for name, function in functions.items():
                    setattr(kind, name, self.step(f"{kind.__name__}.{name}", function))
        faults = self

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
                verb = sql.split()[0]
                if verb != "ROLLBACK":
                    faults.due(f"SQL {verb}", (full_disk,))
                return super().execute(sql, *values)

        vars(sqlite3)["connect"] = partial(sqlite3.connect, factory=Connection)


class ChaosSpider(Spider):
    """Requests all pages of the web, some of them under a second URL as well."""

    name = "chaos"

    def __init__(self, life: Life) -> None:
        super().__init__()
        self.life, self.web, self.making_ns = life, ChaosWeb(life.seed, life.generation), 0

    async def start(self) -> AsyncIterator[Request]:
        self.crawler.signals.connect(self.note_item, signal=signals.item_scraped)
        for url in self.web.urls[:2]:
            yield Request(url, dont_filter=True)

    def parse(self, response: Response) -> Iterator[Any]:
        urls, host = self.web.urls, response.url.split("/")[2]
        yield {"url": response.url, "title": response.css("h1::text").get(), "host": host}
        if response.url in urls[:2]:
            yield from (Request(url) for url in urls if host in url)
        elif "?" not in response.url:
            place = urls.index(response.url)
            yield Request(f"{urls[place - 2]}?sid={place:x}")

    def note_item(self, item: dict[str, Any]) -> None:
        self.life.note("item", url=item["url"])


class NotDue:
    """Downloader middleware beside the HTTP cache: records pages that are not due."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NotDue:
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        if FLAG_NOT_DUE in response.flags and isinstance(self._crawler.spider, ChaosSpider):
            self._crawler.spider.life.note("not due", url=request.url)
        return response


def live(life: Life) -> None:
    clock = Clock(life.generation * 3 * DAY)
    clock.install()
    faults = Faults(life, clock)
    faults.spread()
    process = CrawlerProcess(
        {
            **ENABLED,
            "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https"), Handler),
            "LOG_FILE": str(life.file.with_suffix(".log")),
            "TELNETCONSOLE_ENABLED": False,
            "CONCURRENT_ITEMS": 1,
            "DOWNLOADER_MIDDLEWARES": {NotDue: 895},
            **life.settings,
        }
    )
    crawler = process.create_crawler(ChaosSpider)

    def opened() -> None:
        faults.are_on = True
        life.note("open")

    crawler.signals.connect(opened, signal=signals.spider_opened, weak=False)
    process.crawl(crawler, life)
    process.start(install_signal_handlers=False)
    life.note("end", stats=crawler.stats.get_stats() if crawler.stats else {})


def drawn(draw: Random, redis: Callable[[], str]) -> dict[str, Any]:
    choices: dict[str, Sequence[Any]] = {
        "SIMHASH_ACTION": ("mark", "drop_items", "drop_items,drop_links", "drop_page"),
        "SIMHASH_URL_RULES": ("off", "observe", "skip"),
        "SIMHASH_REPORT": (None, "report.jsonl"),
        "CONCURRENT_REQUESTS": (1, 8),
        "EXTENSIONS": ({}, IN_THREADS),
        "JOBDIR": (None, "job"),
    }
    if draw.random() < 0.5:
        choices |= {
            "SIMHASH_ITEM_FIELDS": (["title", "host"],),
            "SIMHASH_ITEM_ACTION": ("mark", "drop_items"),
        }
    store = draw.choice(("", "file", "file", "redis"))
    if store:
        url = redis() if store == "redis" else ""
        choices |= {
            "SIMHASH_STORE": (url,) if url else ("store/",),
            "SIMHASH_REVISIT_ACTION": ("mark", "drop_items", "drop_page"),
        }
        choices |= draw.choice(({}, RECRAWL | {"SIMHASH_RECRAWL": ({"": "auto"}, {"": "always"})}))
    if store == "file":
        choices["SIMHASH_CHANGES"] = (None, "changes.jsonl")
    return {name: draw.choice(values) for name, values in choices.items()}


class Trial:
    """The crawls of one seed, in a folder."""

    def __init__(self, seed: int, folder: Path, settings: dict[str, Any], draw: Random) -> None:
        self._seed, self._folder, self._settings, self._draw = seed, folder, settings, draw
        self._job, self._store = folder / "job", settings.get("SIMHASH_STORE")
        self.lives, self.kinds, self.faults = 0, set[str](), list[str]()
        #: Delivered texts that the store may know.
        self._delivered: set[tuple[int, int | None]] = set()

    def run(self) -> None:
        """Crawl each generation of the web to the end; start again if a kill has damaged Scrapy's queue."""
        for generation in range(self._draw.choice((1, 2, 2, 3))):
            kills, was_killed = KILLS if self._settings["JOBDIR"] else 0, True
            while was_killed:
                was_killed = False
                while not self._live(generation, kills, is_whole=not was_killed):
                    kills, was_killed = kills - 1, True
                    # A queue that was damaged by a kill would lose requests silently.
                    rmtree(self._job / "requests.queue", ignore_errors=True)
                rmtree(self._job, ignore_errors=True)
                kills = 0
                if self._store is None:
                    self._delivered.clear()

    def _live(self, generation: int, kills: int, *, is_whole: bool) -> bool:
        """Crawl, and check the results if the crawl ends; return whether it ended."""
        share, is_early = self._draw.choice((0.01, 0.03, 0.1)), kills > 0 and self._draw.random() < 0.1
        life = Life(self._seed, self.lives, generation, self._settings, kills > 0, share, is_early)
        self.lives += 1
        done = forked("-m", "tests.chaos", "--life", json.dumps(life), cwd=self._folder)
        text = (self._folder / life.file).read_text("utf-8") if (self._folder / life.file).exists() else ""
        lines = [json.loads(line) for line in text.splitlines()]
        of = {
            what: [line for line in lines if line["what"] == what]
            for what in ("fault", "item", "not due", "open", "end")
        }
        self.kinds |= {line["kind"] for line in of["fault"]}
        web = ChaosWeb(self._seed, generation)
        delivered = {line["url"] for line in of["item"]}
        self._delivered |= {web.text_of(url) for url in delivered}
        if done.returncode == -signal.SIGKILL or (is_early and not of["open"]):
            return False
        found = []
        if done.returncode or not of["end"] or not of["open"]:
            found.append(f"the crawl did not end: {done.stderr[-1000:]}")
        else:
            found += self._faults_of(of, (self._folder / life.file.with_suffix(".log")).read_text("utf-8"))
            if is_whole:
                found += self._lost(web, delivered | {line["url"] for line in of["not due"]})
        self.faults += [f"seed {self._seed}, life {life.number}: {fault}" for fault in found]
        return True

    def _lost(self, web: ChaosWeb, come: set[str]) -> list[str]:
        words = {str(self._settings.get(f"SIMHASH_{name}")) for name in DROPPING}
        excused = set[object]() if words <= KEEPING else self._delivered
        lost = [url for url in web.urls if url not in come and web.text_of(url) not in excused]
        return [f"{len(lost)} pages are lost, such as {lost[0]}"] if lost else []

    def _faults_of(self, of: dict[str, list[dict[str, Any]]], log: str) -> Iterator[str]:
        stats = of["end"][0]["stats"]
        if stats.get("finish_reason") != "finished":
            yield f"it ended with {stats.get('finish_reason')}"
        records = re.split(r"\n(?=\d{4}-\d\d-\d\d \d\d:)", log)
        for record in records:
            if re.match(r".{20}\[[^]]*\] (ERROR|CRITICAL)", record):
                first, *_, last = record[21:].strip().splitlines() * 2
                yield f"Scrapy has logged {first}: {last}"
        raised = [line["name"] for line in of["fault"] if line["kind"] == "error"]
        for name in raised:
            if sum(name in record for record in records) > 1:
                yield f"{name} is named several times"
        # An error that is raised while another one is handled is logged and counted with it.
        loud = {
            next((record for record in records if name in record), name)
            for name in raised
            if not re.search(QUIET, name)
        }
        counted = {stat: n for stat, n in stats.items() if re.match(r"simhash/(items/)?errors", stat)}
        is_right = len(loud) <= sum(counted.values()) <= len(raised)
        if not is_right and not {"cut", "crash"} & self.kinds:
            steps = Counter(re.sub("chaos .* in ", "", name) for name in raised)
            yield f"counted are {counted}, and raised have {dict(steps)}"


def run(seed: int, folder: Path) -> list[str]:
    """Run the crawls of a seed, and return the conditions that they did not meet."""
    draw = Random(seed)
    with ExitStack() as ends:
        server = RedisServer(folder, appendfsync="always", enable_debug_command="local")
        trial = Trial(seed, folder, drawn(draw, lambda: ends.enter_context(server).url), draw)
        trial.run()
    return trial.faults


if __name__ == "__main__":
    live(Life(*json.loads(sys.argv[2])))
