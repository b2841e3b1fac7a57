"""RecrawlPolicy: a policy of Scrapy's HTTP cache that requests known pages conditionally, or not until they are due.

A cache policy has access only to the settings, and cannot wait for a store. So `SimhashRecrawlMiddleware` decides how
to request a page and writes the mode into the meta of the request, and the policy applies it.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from scrapy_simhash import names
from scrapy_simhash.crawling import internal_of, meta_with
from scrapy_simhash.exceptions import SettingError

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

#: Validators that match no page, so that only a server that ignores validators answers 304.
_NO_ETAG, _LONG_AGO = b'"no-page-has-this"', b"Thu, 01 Jan 1970 00:00:01 GMT"
#: Headers of a 304 response that describe its empty body, not the page.
_OF_THE_BODY = (
    b"Content-Encoding",
    b"Content-Length",
    b"Content-Range",
    b"Content-Type",
    b"Transfer-Encoding",
)
#: Flags of a body that may be incomplete.
_INCOMPLETE = frozenset(("partial", "dataloss", "download_stopped"))

#: The headers of a conditional request.
VALIDATORS = (b"If-None-Match", b"If-Modified-Since")


class Mode(str, Enum):
    """The way in which a page is requested."""

    NOT_DUE = "not_due"
    """The page is not requested; the page in the cache is the response."""
    CONDITIONAL = "conditional"
    """The page is requested with the validators of the page in the cache, if it has any."""
    CHECK = "check"
    """The page is requested with validators that match no page, to test whether the server compares them."""
    FULL = "full"
    """The page is requested without validators; a 304 response is final."""
    MODIFIED = "modified"
    """The page was requested conditionally, and the server sent it in full."""


def mode_of(request: Request) -> Mode | None:
    """Return the mode of *request*; None for a request that does not use the cache."""
    mode = internal_of(request).get(names.RECRAWL)
    return None if mode is None else Mode(mode)


def remove_validators(request: Request) -> None:
    """Remove the validators from *request*, because a copy of it may be sent for a different page or mode."""
    for name in VALIDATORS:
        request.headers.pop(name, None)


class RecrawlPolicy:
    """The class for ``HTTPCACHE_POLICY``. Needs ``SIMHASH_RECRAWL``, the add-on, and `PageStorage`.

    The page in the cache is the response after a 304, or while the page is not due, but never for an error: 5xx
    responses are retried. Unlike Scrapy's policies, this policy also stores responses with ``Cache-Control:
    no-cache`` or ``max-age=0``, which only require revalidation. Requests without a mode do not use the cache.
    """

    def __init__(self, settings: BaseSettings) -> None:
        """Raises SettingError without ``SIMHASH_RECRAWL``."""
        if not settings.get("SIMHASH_RECRAWL"):
            raise SettingError(
                "HTTPCACHE_POLICY = 'scrapy_simhash.RecrawlPolicy' needs SIMHASH_RECRAWL: set {'': 'auto'}, or"
                " {'': 'always'} to request every page conditionally"
            )
        self._keeps_all = settings.getbool("HTTPCACHE_ALWAYS_STORE")

    def should_cache_request(self, request: Request) -> bool:
        """Return whether *request* has a mode."""
        return mode_of(request) is not None

    def should_cache_response(self, response: Response, request: Request) -> bool:
        """Return whether *response* is complete and may be stored."""
        if response.status != 200 or not _INCOMPLETE.isdisjoint(response.flags):
            return False
        if b"*" in response.headers.getlist(b"Vary"):
            return False
        return self._keeps_all or b"no-store" not in (response.headers.get(b"Cache-Control") or b"").lower()

    def is_cached_response_fresh(self, cachedresponse: Response, request: Request) -> bool:
        """Return whether the page is not due. If it is due, add validators to *request*."""
        mode, headers = mode_of(request), cachedresponse.headers
        remove_validators(request)
        if mode is Mode.NOT_DUE:
            cachedresponse.flags.append(names.FLAG_NOT_DUE)
            return True
        if mode is Mode.CHECK:
            request.headers[b"If-None-Match"] = _NO_ETAG
            request.headers[b"If-Modified-Since"] = _LONG_AGO
        elif mode is Mode.CONDITIONAL:
            # Only the ETag is sent, because servers that also compare a date may miss a change.
            if etag := headers.get(b"ETag"):
                request.headers[b"If-None-Match"] = etag
            elif date := headers.get(b"Last-Modified"):
                request.headers[b"If-Modified-Since"] = date
        return False

    def is_cached_response_valid(
        self, cachedresponse: Response, response: Response, request: Request
    ) -> bool:
        """Return whether *response* is a 304, whose headers Scrapy adds to those of the page in the cache."""
        was_asked = mode_of(request) is Mode.CONDITIONAL and any(
            name in request.headers for name in VALIDATORS
        )
        if was_asked and response.status == 200:
            request.meta.update(meta_with(request, names.RECRAWL, Mode.MODIFIED.value))
        remove_validators(request)
        if response.status != 304:
            return False
        for name in _OF_THE_BODY:
            response.headers.pop(name, None)
        response.headers.pop(b"Set-Cookie", None)
        cachedresponse.flags.append(names.FLAG_NOT_MODIFIED)
        return True
