"""Depths: how many links a request is away from the start, as Scrapy counts them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.spidermiddlewares.depth import DepthMiddleware
from scrapy.utils.misc import load_object

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.settings import BaseSettings


class Depths:
    """Reads the depth of requests, and knows whether anybody counts: that middleware may be switched off."""

    def __init__(self, settings: BaseSettings) -> None:
        # A class and its import path are one middleware, and who comes last is the project.
        orders = {
            load_object(path): order for path, order in settings.getwithbase("SPIDER_MIDDLEWARES").items()
        }
        self.are_counted = any(
            order is not None and isinstance(middleware, type) and issubclass(middleware, DepthMiddleware)
            for middleware, order in orders.items()
        )

    def of(self, request: Request) -> int | None:
        """Return the depth of *request*, 0 for a start page, None where nobody counts."""
        depth = request.meta.get("depth")
        if isinstance(depth, int):
            return depth
        # Whoever counts gives a depth to all that comes from a callback.
        return 0 if self.are_counted or request.meta.get("is_start_request") else None
