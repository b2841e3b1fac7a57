"""StoreSession: open the store that the settings select, and close it at the end of the crawl."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from os.path import expanduser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from scrapy import signals
from scrapy.utils.job import job_dir
from scrapy.utils.misc import build_from_crawler

from scrapy_simhash import names
from scrapy_simhash.crawling import counted, is_crawl, stats_of
from scrapy_simhash.detector import NearDuplicateDetector, header_for
from scrapy_simhash.exceptions import RecordDamaged, SettingError, StoreError, StoreUnavailable
from scrapy_simhash.place import FOLDER, MEMORY, REDIS, StorePlace, filled
from scrapy_simhash.store import Store
from scrapy_simhash.values import imported
from scrapy_simhash.waiting import maybe_await

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import Any

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from scrapy_simhash.config import Config
    from scrapy_simhash.fingerprinter import PageFingerprinter
    from scrapy_simhash.store import Header, Row

logger = logging.getLogger(__name__)

#: The part of a store for items; the other part is for pages.
ITEMS = "items"


class StoreSession:
    """Opens a store, and closes it after the last item was exported, or if the crawl never starts.

    Create the session while the components of a crawl are built, and keep a reference, because Scrapy's signals hold
    only weak references. *header* and *part* are as for ``open_store``, and *fingerprinter* is that of the detector.
    Raises the errors of ``open_store``.
    """

    def __init__(
        self,
        crawler: Crawler,
        config: Config,
        *,
        header: Header | None = None,
        part: str = "",
        fingerprinter: PageFingerprinter | None = None,
    ) -> None:
        self.crawler = crawler
        self.is_crawl = is_crawl(crawler)
        store = open_store(crawler, config, not self.is_crawl, header=header, part=part)
        self.detector = NearDuplicateDetector(config, store, fingerprinter=fingerprinter)
        #: Whether the store is in memory and is lost at the end of the crawl.
        self.forgets = store.is_memory
        #: Whether pages are stored. Commands such as scrapy shell only read the store of a crawl.
        self.remembers = self.is_crawl or self.forgets
        #: Number of pages or items that were not compared since the last reply of the store.
        self.missed = 0
        self._noun, self._stat_missed = ("item", names.ITEMS_ERRORS) if part else ("page", names.ERRORS_STORE)
        #: Called before the store is closed; must not raise.
        self.last_step: Callable[[], Awaitable[None]] | None = None
        self._began = int(time.time())
        # Number of known pages when this run began, if the store was available.
        self._former = 0 if self.forgets or store.absence is not None else len(store)
        self._has_started = False
        self._close_reason = "finished"
        crawler.signals.connect(self._engine_started, signal=signals.engine_started)
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)
        crawler.signals.connect(self._engine_stopped, signal=signals.engine_stopped)

    async def is_delivered(self, key: bytes) -> bool:
        """Return whether the page *key*, which was not visited in this crawl, counts as delivered.

        True if an earlier crawl delivered the page (with ``SIMHASH_REVISIT_ACTION``), or if another crawler did
        during this crawl. Raises StoreError.
        """
        store, counts = self.detector.store, self.detector.config.revisit_action != "mark"
        if self.forgets or not (counts or store.is_remote):
            return False
        page = await maybe_await(store.get(key))
        return page is not None and page.posting.is_delivered and (counts or self._is_of_this_run(page))

    def _is_of_this_run(self, page: Row) -> bool:
        """Return whether the last visit of a page was in this run or a concurrent one."""
        # Timestamps have one-second resolution, and clocks may be wrong.
        seen = page.posting.seen
        return self._began < seen <= time.time() or (seen == self._began and page.number >= self._former)

    @property
    def described(self) -> str:
        """The name of the store in the log, with its number of pages or items."""
        store = self.detector.store
        if self.forgets:
            return "memory"
        place = str(store).removeprefix("the store ")
        if store.absence is not None:
            return f"{place} (not connected)"
        known = f"{counted(len(store), self._noun)} known"
        if not self.remembers:
            known += ", read-only"
        elif self.detector.config.reset:
            known += ", SIMHASH_RESET is True"
        return f"{place} ({known})"

    def log_absence(self) -> None:
        """Log one line if the store is unavailable at the start."""
        if (absence := self.detector.store.absence) is not None:
            hint = ". To stop the crawl instead, add required=true to SIMHASH_STORE" if self.is_crawl else ""
            what, why = self._noun.capitalize(), str(absence).rstrip(".")
            logger.info("%ss are not compared (status unknown) while %s%s", what, why, hint)

    def failed(self, error: StoreError) -> None:
        """Count a page or item for which the store did not reply; log the first failure since the last reply."""
        # The store has logged the damaged record, and can read all other records.
        if isinstance(error, RecordDamaged):
            return
        self.missed += 1
        if self.missed == 1:
            logger.warning(
                "%ss are not compared (status unknown, counted in the stat %s) until the store answers again: %s",
                self._noun.capitalize(),
                self._stat_missed,
                error,
            )

    def answered(self) -> None:
        """Record that the store has replied, and log it after an outage."""
        if self.missed:
            missed, self.missed = counted(self.missed, self._noun), 0
            logger.info("The store answers again; %s not compared in the meantime", missed)

    def _engine_started(self) -> None:
        """Record that the engine has started, so that the store is closed when the engine stops."""
        self._has_started = True

    async def _spider_closed(self, reason: str) -> None:
        """Record the reason; close the store at once if the engine has not started."""
        self._close_reason = reason
        if damaged := self.detector.store.damaged_records:
            stats_of(self.crawler).inc_value(names.ERRORS_RECORD, len(damaged))
        if not self._has_started:
            await self._engine_stopped()

    async def _engine_stopped(self) -> None:
        """Close the store, after the last item was exported to the feeds."""
        if self.last_step is not None:
            await self.last_step()
        try:
            await self.detector.flush_async()
        except Exception as error:
            stats_of(self.crawler).inc_value(names.ERRORS_ACTION)
            logger.warning(
                "Deliveries of this crawl were not stored, so the next crawl delivers these pages again: %s",
                error,
            )
        try:
            await maybe_await(self.detector.store.close(self._close_reason))
        except Exception as error:
            stats_of(self.crawler).inc_value(names.ERRORS_ACTION)
            logger.warning("%s", error)


def open_store(
    crawler: Crawler, config: Config, read_only: bool = False, *, header: Header | None = None, part: str = ""
) -> Store:
    """Open and return the store of *crawler*.

    *read_only* is for commands that do not crawl: nothing is created or changed, and a missing store is replaced by
    an empty store in memory. The store for items has its own *header*, and the *part* ``ITEMS``.

    Raises SettingError for conflicting settings, and StoreError for an unusable store. An unavailable Redis server
    raises StoreError only with ``required=true`` and without *read_only*.
    """
    from scrapy_simhash.store.sqlite import SqliteStore

    header = header or header_for(config)
    place = place_of(config, crawler.settings)
    spider = crawler.spider.name if crawler.spider else crawler.spidercls.name
    options: dict[str, Any] = {
        "keep": place.keep,
        "reset": config.reset and not read_only,
        "read_only": read_only,
    }
    if place.kind == MEMORY:
        return SqliteStore(header=header)
    if place.kind == FOLDER:
        path = file_of(place, crawler.settings, spider, part)
        if read_only and not path.exists():
            return SqliteStore(header=header)
        return SqliteStore(path, header, **options)
    if place.kind == REDIS:
        if not _has_asyncio():
            raise SettingError(
                "SIMHASH_STORE is a Redis URL, and a store in Redis needs asyncio: set TWISTED_REACTOR to an asyncio"
                " reactor, or remove TWISTED_REACTOR"
            )
        return _open_redis(place, header, filled(place.prefix, spider), options, part)
    kind = imported("SIMHASH_STORE", place.path)
    if not isinstance(kind, type) or not issubclass(kind, Store):
        raise SettingError(
            "SIMHASH_STORE must be the import path of a subclass of scrapy_simhash.store.Store, got"
            f" {place.path!r}"
        )
    return build_from_crawler(kind, crawler, header)


def _open_redis(place: StorePlace, header: Header, prefix: str, options: dict[str, Any], part: str) -> Store:
    from scrapy_simhash.store.redis import SHARDS, RedisStore, Server

    server = Server(place.url)
    if server.is_cluster:
        # Items are compared with all other items, so the part for items has a single shard.
        options["shards"] = 1 if part else place.shards or SHARDS
    store = RedisStore(server, prefix + (part and f":{part}"), header, **options)
    with suppress(StoreUnavailable):
        store.check()
    # Otherwise the crawl starts, because the server may be back before the first page.
    if store.absence is not None and place.required and not options["read_only"]:
        raise StoreUnavailable(
            f"SIMHASH_STORE has required=true, but {str(store.absence).rstrip('.')}. Start the server, correct"
            " SIMHASH_STORE, or remove required=true to crawl without it"
        )
    return store


def _has_asyncio() -> bool:
    try:
        from scrapy.utils.asyncio import is_asyncio_available
    except ImportError:  # Scrapy 2.13
        from scrapy.utils.reactor import is_asyncio_reactor_installed as is_asyncio_available
    return is_asyncio_available()


def place_of(config: Config, settings: BaseSettings | Mapping[str, Any]) -> StorePlace:
    """Return the place of the store: ``SIMHASH_STORE``, else a folder in ``JOBDIR``, else memory."""
    return config.place or StorePlace(FOLDER if settings.get("JOBDIR") else MEMORY)


def file_of(place: StorePlace, settings: BaseSettings, spider: str, part: str = "") -> Path:
    """Return the file of a spider's store in the folder of *place* or of the job. Each spider has a separate file.

    The file of a *part* is next to it. Relative folders are relative to the working directory, as for feeds and
    JOBDIR; ``~`` is the home directory.
    """
    name = quote(spider, safe=" ")
    if name in (".", "..") or name.endswith(f".{ITEMS}"):
        # Otherwise the name could point to another folder, or to the items of another spider.
        name = "%2E".join(name.rsplit(".", 1))
    folder = Path(job_dir(settings) or "") / "simhash"
    if place.path:
        folder = Path(expanduser(filled(place.path, name))).absolute()  # noqa: PTH111 - unknown users are folders
    return folder / f"{name}{part and f'.{part}'}.sqlite"
