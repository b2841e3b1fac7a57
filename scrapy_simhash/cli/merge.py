"""Take what other stores hold into one."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from typing import NamedTuple

from scrapy_simhash.cli import input as reading
from scrapy_simhash.cli.damage import left_out
from scrapy_simhash.cli.failures import Refused
from scrapy_simhash.cli.intake import Intake, header_in, taking_in, told
from scrapy_simhash.cli.places import FilePlace, place_of
from scrapy_simhash.cli.postings import Export
from scrapy_simhash.cli.progress import Progress, Share, of
from scrapy_simhash.cli.site_lines import Site, sites_of
from scrapy_simhash.cli.walk import walk
from scrapy_simhash.exceptions import StoreMismatch
from scrapy_simhash.store import Header, Posting

EXAMPLE = """\
$ scrapy-simhash merge both.sqlite monday.sqlite tuesday.sqlite
postings: 6, new: 2, near-duplicates: 1, revisits: 3, short: 0, profiles: 2
"""


DOING = "merge"


class Source(NamedTuple):
    """A store, or an export, whose postings and profiles are taken over."""

    name: str
    header: Header
    entries: Iterable[Posting | Site]
    share: Share
    """Which share of it is read after so many postings."""
    end: Callable[[], int]
    """Called when all is read: says what was passed over, and returns the exit status."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add where to, and where from."""
    parser.add_argument(
        "into", metavar="INTO", help="the store to merge into; it is created if it does not exist"
    )
    parser.add_argument(
        "sources",
        metavar="FROM",
        nargs="+",
        help="a store or an export; if several have the same page, the last one counts as its latest visit",
    )
    parser.add_argument("--json", action="store_true", help="write the counts as a JSON object")


def run(options: Namespace) -> int:
    """Claim the postings of every source in the store, one source after another, and return 0; FAILED for damage."""
    into = place_of(options.into, options)
    with Progress(sys.stderr) as progress, ExitStack() as stack:
        sources = [stack.enter_context(_opened(name, into.identity, options)) for name in options.sources]
        header = header_in(into, options, sources[0].header, sources[0].name)
        for source in sources[1:]:
            if differences := header.fingerprints_differ(source.header):
                raise StoreMismatch(
                    f"{sources[0].name} and {source.name} hold fingerprints that cannot be compared with each other:"
                    f" {'; '.join(differences)}. Nothing was changed"
                )
        with taking_in(into, header, DOING) as intake:
            statuses = [_merge(source, intake, progress) for source in sources]
    print(told(intake.facts, options.json))
    return max(intake.status, *statuses)


def _merge(source: Source, intake: Intake, progress: Progress) -> int:
    before = intake.claimed
    tell = progress.counting(f"merging {source.name}", source.share)
    intake.claim_all(source.entries, source.header, lambda claimed: tell(claimed - before))
    return source.end()


@contextmanager
def _opened(name: str, into: str, options: Namespace) -> Iterator[Source]:
    """Open a source, which must not be the store *into* itself."""
    place = None if name == reading.STDIN else place_of(name, options)
    if place is not None and place.identity == into:
        raise Refused(f"{place.shown} cannot be merged into itself")
    if place is None or (isinstance(place, FilePlace) and place.is_export()):
        with reading.opened(name) as given:
            export = Export(given)
            yield Source(name, export.header, export, given.share, export.tell_of_unknown)
        return
    with place.reading() as store:
        postings = (step.posting for step in walk(store))
        entries: Iterable[Posting | Site] = chain(postings, sites_of(store))
        yield Source(place.shown, store.header, entries, of(len(store)), partial(left_out, place, store))
