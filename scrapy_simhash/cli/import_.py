"""Add exports of stores, and pages of any format, to a store. Pages are claimed in order, as in a crawl."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from scrapy_simhash.cli import options as shared
from scrapy_simhash.cli.kinds import EXPORT, HEAD, STORE, check_pages, kind_of, kind_of_head
from scrapy_simhash.cli.postings import Site, read_export
from scrapy_simhash.cli.stores import STORES, Place, SyncStore, key_function, left_out, place_of
from scrapy_simhash.cli.streams import STDIN, Refused, bar, check_stdin, counted, name_of, open_input, show
from scrapy_simhash.config import Config
from scrapy_simhash.detector import NearDuplicateDetector, header_for
from scrapy_simhash.exceptions import FileError, KindError, StoreMismatch, StoreUnavailable
from scrapy_simhash.files.records import Broken, Record, Records, read
from scrapy_simhash.fingerprinter import Reading
from scrapy_simhash.notes import SITE
from scrapy_simhash.scope import scope_function
from scrapy_simhash.store import Header, Posting, Store

#: Names of counts that are shown even if they are 0, and of all counts.
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
        help=f"exports of stores, or pages: {shared.KINDS}; if several have the same page, the last one counts as the"
        " latest visit (default: -, standard input)",
    )
    pages = parser.add_argument_group("for pages")
    shared.add_fields(pages)
    shared.add_settings(pages, "the settings of the store, if it exists")
    shared.add_json(parser, "write the counts as a JSON object")


def run(options: Namespace) -> int:
    """Add every input and show the counts; return 0, or FAILED if damaged data was left out."""
    check_stdin(*options.inputs)
    into = place_of(options.store, options)
    into.check(may_be_new=True)
    counts: Counter[str] = Counter()
    status = 0
    with ExitStack() as stack:
        sources = [_opened(name, options, stack) for name in options.inputs]
        is_with_pages = any(source.header is None for source in sources)
        config = shared.config_for(options, into) if is_with_pages else None
        header = _header(into, sources, options, config)
        with _explained(into, counts), into.claiming(header, "import") as store:
            for name, exported, found in sources:
                entries = bar(found, f"importing {name}")
                if config is not None and isinstance(found, Records):
                    status |= _take_pages(entries, found, config, key_function(into, options), store, counts)
                else:
                    _take_entries(entries, exported, store, counts)
            status |= left_out(into, store)
    facts = {name: counts[name] for name in _COUNTS}
    show(facts, [counted(facts, _ALWAYS)], options.json)
    return status


class Source(NamedTuple):
    """An export of a store, or pages."""

    name: str
    header: Header | None
    """The header of its fingerprints; None for pages."""
    entries: Iterable[Any]
    """The pages and learned data of an export, or the `Records` of pages."""


def _opened(name: str, options: Namespace, stack: ExitStack) -> Source:
    inputs: list[str | Path | BinaryIO] = [name]
    if name == STDIN or (Path(name).exists() and not Path(name).is_dir()):
        if Path(name).is_file() and kind_of(Path(name)) == STORE:
            raise Refused(
                f"{name} is {STORE}: run "
                f'"scrapy-simhash export {name} | scrapy-simhash import {options.store or "STORE"}"'
            )
        if options.format is None:
            check_pages([name], EXPORT)
        stream = stack.enter_context(open_input(name))
        if options.format is None and kind_of_head(stream.peek(HEAD)) == EXPORT:
            return Source(name_of(name), *read_export(stream, name_of(name)))
        if not Path(name).is_file():
            # A pipe can be read only once.
            inputs = [stream]
    records = stack.enter_context(closing(read(inputs, shared.fields_of(options), options.format)))
    return Source(name, None, records)


def _header(into: Place, sources: Sequence[Source], options: Namespace, config: Config | None) -> Header:
    """Return the header with which the store is opened. Raises StoreMismatch if a source does not match.

    If pages are imported, this is the header for the settings with which they are read. Otherwise the header is that
    of the store, or, for a new store, that of its spider or of the first source.
    """
    others = [(source.name, source.header) for source in sources if source.header is not None]
    name = into.shown
    header: Header | None = into.header() or (options.project and options.project.header_for(into))
    if config is not None:
        header = header_for(config)
    elif header is None:
        name, header = others[0]
    for other, exported in others:
        if differences := header.fingerprints_differ(exported):
            raise StoreMismatch(
                f"the fingerprints of {name} and {other} cannot be compared: {'; '.join(differences)}."
                " Nothing was changed"
            )
    return header


@contextmanager
def _explained(into: Place, counts: Counter[str]) -> Iterator[None]:
    """Add the number of stored pages to an error that ends the import, and remove a new file without pages."""
    is_new = not into.exists()
    try:
        yield
    except (FileError, KindError, Refused, StoreUnavailable) as error:
        pages = counts["pages"]
        kept = f"the {pages:,} pages before it were stored; the command can be repeated"
        raise type(error)(f"{error}; {kept if pages else 'nothing was stored'}") from error
    finally:
        if is_new and into.path is not None and not counts["pages"] + counts["notes"]:
            for name in (into.path.name, f"{into.path.name}-lock"):
                into.path.with_name(name).unlink(missing_ok=True)


def _count(counts: Counter[str], was_known: bool, original: str | None, is_short: bool) -> None:
    """Count a page by the result of its claim."""
    result = "near_duplicates" if original is not None else "short" if is_short else "new"
    counts.update(["pages", "revisits" if was_known else result])


def _take_entries(
    entries: Iterable[Posting | Site], source: Header | None, store: SyncStore, counts: Counter[str]
) -> None:
    """Claim postings of *source* in order, and merge learned data about sites."""
    scope = store.header.scope
    scope_of = None if source is not None and source.scope == scope else scope_function(scope)
    for entry in entries:
        if isinstance(entry, Site):
            store.change(entry.kind, entry.host, entry.joined)
            counts["notes"] += 1
            counts["profiles"] += entry.kind == SITE
            continue
        posting = entry._replace(scope=scope_of(entry.url)) if scope_of else entry
        claim = store.claim(posting)
        _count(counts, claim.former is not None, claim.original, posting.is_short)


def _take_pages(
    entries: Iterable[Record | Broken],
    records: Records,
    config: Config,
    key_of: Callable[[str], bytes],
    store: SyncStore,
    counts: Counter[str],
) -> int:
    """Read pages with *config*, claim them as in a crawl, and return the exit status.

    *key_of* returns the key of a URL, and raises Refused for an invalid URL. Raises Refused if no record has the
    fields of a page.
    """
    broken, seen, has_pages = shared.BrokenRecords(), 0, False
    detector = NearDuplicateDetector(config, cast(Store, store), lambda: seen)
    try:
        for record in entries:
            if isinstance(record, Broken):
                broken.note(record)
                continue
            try:
                key = key_of(record.url)
            except Refused as error:
                broken.say(record.place, str(error))
                continue
            has_pages = True
            if not record.is_text and 0 < config.maxsize < len(record.page):
                counts["skipped"] += 1
                continue
            seen = int(time.time()) if record.seen is None else record.seen
            verdict = detector.conclude(_reading(record, detector), record.url, key=key)
            detector.deliver(key, verdict.page_hash)
            _count(counts, verdict.last_seen is not None, verdict.duplicate_of, verdict.fingerprint is None)
    finally:
        # Store deliveries and learned data since the last batch.
        detector.flush()
        broken.close()
    broken.check(records, has_pages)
    counts["skipped"] += records.passed_over.total()
    counts["broken"] += broken.count
    return broken.status


def _reading(record: Record, detector: NearDuplicateDetector) -> Reading:
    if record.is_text and isinstance(record.page, str):
        return detector.fingerprinter.read_text(record.page)
    kind, language = record.content_type, record.content_language
    return detector.read(record.page, record.url, content_type=kind, content_language=language)
