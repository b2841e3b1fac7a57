"""A Scrapy project, in which a store is known by the spider that remembers in it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.project import get_project_settings, inside_project

from scrapy_simhash.cli.options import given_settings
from scrapy_simhash.cli.stores import Place, file_place, redis_place
from scrapy_simhash.cli.streams import Refused
from scrapy_simhash.config import Config
from scrapy_simhash.crawl.store_factory import file_of, open_store, place_of
from scrapy_simhash.detector import header_for
from scrapy_simhash.place import FOLDER, MEMORY, REDIS, filled
from scrapy_simhash.store import Header, Store

if TYPE_CHECKING:
    from argparse import Namespace

    from scrapy.settings import Settings


#: What files of SQLite are called.
_SUFFIXES = (".sqlite", ".sqlite3", ".db")


class Project:
    """The project that the command was called in, with *settings* of its own and of the command line."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._crawlers: dict[Place, Crawler] = {}

    @classmethod
    def here(cls, options: Namespace) -> Project | None:
        """Return the project of this folder, None if there is none. Raises Refused if it cannot be loaded."""
        with _loading("the settings of this Scrapy project"):
            if not inside_project():
                return None
            settings = get_project_settings()
        settings.setdict(given_settings(options), priority="cmdline")
        return cls(settings)

    def _loader(self) -> Any:
        with _loading("the spiders of this Scrapy project"):
            return load_object(self.settings["SPIDER_LOADER_CLASS"]).from_settings(self.settings.frozencopy())

    def place_of(self, name: str | None) -> Place | None:
        """Return the place in which the spider *name* remembers, or the only spider there is for None.

        None for the name of a file. Raises Refused if it is not clear what is meant, or if the spider forgets all,
        and SettingError if a setting is wrong.
        """
        spiders = self._loader()
        names = spiders.list()
        if name is None:
            if len(names) != 1:
                raise Refused(
                    f"no store given: give one, or a spider of this project: {', '.join(names) or 'it has none'}"
                )
            (name,) = names
        elif name not in names:
            if not _is_file(name):
                # A misspelt spider would be remembered for in a new file, and nobody would ever look there.
                raise Refused(
                    f"{name!r} is neither a spider of this project ({', '.join(names) or 'it has none'}) nor a file."
                    f" To create a file of that name, write ./{name}"
                )
            return None
        crawler = Crawler(spiders.load(name), self.settings)
        place = _place_of(crawler, name)
        self._crawlers[place] = crawler
        return place

    def has(self, name: str) -> bool:
        """Tell whether there is a spider called *name*."""
        return name in self._loader().list()

    @property
    def config(self) -> Config:
        """The settings by which pages are read and compared, those of no spider."""
        return Config.from_settings(Crawler(Spider, self.settings).settings)

    def config_for(self, place: Place) -> Config:
        """Return the settings by which pages for *place* are read: those of its spider, if it has one."""
        return Config.from_settings(self._crawler_for(place).settings)

    def header_for(self, place: Place) -> Header | None:
        """Return the header that the spider remembering at *place* wants, None if no spider is known to."""
        if place not in self._crawlers:
            return None
        return header_for(self.config_for(place))

    def key_of(self, place: Place) -> Callable[[Request], bytes]:
        """Return the method that says what the page of a request is known by: the project's fingerprinter."""
        crawler = self._crawler_for(place)
        kind = load_object(crawler.settings["REQUEST_FINGERPRINTER_CLASS"])
        method: Callable[[Request], bytes] = build_from_crawler(kind, crawler).fingerprint
        return method

    def _crawler_for(self, place: Place) -> Crawler:
        return self._crawlers.get(place) or Crawler(Spider, self.settings)


@contextmanager
def _loading(what: str) -> Iterator[None]:
    """Turn whatever somebody's module raises, or Scrapy warns of, into a sentence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            yield
    except Exception as error:
        raise Refused(f"{what} cannot be loaded: {type(error).__name__}: {error}") from error


def _is_file(name: str) -> bool:
    """Tell whether *name* is that of a file: it is there, or it looks like one of a store, or like a path.

    >>> _is_file("both.sqlite"), _is_file("./both"), _is_file("both"), _is_file("both.example")
    (True, True, False, False)
    """
    path = Path(name)
    return "/" in name or os.sep in name or path.suffix in _SUFFIXES or path.exists()


def _place_of(crawler: Crawler, spider: str) -> Place:
    settings = crawler.settings
    config = Config.from_settings(settings)
    place = place_of(config, settings)
    if place.kind == MEMORY:
        raise Refused(
            f"spider {spider!r} has no store that outlives a crawl: set SIMHASH_STORE or JOBDIR, or give a store"
        )
    if place.kind == FOLDER:
        return file_place(file_of(place, settings, spider))
    if place.kind == REDIS:
        return redis_place(place, filled(place.prefix, spider))

    def open_own(header: Header | None) -> Store:
        """Open a store of the project's own class, which gets the header of the settings."""
        store = open_store(crawler, replace(config, reset=False), read_only=header is None)
        if header is not None:
            store.header.check(header, shown)
        return store

    shown = f"the store of spider {spider!r}"
    return Place(place.path, shown, shown, open_own)
