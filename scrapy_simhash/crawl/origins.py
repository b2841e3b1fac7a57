"""Origins: where the pages of a crawl came from: what was asked for, and which page linked to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.http.request import NO_CALLBACK

from scrapy_simhash import names
from scrapy_simhash.observers.url_rules import Origin
from scrapy_simhash.recent import Recent
from scrapy_simhash.scope import scope_of

if TYPE_CHECKING:
    from scrapy import Request

#: URLs from which redirects led elsewhere that are remembered, and URLs that were sent after all; the oldest goes.
MOST_REDIRECTS, MOST_AFTER_ALL = 20_000, 1_000


class Origins:
    """Finds where pages came from, by their requests."""

    def __init__(self) -> None:
        self._redirects: Recent[int, None] = Recent(MOST_REDIRECTS)
        self._after_all: Recent[str, bool] = Recent(MOST_AFTER_ALL)

    def note_after_all(self, request: Request) -> None:
        """Note that *request* is sent although it had been skipped."""
        self._after_all[request.url] = True

    def of(self, request: Request, *, is_silent: bool) -> Origin:
        """Return where the page of *request* came from; to be asked once. *is_silent* says that it has no text."""
        parent = request.meta.get(names.META_PARENT, None if is_start(request) else "")
        return Origin(self._asked_for(request), parent, is_silent, self._after_all.pop(request.url, False))

    def _asked_for(self, request: Request) -> str:
        """Return the URL that the spider asked for: what is stopped must be stopped before the redirect.

        A spider that passes its meta on passes on whence its pages were redirected. So that is believed once, and the
        page that was really redirected always comes before those that its callback asks for.
        """
        redirects = request.meta.get("redirect_urls")
        if not redirects or scope_of(redirects[0], "host") != scope_of(request.url, "host"):
            return request.url
        asked = str(redirects[0])
        key = hash(asked)
        if key in self._redirects:
            return request.url
        self._redirects[key] = None
        return asked


def is_start(request: Request) -> bool:
    """Tell whether the spider began with *request*."""
    # A spider that passes its meta on passes this on too, and the depth tells.
    return bool(request.meta.get("is_start_request")) and not request.meta.get("depth")


def may_be_skipped(request: Request) -> bool:
    """Tell whether *request* may be skipped at all: not if the spider began with it, or has opted out."""
    return (
        request.method == "GET"
        and request.callback is not NO_CALLBACK
        and not is_start(request)
        and request.meta.get(names.META_ENABLED, True) is not False
    )
