"""Postings on their way into a store, counted by what became of them."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from scrapy_simhash.cli.blocking import BlockingSites
from scrapy_simhash.cli.damage import left_out
from scrapy_simhash.cli.failures import FAILED, Refused
from scrapy_simhash.cli.places import Place
from scrapy_simhash.cli.progress import warn
from scrapy_simhash.cli.site_lines import Site
from scrapy_simhash.exceptions import FileError, KindError, RecordDamaged, StoreMismatch, StoreUnavailable
from scrapy_simhash.scope import scope_function
from scrapy_simhash.store import Claim, Header, KeepsSites, Posting, Store


@dataclass
class Counts:
    """What became of postings, each in one of these."""

    new: int = 0
    """Pages that nobody knew, with content that nobody knew."""
    near_duplicates: int = 0
    """Pages that nobody knew, with content of another page."""
    revisits: int = 0
    """Pages that were known: whatever they say now."""
    short: int = 0
    """Pages too short to be compared, and unlike any other."""

    def add(self, was_known: bool, original: str | None, is_short: bool) -> None:
        """Count a page; *original* is the URL of the page that it repeats, if it does."""
        if was_known:
            self.revisits += 1
        elif original is not None:
            self.near_duplicates += 1
        elif is_short:
            self.short += 1
        else:
            self.new += 1


@dataclass
class Intake:
    """Claims postings in a store for *header*, one after another, and counts them.

    *open_store* is called when the store is needed: a new one is made for the first posting, not before.
    """

    header: Header
    open_store: Callable[[], Store]
    counts: Counts = field(default_factory=Counts)
    claimed: int = 0
    profiles: int = 0
    """Of sites: what was learned about so many was joined."""
    status: int = 0
    """The exit status: FAILED if a page could not be stored, or a record of the store not be read."""

    @property
    def is_open(self) -> bool:
        """Tell whether the store was needed."""
        return "store" in vars(self)

    @cached_property
    def store(self) -> Store:
        """The store, opened. Raises Failed or Refused, and StoreError, if that is not possible."""
        return self.open_store()

    def claim(self, posting: Posting) -> Claim:
        """Claim one. Raises StoreUnavailable if the store does not work; all before it are stored."""
        claim = self.store.claim(posting)
        self.counts.add(claim.former is not None, claim.original, posting.is_short)
        self.claimed += 1
        return claim

    @property
    def facts(self) -> dict[str, int]:
        """What became of all; profiles only if there were any."""
        profiles = {"profiles": self.profiles} if self.profiles else {}
        return {"postings": self.claimed, **vars(self.counts), **profiles}

    def claim_all(
        self, entries: Iterable[Posting | Site], source: Header, tell: Callable[[int], None]
    ) -> None:
        """Claim postings in their order, made for *source*, and join profiles; *tell* hears of how many claims."""
        scope = self.header.scope
        scope_of = None if source.scope == scope else scope_function(scope)
        for posting in entries:
            if isinstance(posting, Site):
                self._join(posting)
                continue
            # What was compared within another scope.
            with self.passing_over(posting.url):
                self.claim(posting._replace(scope=scope_of(posting.url)) if scope_of else posting)
            tell(self.claimed)

    def _join(self, site: Site) -> None:
        """Join what was learned about a site with what the store has of it, if it keeps such."""
        if isinstance(self.store, BlockingSites):
            self.store.change_site(site.place, site.joined)
        elif isinstance(self.store, KeepsSites):
            data = site.joined(self.store.load_site(site.place))
            if data is not None:
                self.store.keep_sites([(site.place, data)])
        else:
            return
        self.profiles += site.place == site.host

    @contextmanager
    def passing_over(self, url: str) -> Iterator[None]:
        """Warn that a page is not stored if what the store has of it is damaged, and go on."""
        try:
            yield
        except RecordDamaged as error:
            self.status = FAILED
            warn(f"{ascii(url)[1:-1]} was not stored: {error}")


def header_in(place: Place, options: Namespace, source: Header, name: str) -> Header:
    """Return the header for which the store at *place* is to be opened, to take in postings made for *source*.

    Its own if it is there, else that of the project's settings if the project knows it, else that of the postings:
    they are compared by the rule of the store that takes them in. Raises StoreMismatch if they cannot be.
    """
    header = place.header() or (options.project and options.project.header_for(place)) or source
    if differences := header.fingerprints_differ(source):
        raise StoreMismatch(
            f"{place.shown} holds fingerprints that cannot be compared with those of {name}: "
            f"{'; '.join(differences)}. Nothing was changed"
        )
    return header


@contextmanager
def taking_in(place: Place, header: Header, doing: str) -> Iterator[Intake]:
    """Open the store at *place* for fingerprints of *header*, in a run that ends as *doing*.

    A store that is not there is made when the first posting comes, so that an import of nothing leaves no file.
    Whatever stops it, the message says what became of the postings before.
    """
    place.check(may_be_new=True)
    with ExitStack() as stack:
        intake = Intake(header, lambda: stack.enter_context(place.claiming(header, doing)))
        try:
            if place.exists():
                # At once: what is wrong with it is told before anything is read.
                _ = intake.store
            yield intake
            if intake.is_open:
                intake.status = max(intake.status, left_out(place, intake.store))
        except (FileError, KindError, Refused, StoreUnavailable) as error:
            kept = f"the {intake.claimed:,} pages before it were stored; the command can be repeated"
            raise type(error)(f"{error}; {kept if intake.claimed else 'nothing was stored'}") from error


def told(facts: Mapping[str, int], is_json: bool) -> str:
    """Return *facts* in a line, or as a JSON object.

    >>> told({"postings": 3_000, "new": 2_999, "near_duplicates": 1}, is_json=False)
    'postings: 3,000, new: 2,999, near-duplicates: 1'
    """
    if is_json:
        return json.dumps(facts)
    return ", ".join(f"{name.replace('_', '-')}: {number:,}" for name, number in facts.items())
