"""Select the responses to compare, and read large ones in a thread."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from scrapy.http import HtmlResponse
from scrapy.http.request import NO_CALLBACK

from scrapy_simhash import names
from scrapy_simhash.page.text import is_xml_feed
from scrapy_simhash.verdict import Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.http import Response

P = ParamSpec("P")
T = TypeVar("T")

try:
    from scrapy.utils.asyncio import run_in_thread as run_in_thread
except ImportError:  # Scrapy 2.13 and 2.14
    from twisted.internet.threads import deferToThread

    async def run_in_thread(func: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call *func* in a thread of the loop's default pool; return its result or raise its exception."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:  # with a reactor other than asyncio's, coroutines await Deferreds
            return await deferToThread(func, *args, **kwargs)
        return await asyncio.to_thread(func, *args, **kwargs)


#: Bytes of a body above which a page is read in a thread. Passing it to a thread takes about 50 microseconds; reading
#: 256 KiB of prose takes 80 milliseconds in pure Python.
THREAD_SIZE = 256 * 1024
#: Scrapy's flags for incomplete bodies. ("partial" means only that the server sent no length and closed the
#: connection, as in HTTP/1.0; nothing is known to be missing.)
_INCOMPLETE = frozenset(("dataloss", "download_stopped"))


def reason_to_skip(request: Request, response: Response, maxsize: int) -> Reason | None:
    """Return why a response is not compared; None if it is compared. *maxsize* is ``SIMHASH_MAXSIZE``."""
    if request.callback is NO_CALLBACK:
        return Reason.NO_CALLBACK
    if request.meta.get(names.META) is False:
        return Reason.OPTED_OUT
    if not 200 <= response.status < 300:
        return Reason.STATUS
    body = response.body
    if not isinstance(response, HtmlResponse) or is_xml_feed(body):
        return Reason.NOT_HTML
    if not _INCOMPLETE.isdisjoint(response.flags):
        return Reason.TRUNCATED
    return Reason.TOO_LARGE if 0 < maxsize < len(body) else None


async def in_thread(function: Callable[[], T]) -> T:
    """Call *function*, which reads the tree of a page, in a thread; return its result or raise its exception."""

    # asyncio cannot raise StopIteration from a thread: before Python 3.12 the await would hang.
    def called() -> tuple[T | None, Exception | None]:
        try:
            return function(), None
        except Exception as error:
            return None, error

    # No other code uses the tree while the thread reads it, since the spider gets the response afterwards. (If a
    # middleware returns one response for two requests, they share a tree, but reading does not change it.)
    result, error = await run_in_thread(called)
    if error is not None:
        raise error
    return cast("T", result)
