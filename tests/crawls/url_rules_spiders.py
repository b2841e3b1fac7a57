"""The spiders of the tests about URL rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_simhash.signals import request_skipped
from tests.crawls.spiders import Follower, path_of

if TYPE_CHECKING:
    from scrapy import Request


class Visitor(Follower):
    """Records skipped requests, and counts the calls to its errback."""

    name = "visitor"
    has_errback = True
    handlers = (("note_skipped", request_skipped),)

    def note_skipped(self, request: Request, rules: tuple[str, ...]) -> None:
        received = self.crawler.stats.get_value("response_received_count")
        self.notes.append({"url": path_of(request.url), "rules": list(rules), "received": received})

    def failed(self, failure: Any) -> None:
        self.crawler.stats.inc_value(f"visitor/{failure.type.__name__}")
