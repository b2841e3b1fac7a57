"""The spiders of the tests about URL rules."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy_simhash.signals import request_skipped
from tests.crawls.spiders import Follower, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.http import Response


class Visitor(Follower):
    """Follows all links, notes the requests that were skipped, and has an errback."""

    name = "visitor"
    hears = (("note_skipped", request_skipped),)

    def note_skipped(self, request: Request, rules: tuple[str, ...]) -> None:
        received = self.crawler.stats.get_value("response_received_count")
        self.notes.append({"url": path_of(request.url), "rules": list(rules), "received": received})

    def parse(self, response: Response) -> Iterator[Any]:
        for found in super().parse(response):
            yield found if isinstance(found, dict) else found.replace(errback=self.fail)

    def fail(self, failure: Any) -> None:
        self.crawler.stats.inc_value(f"visitor/{failure.type.__name__}")


class Killed(Visitor):
    """Writes down what was skipped, and kills its process when it has had so many pages."""

    name = "killed"

    def __init__(self, after: int, file: str, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.after = after
        self.file = Path(file)

    def note_skipped(self, request: Request, rules: tuple[str, ...]) -> None:
        with self.file.open("a", encoding="utf-8") as file:
            file.write(f"{path_of(request.url)}\n")

    def parse(self, response: Response) -> Iterator[Any]:
        self.after -= 1
        if not self.after:
            os.kill(os.getpid(), signal.SIGKILL)
        yield from super().parse(response)
