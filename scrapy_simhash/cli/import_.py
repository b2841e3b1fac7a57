"""Add stores, exports, and pages of any format to a store, one after another, as a crawl would."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from scrapy_simhash.cli.kinds import EXPORT, HEAD, check_pages, kind_of_head
from scrapy_simhash.cli.options import (
    KINDS,
    BrokenRecords,
    add_fields,
    add_json,
    add_settings,
    config_for,
    fields_of,
)
from scrapy_simhash.cli.postings import Site, read_export, sites_of
from scrapy_simhash.cli.stores import STORES, Place, Waited, is_store, key_function, left_out, place_of, walk
from scrapy_simhash.cli.streams import (
    FAILED,
    STDIN,
    Refused,
    bar,
    check_stdin,
    counted,
    name_of,
    open_input,
    show,
    warn,
)
from scrapy_simhash.config import Config
from scrapy_simhash.detector import NearDuplicateDetector, header_for
from scrapy_simhash.exceptions import FileError, KindError, RecordDamaged, StoreMismatch, StoreUnavailable
from scrapy_simhash.files.records import Broken, Record, Records, read
from scrapy_simhash.fingerprinter import Reading
from scrapy_simhash.notes import SITE
from scrapy_simhash.scope import scope_function
from scrapy_simhash.store import Header, Posting

EXAMPLE = """\
$ scrapy-simhash import new.sqlite pages.jsonl
pages: 3, new: 2, near-duplicates: 1, revisits: 0, short: 0
"""
#: Counts that are shown even if they are 0, and all counts.
_ALWAYS = ("pages", "new", "near_duplicates", "revisits", "short")
_COUNTS = (*_ALWAYS, "skipped", "broken", "profiles")


def add_arguments(parser: ArgumentParser) -> None:
    """Add arguments for the store, its inputs, and the settings to read pages."""
    parser.add_argument(
        "store", metavar="STORE", help=f"the store, which is created if it does not exist: {STORES}"
    )
    parser.add_argument(
        "inputs",
        metavar="INPUT",
        nargs="*",
        default=[STDIN],
        help=f"stores, exports, or pages: {KINDS}; if several have the same page, the last one counts as its latest"
        " visit (default: -, standard input)",
    )
    pages = parser.add_argument_group("for pages")
    add_fields(pages)
    add_settings(pages, "the settings of the store, if it exists")
    add_json(parser, "write the counts as a JSON object")


def run(options: Namespace) -> int:
    """Add every input, show the counts, and return 0; FAILED after damage."""
    check_stdin(*options.inputs)
    into = place_of(options.store, options)
    into.check(may_be_new=True)
    with ExitStack() as stack:
        sources = [_opened(name, into, options, stack) for name in options.inputs]
        is_with_pages = any(source.header is None for source in sources)
        config = config_for(options, into) if is_with_pages else None
        intake = Intake(_header(into, sources, options, config), into, stack)
        with _explained(intake):
            if into.exists():
                # Report a store that cannot be opened before anything is read.
                _ = intake.store
            for source in sources:
                entries = bar(source.entries, f"importing {source.name}")
                if config is not None and isinstance(source.entries, Records):
                    _take_pages(entries, source.entries, config, key_function(into, options), intake)
                else:
                    _take_entries(entries, source.header, intake)
                intake.status |= source.status()
            if intake.is_open:
                intake.status |= left_out(into, intake.store)
    counts = {name: intake.counts[name] for name in _COUNTS}
    show(counts, [counted(counts, _ALWAYS)], options.json)
    return intake.status


class Source(NamedTuple):
    """A store, an export or pages."""

    name: str
    header: Header | None
    """The header of its fingerprints; None for pages."""
    entries: Iterable[Any]
    """Postings and sites; `Records` of pages."""
    status: Callable[[], int] = lambda: 0
    """Returns the exit status after the entries were read."""


def _opened(name: str, into: Place, options: Namespace, stack: ExitStack) -> Source:
    """Open a source, which must not be the store *into* itself."""
    if name != STDIN and is_store(name, options):
        place = place_of(name, options)
        if place.identity == into.identity:
            raise Refused(f"{place.shown} cannot be imported into itself")
        store = stack.enter_context(place.reading())
        postings = (page.posting for page in walk(store))
        return Source(
            place.shown, store.header, chain(postings, sites_of(store)), partial(left_out, place, store)
        )
    inputs: list[str | Path | BinaryIO] = [name]
    if name == STDIN or (Path(name).exists() and not Path(name).is_dir()):
        if options.format is None:
            check_pages([name], EXPORT)
        stream = stack.enter_context(open_input(name))
        if options.format is None and kind_of_head(stream.peek(HEAD)) == EXPORT:
            return Source(name_of(name), *read_export(stream, name_of(name)))
        if not Path(name).is_file():
            # A pipe can be read once.
            inputs = [stream]
    return Source(name, None, stack.enter_context(closing(read(inputs, fields_of(options), options.format))))


def _header(into: Place, sources: Sequence[Source], options: Namespace, config: Config | None) -> Header:
    """Return the header for which the store is opened. Raises StoreMismatch if a source does not fit.

    With pages it is the header of the settings that read them, which are those of the store. Otherwise it is that of
    the store, that of the spider of a new store, or that of the first source.
    """
    others = [(source.name, source.header) for source in sources if source.header is not None]
    name = into.shown
    header: Header | None = into.header() or (options.project and options.project.header_for(into))
    if config is not None:
        header = header_for(config)
    elif header is None:
        name, header = others[0]
    for other, its in others:
        if differences := header.fingerprints_differ(its):
            raise StoreMismatch(
                f"the fingerprints of {name} and {other} cannot be compared: {'; '.join(differences)}."
                " Nothing was changed"
            )
    return header


class Intake:
    """Claims pages in the store at *place* for *header*, one after another, and counts them.

    The first page creates a new store.
    """

    def __init__(self, header: Header, place: Place, stack: ExitStack) -> None:
        self.header = header
        self._place, self._stack = place, stack
        self.counts: Counter[str] = Counter()
        """Pages by their result, and sites as ``profiles``."""
        self.status = 0
        """The exit status: FAILED if a record was damaged or a file could not be read to its end."""

    @property
    def is_open(self) -> bool:
        """Whether the store was opened."""
        return "store" in vars(self)

    @cached_property
    def store(self) -> Waited:
        """The store; opened at the first access. Raises FileError, Refused or StoreError."""
        return self._stack.enter_context(self._place.claiming(self.header, "import"))

    def count(self, was_known: bool, original: str | None, is_short: bool) -> None:
        """Count a page by its claim."""
        result = "near_duplicates" if original is not None else "short" if is_short else "new"
        self.counts.update(["pages", "revisits" if was_known else result])

    @contextmanager
    def claiming(self, url: str) -> Iterator[None]:
        """Warn and continue if the store has a damaged record of the page at *url*, which is not stored then."""
        try:
            yield
        except RecordDamaged as error:
            self.status = FAILED
            warn(f"{ascii(url)[1:-1]} was not stored: {error}")


@contextmanager
def _explained(intake: Intake) -> Iterator[None]:
    """Add the number of stored pages to an error that ends the import."""
    try:
        yield
    except (FileError, KindError, Refused, StoreUnavailable) as error:
        pages = intake.counts["pages"]
        kept = f"the {pages:,} pages before it were stored; the command can be repeated"
        raise type(error)(f"{error}; {kept if pages else 'nothing was stored'}") from error


def _take_entries(entries: Iterable[Posting | Site], source: Header | None, intake: Intake) -> None:
    """Claim postings of *source* in order, and merge learned data about sites."""
    scope = intake.header.scope
    scope_of = None if source is not None and source.scope == scope else scope_function(scope)
    for entry in entries:
        if isinstance(entry, Site):
            if entry.kind in intake.store.note_kinds:
                intake.store.change(entry.kind, entry.host, entry.joined)
                intake.counts["profiles"] += entry.kind == SITE
            continue
        with intake.claiming(entry.url):
            posting = entry._replace(scope=scope_of(entry.url)) if scope_of else entry
            claim = intake.store.claim(posting)
            intake.count(claim.former is not None, claim.original, posting.is_short)


def _take_pages(
    entries: Iterable[Record | Broken],
    records: Records,
    config: Config,
    key_of: Callable[[str], bytes],
    intake: Intake,
) -> None:
    """Read pages with *config*, and claim them as in a crawl. Raises Refused if no record has the fields of a page.

    *key_of* returns the key of a URL; it raises Refused for an invalid one.
    """
    broken, seen = BrokenRecords(), 0
    detector: NearDuplicateDetector | None = None

    def clock() -> int:
        return seen

    try:
        for record in entries:
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
            # At the first page, which creates the store.
            detector = detector or NearDuplicateDetector(config, intake.store.as_store(), clock)
            with intake.claiming(record.url):
                verdict = detector.conclude(_reading(record, detector), record.url, key=key)
                detector.deliver(key, verdict.page_hash)
                intake.count(verdict.last_seen is not None, verdict.duplicate_of, verdict.fingerprint is None)
    finally:
        # Store deliveries and learned data since the last batch.
        if detector is not None:
            detector.flush()
        broken.close()
    broken.check(records, detector is not None or intake.counts["skipped"] > 0)
    intake.counts["skipped"] += records.passed_over.total()
    intake.counts["broken"] += broken.count
    intake.status |= broken.status


def _reading(record: Record, detector: NearDuplicateDetector) -> Reading:
    if record.is_text and isinstance(record.page, str):
        return detector.fingerprinter.read_text(record.page)
    kind, language = record.content_type, record.content_language
    return detector.read(record.page, record.url, content_type=kind, content_language=language)
