"""Output files of listeners: expand the path of a setting, and check that the file can be written."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_simhash.exceptions import SettingError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

_PLACEHOLDER = re.compile(r"%(?:(?P<percent>%)|\((?P<name>\w+)\)s|)")


def make_ready(path: Path, setting: str, *, may_be_pipe: bool = False) -> None:
    """Check that the file of *setting* can be written, without changing it; create missing folders.

    Raises SettingError if not; also for a pipe or a terminal, unless *may_be_pipe*.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_file = path.is_file() or not path.exists()
        if not is_file and not may_be_pipe:
            raise OSError("is not a file")
        # Pipes and terminals are not tested, since the reader would see an end of file.
        if is_file or path.is_dir():
            path.open("ab").close()
    except (OSError, ValueError) as error:
        raise SettingError(
            f"{setting} must be a file that can be written, got {str(path)!r}:"
            f" {getattr(error, 'strerror', None) or error}"
        ) from error


def own_path(template: str, crawler: Crawler, setting: str) -> Path:
    """Return the path of *setting* from *template*. Raises SettingError if the crawl already writes there.

    Checks the feeds, the log, and the files of the other settings.
    """
    settings, spider = crawler.settings, crawler.spider or crawler.spidercls
    path = path_of(template, spider, setting)
    others = [("FEEDS", str(uri).removeprefix("file://")) for uri in settings.getdict("FEEDS")]
    others += [
        (name, settings[name])
        for name in ("LOG_FILE", "SIMHASH_REPORT", "SIMHASH_CHANGES")
        if settings[name] and name != setting
    ]
    for name, other in others:
        # A batch number, or an error that Scrapy reports when it opens the feed.
        with suppress(OSError, RuntimeError, ValueError):
            # Pipes and terminals may have several writers.
            is_file = path.is_file() or not path.exists()
            if is_file and path_of(str(other), spider, name).resolve() == path.resolve():
                break
    else:
        return path
    raise SettingError(f"{setting} must be a file of its own, got {str(path)!r}, where {name} writes")


def path_of(template: str, spider: object, setting: str, now: datetime | None = None) -> Path:
    """Return the path of *setting* from *template*, with attributes of *spider* as in the URIs of feeds.

    ``%(time)s`` is *now*, the start of the crawl. ``~`` is the home directory. Raises SettingError for anything else
    after a %.

    >>> from types import SimpleNamespace
    >>> path_of("out/%(name)s-100%%.jsonl", SimpleNamespace(name="news"), "SIMHASH_REPORT").as_posix()
    'out/news-100%.jsonl'
    """

    def value(match: re.Match[str]) -> str:
        if match["percent"]:
            return "%"
        if match["name"] == "time":
            moment = (now or datetime.now(timezone.utc)).replace(microsecond=0)
            # As in Scrapy's feeds, without colons, which Windows does not allow in names.
            return moment.isoformat().replace(":", "-")
        if match["name"] is None or not hasattr(spider, match["name"]):
            raise SettingError(
                f"{setting} must not contain % except in %(name)s, %(time)s and the like, and %%,"
                f" got {template!r}"
            )
        return str(getattr(spider, match["name"]))

    path = Path(_PLACEHOLDER.sub(value, template))
    with suppress(RuntimeError):  # the user is unknown
        path = path.expanduser()
    return path
