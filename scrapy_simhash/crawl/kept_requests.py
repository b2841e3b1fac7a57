"""KeptRequests: requests that were skipped, to be sent after all if their rule is given up. JOBDIR keeps them."""

from __future__ import annotations

import pickle
from collections import OrderedDict, deque
from typing import TYPE_CHECKING

from scrapy.utils.request import request_from_dict

from scrapy_simhash.url_rules import site_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scrapy import Request, Spider

#: Requests of a host, and in all; the oldest go.
MOST_KEPT, MOST_KEPT_IN_ALL = 1_000, 20_000


class KeptRequests:
    """The latest skipped requests of each host, with the rules that skipped them."""

    def __init__(self) -> None:
        self._sites: OrderedDict[str, deque[tuple[tuple[str, ...], Request]]] = OrderedDict()
        self._number = 0

    @property
    def sites(self) -> list[str]:
        """The hosts of which there are requests."""
        return list(self._sites)

    def rules_of(self, site: str) -> list[str]:
        """Return the rules that skipped requests of *site*."""
        return sorted({rule for rules, _ in self._sites.get(site, ()) for rule in rules})

    def add(self, rules: tuple[str, ...], request: Request) -> None:
        """Keep a request that *rules* have skipped."""
        site = site_of(request.url)
        kept = self._sites.setdefault(site, deque(maxlen=MOST_KEPT))
        self._number += len(kept) < MOST_KEPT
        kept.append((rules, request))
        self._sites.move_to_end(site)
        if self._number > MOST_KEPT_IN_ALL:
            # Of the host that has waited longest.
            first, oldest = next(iter(self._sites.items()))
            oldest.popleft()
            self._number -= 1
            if not oldest:
                del self._sites[first]

    def take(self, site: str, is_wanted: Callable[[tuple[str, ...], Request], bool]) -> list[Request]:
        """Return the requests of *site* that are wanted, oldest first, and keep them no longer."""
        kept = self._sites.get(site, deque())
        wanted = [is_wanted(*item) for item in kept]
        taken = [request for (_, request), is_taken in zip(kept, wanted, strict=True) if is_taken]
        left = [item for item, is_taken in zip(kept, wanted, strict=True) if not is_taken]
        if left:
            self._sites[site] = deque(left, MOST_KEPT)
        else:
            self._sites.pop(site, None)
        self._number -= len(taken)
        return taken

    def take_latest(self, site: str, is_wanted: Callable[[Request], bool]) -> list[Request]:
        """Return the latest request of *site* that is wanted, if there is one, and keep it no longer."""
        latest = [request for _, request in reversed(self._sites.get(site, ())) if is_wanted(request)][:1]
        return self.take(site, lambda _, request: request in latest) if latest else []

    def take_some(self, site: str, number: int) -> list[Request]:
        """Return *number* requests of *site*, from all that are kept and the latest among them."""
        requests = [request for _, request in self._sites.get(site, ())]
        some = {id(request) for request in requests[:: -max(1, len(requests) // number)][:number]}
        return self.take(site, lambda _, request: id(request) in some)

    def save(self, path: Path, spider: Spider) -> None:
        """Write all requests to *path*, but for those that Scrapy could not write to its own queue either."""
        saved = []
        for kept in self._sites.values():
            for rules, request in kept:
                try:
                    saved.append(pickle.dumps((rules, request.to_dict(spider=spider))))
                except Exception:  # whatever pickling of what is in its meta raises
                    continue
        unfinished = path.with_name(path.name + ".new")
        unfinished.write_bytes(pickle.dumps(saved))
        unfinished.replace(path)

    def load(self, path: Path, spider: Spider) -> None:
        """Keep the requests in *path* again, if there are any."""
        if path.exists():
            for each in pickle.loads(path.read_bytes()):
                rules, request = pickle.loads(each)
                self.add(rules, request_from_dict(request, spider=spider))
