"""TrustedHosts: what hosts of a crawl are trusted with, kept in its store, so that later crawls know."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from scrapy_simhash.detector import is_async
from scrapy_simhash.recrawl import Trust, Trusts
from scrapy_simhash.store import KeepsSites, SharesSites

if TYPE_CHECKING:
    from scrapy import Spider

    from scrapy_simhash.recrawl import Answer
    from scrapy_simhash.store import AsyncStore, Store

logger = logging.getLogger(__name__)

#: Hosts of which the last lines tell.
MOST_TOLD = 5
#: Before the name of a host, where a store keeps this beside the profiles of hosts: no host has a space.
_BEFORE = "conditional "
_WHY = {
    Trust.LIED: "it answered 304 for a page that had changed, %(url)s: its pages are fetched in full",
    Trust.NONE: "its pages come in full although they have not changed, such as %(url)s: no validators are sent",
    Trust.DATES: "its ETags change although its pages do not, such as that of %(url)s: only dates are sent",
}


class TrustedHosts:
    """The hosts of one crawl, by what the store knows of them and what is found out."""

    def __init__(self, store: Store | AsyncStore) -> None:
        self._shared = store if is_async(store) and isinstance(store, SharesSites) else None
        self._local = store if not is_async(store) and isinstance(store, KeepsSites) else None
        self._trusts = Trusts()

    async def meet(self, site: str) -> None:
        """Load what the store knows of a host, if it was not met before. Raises StoreUnavailable."""
        if self._trusts.find(site) is not None:
            return
        data = None
        if self._shared is not None:
            _, data = await self._shared.load_site(_BEFORE + site)
        elif self._local is not None:
            data = self._local.load_site(_BEFORE + site)
        # Another request may have been faster.
        host = self._trusts.find(site) or self._trusts.add(site)
        if data is not None:
            with suppress(ValueError):
                host.join(data, int(time.time()))

    def to_send(self, site: str, answer: Answer) -> tuple[bytes, bytes]:
        """Return the ETag and the date that are to be sent for a page, empty for none."""
        host = self._trusts.find(site)
        if host is None or host.trust.is_lost:
            return b"", b""
        return b"" if host.trust is Trust.DATES else answer.etag, answer.modified

    def lied(self, site: str, url: str) -> None:
        """Note that the page at *url* had changed, although its host had said that it had not."""
        self._trusts.lied(site, url, int(time.time()))

    def kept_word(self, site: str) -> None:
        """Note an answer of 304."""
        self._trusts.kept_word(site)

    def came_in_vain(self, site: str, url: str, has_date: bool) -> None:
        """Note that a page came in full with the text that it had; *has_date* if its date is the same."""
        self._trusts.came_in_vain(site, url, has_date, int(time.time()))

    async def tell(self) -> None:
        """Give the store what was found out. Raises StoreUnavailable; it is told the next time then."""
        for site, host in self._trusts.news():
            place, data = _BEFORE + site, host.to_bytes()
            if self._shared is not None:
                version, _ = await self._shared.load_site(place)
                await self._shared.replace_site(place, version, data)
            elif self._local is not None:
                self._local.keep_sites([(place, data)])
            host.is_new = False

    def spider_closed(self, spider: Spider) -> None:
        """Log which hosts are not trusted."""
        lost = self._trusts.lost()
        for site, host in lost[:MOST_TOLD]:
            logger.warning(
                "Conditional requests: %(site)s is not trusted: " + _WHY[host.trust],
                {"site": site, "url": host.url},
                extra={"spider": spider},
            )
        if len(lost) > MOST_TOLD:
            logger.warning(
                "Conditional requests: %(number)d more hosts are not trusted",
                {"number": len(lost) - MOST_TOLD},
                extra={"spider": spider},
            )
