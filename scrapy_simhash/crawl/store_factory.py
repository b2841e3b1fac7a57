"""Open the store that the settings of a crawl select."""

from __future__ import annotations

from contextlib import suppress
from os.path import expanduser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from scrapy.utils.job import job_dir
from scrapy.utils.misc import build_from_crawler, load_object

from scrapy_simhash.config import Config
from scrapy_simhash.detector import header_for
from scrapy_simhash.exceptions import SettingError, StoreUnavailable
from scrapy_simhash.place import FOLDER, MEMORY, REDIS, StorePlace, filled
from scrapy_simhash.store import Header, Store

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings


#: Stores besides that for pages: for items, and for changes.
PARTS = ITEMS, CHANGES = ("items", "changes")


def open_store(
    crawler: Crawler,
    config: Config,
    read_only: bool = False,
    *,
    header: Header | None = None,
    part: str = "",
) -> Store:
    """Return the store of *crawler*, opened for its fingerprints.

    *read_only* is for commands that do not crawl: nothing is created or changed, and a missing store is an empty one
    in memory. Besides the store for pages there may be others, each with its own *header* and *part*, one of
    ``PARTS``.

    Raises SettingError for conflicting settings, and StoreError for an unusable store. An unavailable Redis server
    raises StoreError only with ``required=true`` and without *read_only*.
    """
    from scrapy_simhash.store.sqlite import SqliteStore

    header = header or header_for(config)
    place = place_of(config, crawler.settings)
    spider = crawler.spider.name if crawler.spider else crawler.spidercls.name
    if place.kind == MEMORY:
        return SqliteStore(header=header)
    if place.kind == FOLDER:
        path = file_of(place, crawler.settings, spider, part)
        if read_only and not path.exists():
            return SqliteStore(header=header)
        return SqliteStore(
            path, header, reset=config.reset and not read_only, read_only=read_only, keep=place.keep
        )
    if place.kind == REDIS:
        prefix = filled(place.prefix, spider) + (part and f":{part}")
        return _open_redis(place, config, header, prefix, read_only, part)
    try:
        maker = load_object(place.path)
    except (ImportError, NameError, ValueError) as error:
        raise SettingError(f"SIMHASH_STORE: cannot import {place.path!r}: {error}") from error
    store = build_from_crawler(maker, crawler, header)
    if not isinstance(store, Store):
        raise SettingError(
            "SIMHASH_STORE must be the import path of a subclass of scrapy_simhash.store.Store, got"
            f" {place.path!r}"
        )
    return store


def _open_redis(
    place: StorePlace,
    config: Config,
    header: Header,
    prefix: str,
    read_only: bool,
    part: str,
) -> Store:
    if not _has_asyncio():
        raise SettingError(
            "SIMHASH_STORE: a store in Redis needs asyncio: set TWISTED_REACTOR to an asyncio reactor, or leave its"
            " default"
        )
    from scrapy_simhash.store.redis import SCOPES, SHARDS, RedisStore, Servers, servers_of

    server = servers_of(place.url)
    options: dict[str, Any] = {
        "keep": place.keep,
        "reset": config.reset and not read_only,
        "read_only": read_only,
    }
    if isinstance(server, Servers):
        # Items are compared with all others, so this part has no shards.
        options["shards"] = 1 if part else place.shards or SHARDS
        options["scopes"] = place.scopes or SCOPES
    store = RedisStore(server, prefix, header, **options)
    with suppress(StoreUnavailable):
        store.check()
    # Otherwise the crawl starts: the server may be back before the first page.
    if store.absence is not None and place.required and not read_only:
        raise StoreUnavailable(
            f"SIMHASH_STORE has required=true, and {str(store.absence).rstrip('.')}. Start the server, correct"
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
    """Return the place of the store: ``SIMHASH_STORE``, else the folder of the job, else memory."""
    return config.place or StorePlace(FOLDER if settings.get("JOBDIR") else MEMORY)


def file_of(place: StorePlace, settings: BaseSettings, spider: str, part: str = "") -> Path:
    """Return the file of a spider's store in the folder of *place*, or of the job; each spider has its own file.

    The file of a *part* is next to it. Relative folders are relative to the working directory, as for feeds and
    JOBDIR; ``~`` is the home directory. Raises SettingError if the file belongs to another spider.
    """
    own = quote(spider, safe=" ")
    if own in (".", "..") or own.endswith(tuple(f".{part}" for part in PARTS)):
        # Otherwise the name could lead to another folder, or to a part of another spider.
        own = "%2E".join(own.rsplit(".", 1))
    name = f"{own}{part and f'.{part}'}.sqlite"
    folder = Path(job_dir(settings) or "") / "simhash"
    if place.path:
        folder = Path(expanduser(filled(place.path, own))).absolute()  # noqa: PTH111 - unknown users are folders
    file = folder / name
    with suppress(OSError):
        # Compare names, since paths that differ only in case are equal on Windows.
        if file.exists() and all(other.name != name for other in folder.iterdir()):
            raise SettingError(
                f"SIMHASH_STORE: {file} is the file of another spider, whose name differs only in upper and lower"
                " case, which file names do not distinguish here: rename one of the spiders"
            )
    return file
