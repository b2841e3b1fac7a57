"""Spiders for test_changes.py, which record the changes in response.meta and in the signal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_simhash.observers.output_file import LineFile
from scrapy_simhash.signals import page_changed
from tests.crawls.spiders import Follower, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response


class Reader(Follower):
    """Records changes from response.meta and from the signal. With *kill*, writes no line of the feed, as if the
    process was killed after the row of the page was stored and before its line was written.
    """

    name = "reader"
    handlers = (("page_changed", page_changed),)

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        if self.kill:
            LineFile.write = lambda file, line: None  # type: ignore[method-assign, assignment]

    def page_changed(self, change: dict[str, Any]) -> None:
        self.notes.append({"signal": path_of(change["url"]), "change": change["change"]})

    def parse(self, response: Response) -> Iterator[Any]:
        change = response.meta["simhash_result"]["change"]
        for found in super().parse(response):
            if isinstance(found, dict):
                self.notes.append({**found, "change": change})
            yield found
