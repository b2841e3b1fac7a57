"""Which store a crawl uses, by its settings."""

from __future__ import annotations

from contextlib import suppress
from os.path import expanduser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from scrapy.exceptions import NotConfigured
from scrapy.utils.job import job_dir
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.project import data_path

from scrapy_simhash.config import Config
from scrapy_simhash.detector import header_for
from scrapy_simhash.exceptions import SettingError, StoreUnavailable
from scrapy_simhash.store import AsyncStore, Header, MemoryStore, Store

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings


#: Where Redis is when nobody says where, for scrapy-redis too.
DEFAULT_SERVER = "redis://localhost:6379"


def open_store(
    crawler: Crawler,
    config: Config,
    read_only: bool = False,
    *,
    header: Header | None = None,
    part: str = "",
) -> Store | AsyncStore:
    """Return the store of *crawler*, opened for its fingerprints.

    *read_only* is for those who look and do not crawl: nothing is created or changed, and what is not there yet is
    an empty store in memory. Beside the store for pages there may be others, each with a *header* and the name of a
    *part* of its own.

    Raises SettingError for settings that do not go together, and StoreError for a store that cannot be used. A Redis
    server that is away is one only with ``SIMHASH_REDIS_REQUIRED``, and not for *read_only*.
    """
    header = header or header_for(config)
    kind = kind_of_store(config, crawler.settings)
    spider = crawler.spider.name if crawler.spider else crawler.spidercls.name
    if kind == "memory":
        return MemoryStore(header, config.blocks)
    if kind == "sqlite":
        path = sqlite_path(config, crawler.settings, spider, part)
        if read_only and not path.exists():
            return MemoryStore(header, config.blocks)
        from scrapy_simhash.store.sqlite import SqliteStore

        return SqliteStore(
            path, header, config.blocks, reset=config.reset and not read_only, read_only=read_only
        )
    if kind == "redis":
        prefix = redis_prefix(config, spider, part)
        return _open_redis(crawler.settings, config, header, prefix, read_only, part)
    try:
        maker = load_object(kind)
    except (ImportError, NameError, ValueError) as error:
        raise SettingError(f"SIMHASH_STORE: cannot import {kind!r}: {error}") from error
    store = build_from_crawler(maker, crawler, header)
    if not isinstance(store, Store | AsyncStore):
        raise SettingError(
            f"SIMHASH_STORE must be the import path of a class with the methods of Store or AsyncStore, got {kind!r}"
        )
    return store


def _open_redis(
    settings: BaseSettings, config: Config, header: Header, prefix: str, read_only: bool, part: str
) -> AsyncStore:
    if not _has_asyncio():
        raise SettingError(
            "SIMHASH_STORE = 'redis' needs asyncio: set TWISTED_REACTOR to an asyncio reactor, or leave its default"
        )
    from scrapy_simhash.store.redis import RedisStore, Servers, ShardedStore, server_from_settings

    server = server_from_settings(settings) or DEFAULT_SERVER
    options: dict[str, Any] = {
        "blocks": config.blocks,
        "expire": config.redis_expire,
        "live": config.revisit_live,
        "reset": config.reset and not read_only,
        "read_only": read_only,
    }
    store: RedisStore | ShardedStore
    if isinstance(server, Servers):
        # Items are compared with all others: a part that no shards are made of.
        shards = 1 if part else config.redis_shards
        across = config.across_scopes and not part
        store = ShardedStore(
            server, prefix, header, shards=shards, scopes=config.redis_scopes, across=across, **options
        )
    else:
        store = RedisStore(server, prefix, header, **options)
    with suppress(StoreUnavailable):
        store.check()
    # Else it is no reason not to crawl: the server may be back when the first page comes.
    if store.absence is not None and config.redis_required and not read_only:
        raise StoreUnavailable(
            f"SIMHASH_REDIS_REQUIRED is True, and {str(store.absence).rstrip('.')}. Start the server, correct"
            " SIMHASH_REDIS_URL, or set SIMHASH_REDIS_REQUIRED = False to crawl without it"
        )
    return store


def _has_asyncio() -> bool:
    try:
        from scrapy.utils.asyncio import is_asyncio_available
    except ImportError:  # Scrapy 2.13
        from scrapy.utils.reactor import is_asyncio_reactor_installed as is_asyncio_available
    return is_asyncio_available()


def kind_of_store(config: Config, settings: BaseSettings | Mapping[str, Any]) -> str:
    """Return ``memory``, ``sqlite``, ``redis``, or the import path of somebody's own store."""
    if config.store:
        return config.store
    if config.redis_url:
        return "redis"
    return "sqlite" if config.dir or settings.get("JOBDIR") else "memory"


def sqlite_path(config: Config, settings: BaseSettings, spider: str, part: str = "") -> Path:
    """Return the file of a spider's store: in ``SIMHASH_DIR``, else in the job's own folder.

    That of a *part* lies beside it. A relative ``SIMHASH_DIR`` lies in the project's data folder, ``.scrapy``, as
    Scrapy's HTTP cache does, outside a project in ``.scrapy`` in the current folder; ``~`` is the user's own folder.
    Raises SettingError if neither is set, or if the data folder of the project is not known.
    """
    name = f"{quote(spider, safe=' ')}{part and f'.{part}'}.sqlite"
    if config.dir:
        try:
            return Path(data_path(expanduser(config.dir))) / name  # noqa: PTH111 - a user that nobody knows is a folder
        except NotConfigured as error:
            # SCRAPY_SETTINGS_MODULE names a project, and there is no scrapy.cfg in this folder or above it.
            raise SettingError(
                f"SIMHASH_DIR ({config.dir!r}) is relative to the project's data folder, which Scrapy"
                " cannot find here"
                f" ({error}): set it to an absolute path"
            ) from error
    jobdir = job_dir(settings)
    if jobdir is None:
        raise SettingError("SIMHASH_STORE = 'sqlite' needs a folder: set SIMHASH_DIR or JOBDIR")
    return Path(jobdir) / "simhash" / name


def redis_prefix(config: Config, spider: str, part: str = "") -> str:
    """Return how the names of the keys begin in which a spider's store lies."""
    prefix = config.redis_prefix % {"spider": spider}
    return f"{prefix}:{part}" if part else prefix
