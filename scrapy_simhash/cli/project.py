"""A Scrapy project, in which a store is named by its spider."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from scrapy_simhash.crawl.store_session import file_of, place_of
from scrapy_simhash.detector import header_for
from scrapy_simhash.place import FOLDER, MEMORY, REDIS, filled
from scrapy_simhash.store import Header

if TYPE_CHECKING:
    from argparse import Namespace

    from scrapy.settings import Settings


#: File extensions of SQLite files.
_SUFFIXES = (".sqlite", ".sqlite3", ".db")


class Project:
    """The project in whose folder the command was called, with its *settings* and those of the command line."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._crawlers: dict[Place | None, Crawler] = {}

    @classmethod
    def here(cls, options: Namespace) -> Project | None:
        """Return the project of this folder; None without a project. Raises Refused if it cannot be loaded."""
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
        """Return the place of the store of the spider *name*, or of the only spider if *name* is None.

        None if *name* is the name of a file. Raises Refused if *name* is ambiguous or the spider has no persistent
        store, and SettingError if a setting is wrong.
        """
        spiders = self._loader()
        names = spiders.list()
        shown = ", ".join(names) or "it has none"
        if name is None:
            if len(names) != 1:
                raise Refused(f"no store given: name a store, or a spider of this project ({shown})")
            (name,) = names
        elif name not in names:
            path = Path(name)
            if "/" in name or os.sep in name or path.suffix in _SUFFIXES or path.exists():
                return None
            # Otherwise a misspelt spider would create a new file that no crawl reads.
            raise Refused(
                f"{name!r} is neither a spider of this project ({shown}) nor a file. To create a file of that name,"
                f" write ./{name}"
            )
        crawler = Crawler(spiders.load(name), self.settings)
        place = _place_of(crawler, name)
        self._crawlers[place] = crawler
        return place

    def config_for(self, place: Place | None) -> Config:
        """Return the settings to read pages for *place*: those of its spider, if any."""
        return Config.from_settings(self._crawler_for(place).settings)

    def header_for(self, place: Place) -> Header | None:
        """Return the header for the settings of the spider of *place*; None without a spider."""
        return header_for(self.config_for(place)) if place in self._crawlers else None

    def key_of(self, place: Place) -> Callable[[Request], bytes]:
        """Return the function that returns the key of a request, from the project's request fingerprinter."""
        crawler = self._crawler_for(place)
        kind = load_object(crawler.settings["REQUEST_FINGERPRINTER_CLASS"])
        method: Callable[[Request], bytes] = build_from_crawler(kind, crawler).fingerprint
        return method

    def _crawler_for(self, place: Place | None) -> Crawler:
        return self._crawlers.get(place) or Crawler(Spider, self.settings)


@contextmanager
def _loading(what: str) -> Iterator[None]:
    """Convert exceptions of user modules, and warnings of Scrapy, to Refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            yield
    except Exception as error:
        raise Refused(f"{what} cannot be loaded: {type(error).__name__}: {error}") from error


def _place_of(crawler: Crawler, spider: str) -> Place:
    settings = crawler.settings
    config = Config.from_settings(settings)
    place = place_of(config, settings)
    if place.kind == MEMORY:
        raise Refused(
            f"spider {spider!r} has no persistent store: set SIMHASH_STORE or JOBDIR, or name a store"
        )
    if place.kind == FOLDER:
        return file_place(file_of(place, settings, spider))
    if place.kind == REDIS:
        return redis_place(place, filled(place.prefix, spider))
    raise Refused(
        f"spider {spider!r} has a store of the class {place.path}, but commands read only SQLite and Redis"
    )
