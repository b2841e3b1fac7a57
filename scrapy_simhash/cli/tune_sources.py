"""Where the pairs of ``tune`` come from: a report, a store, or the pages of a feed, read as a crawl reads them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_simhash.cli.failures import Failed, Refused
from scrapy_simhash.cli.feeds import FORMATS, Record, format_of, records
from scrapy_simhash.cli.input import STDIN, Input, opened
from scrapy_simhash.cli.places import REDIS_URLS, Place, place_of
from scrapy_simhash.cli.progress import Progress, of
from scrapy_simhash.cli.report import Lines
from scrapy_simhash.cli.settings import add_settings, config_of, given_settings
from scrapy_simhash.config import Config
from scrapy_simhash.rule import SimilarityRule
from scrapy_simhash.tuning import Neighbours, Pair, Sample, pairs_of

if TYPE_CHECKING:
    from scrapy_simhash.detector import NearDuplicateDetector
    from scrapy_simhash.store import Page
    from scrapy_simhash.verdict import Verdict

#: Pairs of a report or a feed that are kept; of more, a sample. Some 25 MB.
MOST_PAIRS = 50_000
#: Pages of a store whose neighbours are looked for; of more, a sample.
MOST_PAGES = 20_000


class Pairs(NamedTuple):
    """The pairs of a source."""

    name: str
    pairs: list[Pair]
    """Each once: of a page that came again, what was found last."""
    min_similarity: float | None
    """By which the pages were compared; None where that is not known."""
    sampled: tuple[int, int] | None = None
    """How many were taken, and of how many; None for all."""


def add_source(parser: ArgumentParser) -> None:
    """Add the source, and what is read of a feed."""
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="a report written with SIMHASH_REPORT (-: standard input); a store: an SQLite file, a URL like"
        " redis://host:6379/0#prefix, or in a Scrapy project the name of a spider; or a feed",
    )
    feed = parser.add_argument_group("reading the pages of a feed")
    page = feed.add_mutually_exclusive_group()
    page.add_argument("--html-field", metavar="NAME", help="name of the field with the HTML of a page")
    page.add_argument(
        "--text-field", metavar="NAME", help="name of the field with the text of a page, if there is no HTML"
    )
    feed.add_argument("--url-field", metavar="NAME", help="name of the field with the URL (default: url)")
    feed.add_argument(
        "--format",
        choices=FORMATS,
        help="format of the feed (default: from the file name extension, else jsonlines)",
    )
    add_settings(feed, "the default settings; in a Scrapy project, its settings")


def source_words(options: Namespace) -> list[str]:
    """Return the source as it was given on the command line, to be given again."""
    names = ("html_field", "text_field", "url_field", "format")
    given = [(f"--{name.replace('_', '-')}", getattr(options, name)) for name in names]
    settings = [("--set", setting) for setting in ([] if options.project is not None else options.set)]
    return [options.source, *(word for pair in (*given, *settings) if pair[1] for word in pair)]


def pairs_from(options: Namespace, progress: Progress) -> Pairs:
    """Return the pairs of the source. Raises Failed if it has none."""
    is_feed = bool(options.html_field or options.text_field)
    for name in ("url_field", "format"):
        if getattr(options, name) and not is_feed:
            raise Refused(f"--{name.replace('_', '-')} needs --html-field or --text-field")
    if is_feed:
        found = _of_feed(options, progress)
    elif _is_store(options):
        found = _of_store(place_of(options.source, options), progress)
    else:
        found = _of_report(options.source, progress)
    if not found.pairs:
        raise Failed(
            f"{found.name} has no pair with a threshold: no two pages were compared, or it was made with"
            ' SIMHASH_RULE = "classic"'
        )
    return found


def _is_store(options: Namespace) -> bool:
    from scrapy_simhash.store.sqlite import is_database

    name: str = options.source
    if name == STDIN or name.startswith(REDIS_URLS):
        return name != STDIN
    path = Path(name)
    return is_database(path) if path.is_file() else options.project is not None and not path.exists()


def _of_report(path: str, progress: Progress) -> Pairs:
    with opened(path) as given:
        lines = Lines(given, progress.counting("reading", given.share))
        return _sampled(lines.name, pairs_of(lines), None)


def _sampled(name: str, pairs: Iterator[Pair], min_similarity: float | None) -> Pairs:
    sample: Sample[Pair] = Sample(MOST_PAIRS)
    for pair in pairs:
        sample.add(" ".join(pair.key), pair)
    sampled = (len(sample), sample.seen) if sample.is_part else None
    return Pairs(name, list(sample.values()), min_similarity, sampled)


# --- Stores.


def _of_store(place: Place, progress: Progress) -> Pairs:
    from scrapy_simhash.cli.walk import walk

    with place.reading() as store:
        rule = store.header.rule
        if not isinstance(rule, SimilarityRule):
            return Pairs(place.shown, [], None)
        total = len(store)

        def pages(doing: str) -> Iterator[Page]:
            tell = progress.counting(doing, of(total))
            for count, entry in enumerate(walk(store), 1):
                tell(count)
                if entry.page is not None and not entry.posting.is_short:
                    yield entry.page

        sample: Sample[Page] = Sample(MOST_PAGES)
        for page in pages("choosing pages"):
            sample.add(page.posting.key.hex(), page)
        neighbours = Neighbours(rule, sample.values())
        for page in pages("comparing"):
            neighbours.meet(page)
    # Two pages may have one URL, as with POST requests.
    pairs = {pair.key: pair for pair in neighbours.pairs()}
    sampled = (len(sample), sample.seen) if sample.is_part else None
    return Pairs(place.shown, list(pairs.values()), rule.min_similarity, sampled)


# --- Feeds.


def _of_feed(options: Namespace, progress: Progress) -> Pairs:
    config = config_of(given_settings(options), {}) if options.project is None else options.project.config
    with opened(options.source) as given:
        pages = _Pages(config, options)
        lines = pages.lines(given, options, progress.counting("reading pages", given.share))
        found = _sampled(given.name, pairs_of(lines), config.min_similarity)
    return found


class _Pages:
    """The pages of a feed, compared one after another as in a crawl."""

    def __init__(self, config: Config, options: Namespace) -> None:
        from scrapy_simhash.detector import NearDuplicateDetector

        self._detector: NearDuplicateDetector = NearDuplicateDetector(config)
        self._url = options.url_field or "url"
        self._page = options.html_field or options.text_field
        self._is_text = options.html_field is None

    def lines(
        self, given: Input, options: Namespace, tell: Callable[[int], None]
    ) -> Iterator[dict[str, Any]]:
        """Yield for each page what the report of a crawl tells of it, as far as it tells of pairs."""
        has_fields = False
        with closing(records(given, options.format or format_of(options.source))) as feed:
            for count, record in enumerate(feed, 1):
                tell(count)
                if line := self._line(record):
                    has_fields = True
                    yield line
        if not has_fields:
            raise Refused(
                f"no record of {given.name} has text in the fields {self._url!r} and {self._page!r}"
            )

    def _line(self, record: Record) -> dict[str, Any] | None:
        url, page = record.fields.get(self._url), record.fields.get(self._page)
        maxsize = self._detector.config.maxsize
        if not (isinstance(url, str) and isinstance(page, str) and url and page):
            return None
        if maxsize and len(page) > maxsize:
            return {"url": url}
        verdict, hints = self._text(page, url) if self._is_text else self._html(page, url)
        miss = verdict.near_miss
        return {
            "url": url,
            **verdict.to_dict(),
            "near_miss": miss and miss._asdict(),
            "hints": hints,
        }

    def _text(self, page: str, url: str) -> tuple[Verdict, tuple[str, ...]]:
        from scrapy_simhash.page.text import plain_text

        reading = self._detector.fingerprinter.read_document(plain_text(page))
        return self._detector.conclude(reading, url), ()

    def _html(self, page: str, url: str) -> tuple[Verdict, tuple[str, ...]]:
        from scrapy_simhash.hints import evidence, read_hints
        from scrapy_simhash.page.text import parse

        root = parse(page)
        verdict = self._detector.conclude(self._detector.read(root, url), url)
        other = verdict.duplicate_of or (verdict.near_miss and verdict.near_miss.url)
        return verdict, evidence(read_hints(root, url), url, other) if other else ()
