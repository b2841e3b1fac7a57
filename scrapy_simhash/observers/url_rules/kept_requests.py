"""KeptRequests: requests that were skipped, to be sent after all if their rule is given up. JOBDIR keeps them."""

from __future__ import annotations

import pickle
from collections import Counter, OrderedDict, deque
from itertools import count
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from scrapy.utils.request import request_from_dict

from scrapy_simhash.observers.url_rules.novelty import group_in
from scrapy_simhash.observers.url_rules.rules import site_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scrapy import Request, Spider

#: Requests of a host that rules about a difference have skipped: the oldest go, since a page with a new session id in
#: each link has more than anybody can keep. And those of all kinds in all: no group is skipped beyond that.
MOST_KEPT, MOST_KEPT_IN_ALL = 1_000, 20_000


class _Kept(NamedTuple):
    number: int
    rules: tuple[str, ...]
    request: Request


class KeptRequests:
    """The skipped requests of each host, with the rules that skipped them.

    A file, if there is one, gets each request when it is kept, and a note of their numbers when some were taken.
    """

    def __init__(self) -> None:
        #: By host, whoever was added to last at the end: those of rules about a difference, and those of groups.
        self._sites: OrderedDict[str, deque[_Kept]] = OrderedDict()
        self._groups: OrderedDict[str, deque[_Kept]] = OrderedDict()
        self._number = 0
        self._numbers = count()
        self._path: Path | None = None
        self._spider: Spider | None = None
        self._file: IO[bytes] | None = None
        #: Requests and notes in the file.
        self._written = 0
        #: How many were pushed out, by host and rule.
        self.lost: Counter[tuple[str, str]] = Counter()

    @property
    def sites(self) -> list[str]:
        """The hosts of which there are requests."""
        return list({**self._sites, **self._groups})

    @property
    def is_full(self) -> bool:
        """Whether there is no room for one more of a group: none of these is ever pushed out."""
        return self._number >= MOST_KEPT_IN_ALL and not self._sites

    def rules_of(self, site: str) -> list[str]:
        """Return the rules that skipped requests of *site*."""
        return sorted({rule for kept in self._of(site) for rule in kept.rules})

    def add(self, rules: tuple[str, ...], request: Request) -> None:
        """Keep a request that *rules* have skipped."""
        item = _Kept(next(self._numbers), rules, request)
        self._put(item)
        self._write(item)
        if self._written > 2 * MOST_KEPT_IN_ALL:
            self._begin_file()

    def take(self, site: str, is_wanted: Callable[[tuple[str, ...], Request], bool]) -> list[Request]:
        """Return the requests of *site* that are wanted, oldest first, and keep them no longer."""
        taken = [item for item in self._of(site) if is_wanted(item.rules, item.request)]
        if not taken:
            return []
        numbers = {item.number for item in taken}
        for kept in (self._sites, self._groups):
            if site in kept:
                left = [item for item in kept[site] if item.number not in numbers]
                kept[site] = deque(left)
                if not left:
                    del kept[site]
        self._number -= len(taken)
        self._write(numbers)
        return [item.request for item in taken]

    def take_latest(self, site: str, is_wanted: Callable[[Request], bool]) -> list[Request]:
        """Return the latest request of *site* that is wanted, if there is one, and keep it no longer."""
        kept = reversed(self._of(site))
        latest = next((item.request for item in kept if is_wanted(item.request)), None)
        return [] if latest is None else self.take(site, lambda _, request: request is latest)

    def take_some(self, site: str, number: int) -> list[Request]:
        """Return *number* requests of *site*, from all that are kept and the latest among them."""
        requests = [item.request for item in self._of(site)]
        some = {id(request) for request in requests[:: -max(1, len(requests) // number)][:number]}
        return self.take(site, lambda _, request: id(request) in some)

    def open(self, path: Path, spider: Spider) -> None:
        """Keep the requests in the file at *path* again, if there are any, and all from now on there too.

        Whatever ends the crawl, they are there when the next run begins. Left out are those that Scrapy could not
        write to its own queue either. Raises what reading or unpickling raises.
        """
        self._path, self._spider = path, spider
        try:
            for rules, request in _read(path) if path.exists() else ():
                self._put(_Kept(next(self._numbers), rules, request_from_dict(request, spider=spider)))
        finally:
            self._begin_file()

    def close(self, *, is_done: bool) -> None:
        """End the file; if all *is_done*, nobody needs it any more."""
        if self._file is not None and self._path is not None:
            self._file.close()
            self._file = None
            if is_done:
                self._path.unlink(missing_ok=True)

    def _put(self, item: _Kept) -> None:
        site = site_of(item.request.url)
        self._number += 1
        if any(map(group_in, item.rules)):
            self._groups.setdefault(site, deque()).append(item)
        else:
            kept = self._sites.setdefault(site, deque())
            kept.append(item)
            self._sites.move_to_end(site)
            if len(kept) > MOST_KEPT:
                self._push_out(site)
        if self._number > MOST_KEPT_IN_ALL and self._sites:
            # Of the host that has waited longest.
            self._push_out(next(iter(self._sites)))

    def _push_out(self, site: str) -> None:
        kept = self._sites[site]
        for rule in kept.popleft().rules:
            self.lost[site, rule] += 1
        self._number -= 1
        if not kept:
            del self._sites[site]

    def _of(self, site: str) -> list[_Kept]:
        return sorted((*self._sites.get(site, ()), *self._groups.get(site, ())))

    def _begin_file(self) -> None:
        """Begin the file anew, with what is kept."""
        if self._path is None:
            return
        unfinished = self._path.with_name(self._path.name + ".new")
        # Windows replaces no open file.
        self.close(is_done=False)
        self._written = 0
        with unfinished.open("wb") as self._file:
            for kept in (*self._sites.values(), *self._groups.values()):
                for item in kept:
                    self._write(item)
        unfinished.replace(self._path)
        self._file = self._path.open("ab")

    def _write(self, entry: _Kept | set[int]) -> None:
        """Write a request into the file, or the numbers of those that were taken."""
        if self._file is None:
            return
        try:
            data = pickle.dumps(
                (entry.number, entry.rules, entry.request.to_dict(spider=self._spider))
                if isinstance(entry, _Kept)
                else (entry,)
            )
        except Exception:  # whatever pickling of what is in the meta of a request raises
            return
        self._file.write(data)
        self._file.flush()
        self._written += 1


def _read(path: Path) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """Return the requests in a file. A kill may have cut off its end: that request is lost."""
    found: dict[int, tuple[tuple[str, ...], dict[str, Any]]] = {}
    with path.open("rb") as file:
        while file.peek(1):
            try:
                number, *kept = pickle.load(file)
            except (EOFError, pickle.UnpicklingError):
                if not found:
                    raise
                break
            if kept:
                found[number] = (kept[0], kept[1])
            else:
                for each in number:
                    found.pop(each, None)
    return list(found.values())
