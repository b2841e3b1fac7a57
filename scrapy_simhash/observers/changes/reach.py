"""Reach: which pages nothing leads to any more. By what was asked for, and by the links of what was read last."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from scrapy_simhash.observers.changes.register import LINK, PRESENT, each_link

if TYPE_CHECKING:
    from scrapy_simhash.observers.changes.register import Register


class Unlinked(NamedTuple):
    """What a crawl that ended in order did not ask for."""

    numbers: list[int]
    """Of the pages that nothing leads to, in their order; empty if that cannot be known."""
    unknown: int
    """How many pages were not read whose links nobody knows: what they lead to would be among *numbers*."""


def unlinked(register: Register, crawl: int, starts: Collection[bytes]) -> Unlinked:
    """Return the pages that *crawl* has not asked for, and that nothing leads to.

    A page that was read in this crawl leads to what it asks for now. Any other, such as one that timed out, that
    robots.txt forbids or that a rule has skipped, leads to what it asked for when it was read last; and what is
    reached by that is followed in turn. *starts* are the keys of the start requests.
    """
    left = {key[:LINK]: (number, state) for key, number, state in register.not_asked(crawl)}
    unknown = 0
    reached = [key[:LINK] for key in starts]
    for links in register.links_of_asked(crawl):
        if links is None:
            unknown += 1
        else:
            reached += [link for link in each_link(links) if link in left]
    while reached:
        found = left.pop(reached.pop(), None)
        if found is not None:
            links = register.links(found[0])
            if links is None:
                unknown += 1
            else:
                reached += [link for link in each_link(links) if link in left]
    gone = [number for number, state in left.values() if state == PRESENT]
    return Unlinked([] if unknown else gone, unknown)
