"""Spiders for test_changes.py, which record the changes in response.meta and in the signal."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import NotSupported

from scrapy_simhash.observers.output_file import LineFile
from scrapy_simhash.signals import page_changed
from tests.crawls.spiders import Follower, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response


class Reader(Follower):
    """Records changes from response.meta and the signal; its callback raises at *failing*, or kills the
    process at *kill*.
    """

    name = "reader"
    handlers = (("page_changed", page_changed),)

    def __init__(self, failing: str = "", kill: str = "", **arguments: Any) -> None:
        super().__init__(**arguments)
        self.failing, self.kill = failing, kill
        if kill:
            # Killed between the row and the line: no line is written.
            LineFile.write = lambda file, line: None  # type: ignore[method-assign, assignment]

    def page_changed(self, change: dict[str, Any]) -> None:
        self.notes.append({"signal": path_of(change["url"]), "change": change["change"]})

    def parse(self, response: Response) -> Iterator[Any]:
        path = path_of(response.url)
        if self.failing and path == self.failing:
            raise NotSupported("It fails.")
        if self.kill and path == self.kill:
            os.kill(os.getpid(), signal.SIGKILL)
        self.notes.append({"path": path, "change": response.meta["simhash_result"]["change"]})
        yield from super().parse(response)
