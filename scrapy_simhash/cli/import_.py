"""Add stores, exports, and pages of any kind of input to a store, one after another, as if a crawl had met them."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

from scrapy_simhash.cli.options import (
    KINDS,
    BrokenRecords,
    add_fields,
    add_json,
    add_settings,
    config_for,
    fields_of,
)
from scrapy_simhash.cli.postings import Export, Site, begins_export, sites_of
from scrapy_simhash.cli.stores import (
    STORES,
    Place,
    Waited,
    header_at_place,
    is_store,
    key_function,
    left_out,
    place_of,
    walk,
)
from scrapy_simhash.cli.streams import (
    FAILED,
    STDIN,
    Input,
    Progress,
    Refused,
    Share,
    counted,
    of,
    open_input,
    say,
    warn,
)
from scrapy_simhash.config import Config
from scrapy_simhash.detector import NearDuplicateDetector, header_for
from scrapy_simhash.exceptions import (
    FileError,
    KindError,
    RecordDamaged,
    StoreMismatch,
    StoreUnavailable,
    failing,
)
from scrapy_simhash.files.records import Broken, Record, Records, read
from scrapy_simhash.fingerprinter import Reading
from scrapy_simhash.notes import SITE
from scrapy_simhash.scope import scope_function
from scrapy_simhash.store import Header, Posting

EXAMPLE = """\
$ scrapy-simhash import new.sqlite pages.jsonl
pages: 3, new: 2, near-duplicates: 1, revisits: 0, short: 0
"""
#: Bytes by which an export is told.
_HEAD = 512
#: What is said even if it is 0, and what if there is any.
_ALWAYS = ("pages", "new", "near_duplicates", "revisits", "short")
_COUNTS = (*_ALWAYS, "skipped", "broken", "profiles")


def add_arguments(parser: ArgumentParser) -> None:
    """Add which store, what comes into it, and what the fields of a feed are called."""
    parser.add_argument(
        "store", metavar="STORE", help=f"the store, which is created if it does not exist: {STORES}"
    )
    parser.add_argument(
        "inputs",
        metavar="INPUT",
        nargs="*",
        default=[STDIN],
        help=f"what is added: a store, an export, or pages: {KINDS}; if several have the same page, the last one"
        " counts as its latest visit (default: -, standard input)",
    )
    pages = parser.add_argument_group("for pages")
    add_fields(pages)
    add_settings(pages, "the settings of the store, if it exists")
    add_json(parser, "write the counts as a JSON object")


def run(options: Namespace) -> int:
    """Add every input, say what became of it, and return 0; FAILED if something was damaged."""
    into = place_of(options.store, options)
    into.check(may_be_new=True)
    # Once, since it may warn of settings.
    config = cache(partial(config_for, options, into))
    with Progress() as progress, ExitStack() as stack:
        sources = [_opened(name, into, options, config, stack) for name in options.inputs]
        header = _header(into, sources, options, config)
        with taking_in(into, header) as intake:
            for source in sources:
                tell = progress.counting(f"importing {source.name}", source.share)
                intake.status = max(intake.status, source.take(intake, tell))
    counts = {name: intake.counts[name] for name in _COUNTS}
    say(counted(counts, _ALWAYS, options.json), sys.stdout)
    return intake.status


class Source(NamedTuple):
    """A store, an export or pages: what is taken over."""

    name: str
    header: Header | None
    """By which its fingerprints were made; None for pages."""
    share: Share
    """Which share of it is read after so many entries."""
    take: Callable[[Intake, Callable[[int], None]], int]
    """Adds it, tells how many entries that were so far, and returns the exit status."""


def _opened(
    name: str, into: Place, options: Namespace, config: Callable[[], Config], stack: ExitStack
) -> Source:
    """Open a source, which must not be the store *into* itself."""
    if name != STDIN and is_store(name, options):
        place = place_of(name, options)
        if place.identity == into.identity:
            raise Refused(f"{place.shown} cannot be imported into itself")
        store = stack.enter_context(place.reading())
        postings: Iterable[Posting | Site] = chain(_postings(store), sites_of(store))
        take = partial(_take_postings, postings, store.header, lambda: left_out(place, store))
        return Source(place.shown, store.header, of(len(store)), take)
    inputs: list[str | BinaryIO] = [name]
    if name == STDIN or (Path(name).exists() and not Path(name).is_dir()):
        given = stack.enter_context(open_input(name))
        if begins_export(_peeked(given)):
            export = Export(given)
            take = partial(_take_postings, export, export.header, export.tell_of_unknown)
            return Source(given.name, export.header, given.share, take)
        if not Path(name).is_file():
            # What has come through a pipe does not come again.
            inputs = [given.stream]
    records = stack.enter_context(closing(read(inputs, fields_of(options), options.format)))
    take = partial(_take_pages, records, config(), key_function(into, options))
    return Source(name, None, lambda count: None, take)


def _postings(store: Waited) -> Iterator[Posting | Site]:
    yield from (page.posting for page in walk(store))


def _peeked(given: Input) -> bytes:
    """Return the first bytes of *given* as far as they are there, and leave them to be read."""
    stream = given.stream
    with failing(f"read {given.source}"):
        return stream.peek(_HEAD) if isinstance(stream, BufferedReader) else b""


def _header(
    into: Place, sources: Sequence[Source], options: Namespace, config: Callable[[], Config]
) -> Header:
    """Return the header for which the store is to be opened. Raises StoreMismatch if something cannot come into it.

    Pages are read by its settings, and by those that were given. Else it is that of the store, if it is there, or of
    its spider, or of the first source: postings are compared by the rule of the store that takes them in.
    """
    exports = [(source.name, source.header) for source in sources if source.header is not None]
    name, header = into.shown, header_at_place(into, options)
    if len(exports) < len(sources):
        header = header_for(config())
    elif header is None:
        name, header = exports[0]
    for other, its in exports:
        if differences := header.fingerprints_differ(its):
            raise StoreMismatch(
                f"{name} and {other} hold fingerprints that cannot be compared with each other:"
                f" {'; '.join(differences)}. Nothing was changed"
            )
    return header


@dataclass
class Intake:
    """Claims pages in a store for *header*, one after another, and counts them.

    *open_store* is called when the store is needed: a new one is made for the first page, not before.
    """

    header: Header
    open_store: Callable[[], Waited]
    counts: Counter[str] = field(default_factory=Counter)
    """What became of the pages, and of sites with a ``profile``; see `run`."""
    status: int = 0
    """The exit status: FAILED if a page could not be stored, or a record of the store not be read."""

    @property
    def is_open(self) -> bool:
        """Tell whether the store was needed."""
        return "store" in vars(self)

    @cached_property
    def store(self) -> Waited:
        """The store, opened. Raises FileError or Refused, and StoreError, if that is not possible."""
        return self.open_store()

    @contextmanager
    def counting(self, url: str) -> Iterator[Callable[[bool, str | None, bool], None]]:
        """Yield what counts the page at *url*: whether it was known, which page it repeats, whether it is short.

        If what the store has of it is damaged, the page is not stored, a warning says so, and it goes on.
        """

        def count(was_known: bool, original: str | None, is_short: bool) -> None:
            self.counts["pages"] += 1
            if was_known:
                self.counts["revisits"] += 1
            elif original is not None:
                self.counts["near_duplicates"] += 1
            else:
                self.counts["short" if is_short else "new"] += 1

        try:
            yield count
        except RecordDamaged as error:
            self.status = FAILED
            warn(f"{ascii(url)[1:-1]} was not stored: {error}")


def _take_postings(
    entries: Iterable[Posting | Site],
    source: Header,
    end: Callable[[], int],
    intake: Intake,
    tell: Callable[[int], None],
) -> int:
    """Claim postings in their order, made for *source*, and join what was learned about sites."""
    scope = intake.header.scope
    scope_of = None if source.scope == scope else scope_function(scope)
    for number, entry in enumerate(entries, 1):
        tell(number)
        if isinstance(entry, Site):
            if entry.kind in intake.store.note_kinds:
                intake.store.change(entry.kind, entry.host, entry.joined)
                intake.counts["profiles"] += entry.kind == SITE
            continue
        with intake.counting(entry.url) as count:
            # What was compared within another scope.
            posting = entry._replace(scope=scope_of(entry.url)) if scope_of else entry
            claim = intake.store.claim(posting)
            count(claim.former is not None, claim.original, posting.is_short)
    return end()


def _take_pages(
    records: Records,
    config: Config,
    key_of: Callable[[str], bytes],
    intake: Intake,
    tell: Callable[[int], None],
) -> int:
    """Read pages by *config*, and claim them as a crawl does. Raises Refused if no record has the fields of a page.

    *key_of* returns what the page of a URL is known by; it raises Refused for what is none.
    """
    broken, read, seen = BrokenRecords(), 0, 0
    detector: NearDuplicateDetector | None = None

    def clock() -> float:
        return seen

    try:
        for record in records:
            read += 1
            tell(read)
            if isinstance(record, Broken):
                broken.note(record)
                continue
            if not record.is_text and 0 < config.maxsize < len(record.page):
                intake.counts["skipped"] += 1
                continue
            try:
                key = key_of(record.url)
            except Refused as error:
                broken.say(record.place, str(error))
                continue
            seen = int(time.time()) if record.seen is None else record.seen
            # For the first page: a store is made now, or asked what it knows of the site.
            detector = detector or NearDuplicateDetector(config, intake.store.as_store(), clock)
            with intake.counting(record.url) as count:
                verdict = detector.conclude(_reading(record, detector), record.url, key=key)
                detector.deliver(key, verdict.page_hash)
                count(verdict.last_seen is not None, verdict.duplicate_of, verdict.fingerprint is None)
    finally:
        # Deliveries, and what was learned about sites, since they were stored last.
        if detector is not None:
            detector.flush()
        broken.close()
    broken.check(records, read - broken.count)
    intake.counts["skipped"] += records.passed_over.total()
    intake.counts["broken"] += broken.count
    return broken.status


def _reading(record: Record, detector: NearDuplicateDetector) -> Reading:
    if record.is_text and isinstance(record.page, str):
        return detector.fingerprinter.read_text(record.page)
    kind, language = record.content_type, record.content_language
    return detector.read(record.page, record.url, content_type=kind, content_language=language)


@contextmanager
def taking_in(place: Place, header: Header) -> Iterator[Intake]:
    """Open the store at *place* for fingerprints of *header*, in a run of its own.

    A store that is not there is made when the first page comes, so that an import of none leaves no file. Whatever
    stops it, the message says what became of the pages before.
    """
    with ExitStack() as stack:
        intake = Intake(header, lambda: stack.enter_context(place.claiming(header, "import")))
        try:
            if place.exists():
                # At once: what is wrong with it is told before anything is read.
                _ = intake.store
            yield intake
            if intake.is_open:
                intake.status = max(intake.status, left_out(place, intake.store))
        except (FileError, KindError, Refused, StoreUnavailable) as error:
            pages = intake.counts["pages"]
            kept = f"the {pages:,} pages before it were stored; the command can be repeated"
            raise type(error)(f"{error}; {kept if pages else 'nothing was stored'}") from error
