"""Stand-ins: what takes the place of a callback that is not run, and of a request whose page is to come in full."""

from __future__ import annotations

from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import IgnoreRequest
from scrapy.utils.misc import arg_to_iter
from twisted.python.failure import Failure

from scrapy_simhash import names

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy import Request
    from scrapy.http import Response


class RequestNotDue(IgnoreRequest):
    """A request was not sent: the page is known, and by ``SIMHASH_RECRAWL`` it is not to be visited yet."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url} was not requested: by SIMHASH_RECRAWL it is not due ({reason})")
        self.reason = reason
        """``age``, ``auto``, ``lastmod`` or ``budget``."""


def in_full(request: Request) -> Request:
    """Return *request* as one that fetches its page in full."""
    return request.replace(dont_filter=True, meta={**request.meta, names.META_IN_FULL: True})


def handed_on(requests: list[Request], response: Response, **arguments: Any) -> list[Request]:
    """Return the kept requests, as the callback of a page that has not changed."""
    return requests


async def passed_over(
    requests: list[Request], errback: Any, error: RequestNotDue, response: Response, **arguments: Any
) -> AsyncIterator[Any]:
    """Yield what the errback of a request that is not due yields, then the kept requests of its page."""
    if errback is not None:
        failure: Any = Failure(error)  # type: ignore[no-untyped-call]
        failure.request = response.request
        output = errback(failure)
        if isawaitable(output):
            output = await output
        if hasattr(output, "__aiter__"):
            async for one in output:
                yield one
        else:
            for one in arg_to_iter(output):
                yield one
    for one in requests:
        yield one
