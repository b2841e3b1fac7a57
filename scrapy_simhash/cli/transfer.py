"""Stores on the move: exports, what imports them and pages into a store, and what merges stores."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

from scrapy_simhash.cli.options import add_fields, add_settings, config_for, fields_of
from scrapy_simhash.cli.places import (
    FilePlace,
    Place,
    add_place,
    header_at_place,
    key_function,
    left_out,
    place_of,
)
from scrapy_simhash.cli.postings import (
    Export,
    Site,
    begins_export,
    header_line,
    posting_line,
    site_line,
    sites_of,
)
from scrapy_simhash.cli.progress import Progress, Share, of, told, warn
from scrapy_simhash.cli.stores import Waited, walk
from scrapy_simhash.cli.streams import (
    FAILED,
    STDIN,
    Input,
    Refused,
    add_output,
    check_outputs,
    failing,
    open_input,
    open_output,
)
from scrapy_simhash.exceptions import FileError, KindError, RecordDamaged, StoreMismatch, StoreUnavailable
from scrapy_simhash.notes import SITE
from scrapy_simhash.scope import scope_function
from scrapy_simhash.store import Header, Posting


@dataclass
class Intake:
    """Claims postings in a store for *header*, one after another, and counts them.

    *open_store* is called when the store is needed: a new one is made for the first posting, not before.
    """

    header: Header
    open_store: Callable[[], Waited]
    new: int = 0
    """Pages that nobody knew, with content that nobody knew."""
    near_duplicates: int = 0
    """Pages that nobody knew, with content of another page."""
    revisits: int = 0
    """Pages that were known: whatever they say now."""
    short: int = 0
    """Pages too short to be compared, and unlike any other."""
    claimed: int = 0
    """All of these but for those that no store keeps."""
    profiles: int = 0
    """Of sites: what was learned about so many was joined."""
    status: int = 0
    """The exit status: FAILED if a page could not be stored, or a record of the store not be read."""

    @property
    def is_open(self) -> bool:
        """Tell whether the store was needed."""
        return "store" in vars(self)

    @cached_property
    def store(self) -> Waited:
        """The store, opened. Raises Failed or Refused, and StoreError, if that is not possible."""
        return self.open_store()

    def count(self, was_known: bool, original: str | None, is_short: bool) -> None:
        """Count a page that was claimed; *original* is the URL of the page that it repeats, if it does."""
        self.claimed += 1
        if was_known:
            self.revisits += 1
        elif original is not None:
            self.near_duplicates += 1
        elif is_short:
            self.short += 1
        else:
            self.new += 1

    @property
    def counts(self) -> dict[str, int]:
        """What became of the pages, each in one of these."""
        return {name: getattr(self, name) for name in ("new", "near_duplicates", "revisits", "short")}

    @property
    def facts(self) -> dict[str, int]:
        """What became of all; profiles only if there were any."""
        profiles = {"profiles": self.profiles} if self.profiles else {}
        return {"postings": self.claimed, **self.counts, **profiles}

    def claim_all(
        self, entries: Iterable[Posting | Site], source: Header, tell: Callable[[int], None]
    ) -> None:
        """Claim postings in their order, made for *source*, and join profiles; *tell* hears of how many claims."""
        scope = self.header.scope
        scope_of = None if source.scope == scope else scope_function(scope)
        for posting in entries:
            if isinstance(posting, Site):
                if posting.kind in self.store.note_kinds:
                    self.store.change(posting.kind, posting.host, posting.joined)
                    self.profiles += posting.kind == SITE
                continue
            # What was compared within another scope.
            with self.passing_over(posting.url):
                claim = self.store.claim(
                    posting._replace(scope=scope_of(posting.url)) if scope_of else posting
                )
                self.count(claim.former is not None, claim.original, posting.is_short)
            tell(self.claimed)

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
    header = header_at_place(place, options) or source
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


def add_export(parser: ArgumentParser) -> None:
    """Add which store, and where to."""
    add_place(parser)
    add_output(parser, "the lines")


def run_export(options: Namespace) -> int:
    """Write the header, every posting and every site profile, and return 0; FAILED if damaged ones were left out."""
    place = place_of(options.place, options)
    check_outputs({"output": options.output}, [place.identity])
    with Progress(sys.stderr) as progress, place.reading() as store, open_output(options.output) as output:
        output.write(lines(store, progress.counting("exporting", of(len(store)))))
        status = left_out(place, store)
    return status


def lines(store: Waited, tell: Callable[[int], None]) -> Iterator[str]:
    """Yield the lines of an export; *tell* hears how many postings it were so far."""
    yield header_line(store.header)
    for number, step in enumerate(walk(store), 1):
        yield posting_line(step.posting, step.page and step.page.original)
        tell(number)
    yield from map(site_line, sites_of(store))


#: Bytes by which an export is told.
_HEAD = 512


def add_import(parser: ArgumentParser) -> None:
    """Add which store, where from, and what the fields of a feed are called."""
    add_place(parser)
    parser.add_argument(
        "-i",
        "--input",
        metavar="INPUT",
        action="append",
        help="an export, or pages: a folder, or a file of HTML, JSON Lines, JSON, CSV, Parquet, WARC, zip or tar,"
        " compressed or not; may be repeated for pages (default: -, standard input)",
    )
    pages = parser.add_argument_group("importing pages instead of an export")
    add_fields(pages)
    add_settings(pages, "the settings of the store, if it exists")
    parser.add_argument("--json", action="store_true", help="write the counts as a JSON object")


def run_import(options: Namespace) -> int:
    """Claim every posting, or every page, one after another, say what became of them; return 0, FAILED for damage."""
    inputs = options.input or [STDIN]
    place = place_of(options.place, options)
    with (
        Progress(sys.stderr) as progress,
        open_input(inputs[0]) if _is_one_stream(inputs) else nullcontext() as given,
    ):
        if given is None:
            facts, status = _take_pages(inputs, place, options, progress)
        elif begins_export(_peeked(given)):
            facts, status = _take([_export(given)], place, options, progress, "importing", "import")
        else:
            # What has come through a pipe does not come again.
            stream = inputs if Path(inputs[0]).is_file() else [given.stream]
            facts, status = _take_pages(stream, place, options, progress)
    print(told(facts, options.json))
    return status


def _is_one_stream(inputs: Sequence[str]) -> bool:
    """Tell whether the input is one file or pipe, as an export is."""
    return len(inputs) == 1 and (
        inputs[0] == STDIN or (Path(inputs[0]).exists() and not Path(inputs[0]).is_dir())
    )


def _peeked(given: Input) -> bytes:
    """Return the first bytes of *given* as far as they are there, and leave them to be read."""
    stream = given.stream
    with failing(f"read {given.source}"):
        return stream.peek(_HEAD) if isinstance(stream, BufferedReader) else b""


def _take_pages(
    inputs: Sequence[str | BinaryIO], place: Place, options: Namespace, progress: Progress
) -> tuple[dict[str, int], int]:
    # What reads pages takes half a second to import.
    from scrapy_simhash.cli.batches import Pages
    from scrapy_simhash.detector import header_for
    from scrapy_simhash.files.records import read

    config = config_for(options, place)
    with (
        closing(read(inputs, fields_of(options))) as records,
        taking_in(place, header_for(config), "import") as intake,
    ):
        pages = Pages(intake, config, key_function(place, options))
        facts = pages.take_all(records, progress.counting("importing", records.share))
    return facts, max(intake.status, pages.broken.status)


class Source(NamedTuple):
    """A store, or an export, whose postings and profiles are taken over."""

    name: str
    header: Header
    entries: Iterable[Posting | Site]
    share: Share
    """Which share of it is read after so many postings."""
    end: Callable[[], int]
    """Called when all is read: says what was passed over, and returns the exit status."""


def add_merge(parser: ArgumentParser) -> None:
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


def run_merge(options: Namespace) -> int:
    """Claim the postings of every source in the store, one source after another, and return 0; FAILED for damage."""
    into = place_of(options.into, options)
    with Progress(sys.stderr) as progress, ExitStack() as stack:
        sources = [stack.enter_context(_opened(name, into.identity, options)) for name in options.sources]
        facts, status = _take(sources, into, options, progress, "merging {}", "merge")
    print(told(facts, options.json))
    return status


def _take(
    sources: Sequence[Source], into: Place, options: Namespace, progress: Progress, shown: str, doing: str
) -> tuple[dict[str, int], int]:
    """Claim the postings of all *sources* in the store at *into*, and return what became of them, and the status."""
    first = sources[0]
    header = header_in(into, options, first.header, first.name)
    for source in sources[1:]:
        if differences := header.fingerprints_differ(source.header):
            raise StoreMismatch(
                f"{first.name} and {source.name} hold fingerprints that cannot be compared with each other:"
                f" {'; '.join(differences)}. Nothing was changed"
            )
    status = 0
    with taking_in(into, header, doing) as intake:
        for source in sources:
            tell, before = progress.counting(shown.format(source.name), source.share), intake.claimed
            intake.claim_all(source.entries, source.header, lambda claimed: tell(claimed - before))  # noqa: B023
            status = max(status, source.end())
    return intake.facts, max(intake.status, status)


def _export(given: Input) -> Source:
    export = Export(given)
    return Source(given.name, export.header, export, given.share, export.tell_of_unknown)


@contextmanager
def _opened(name: str, into: str, options: Namespace) -> Iterator[Source]:
    """Open a source, which must not be the store *into* itself."""
    place = None if name == STDIN else place_of(name, options)
    if place is not None and place.identity == into:
        raise Refused(f"{place.shown} cannot be merged into itself")
    if place is None or (isinstance(place, FilePlace) and place.is_export()):
        with open_input(name) as given:
            yield _export(given)
        return
    with place.reading() as store:
        postings = (step.posting for step in walk(store))
        entries: Iterable[Posting | Site] = chain(postings, sites_of(store))
        yield Source(place.shown, store.header, entries, of(len(store)), partial(left_out, place, store))
