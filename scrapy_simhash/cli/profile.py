"""Show what was learned about the sites of a store: which hosts, and what of their pages is the site's text.

Or export the profile of a host, import it, pin it.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from scrapy_simhash.cli.explanation import shown
from scrapy_simhash.cli.failures import Refused, failing
from scrapy_simhash.cli.input import opened
from scrapy_simhash.cli.places import add_place, place_of
from scrapy_simhash.cli.postings import blocks_for
from scrapy_simhash.cli.profile_change import change, export, keeper, load, profile_of
from scrapy_simhash.cli.progress import Progress
from scrapy_simhash.config import Config
from scrapy_simhash.fingerprinter import PageFingerprinter, Reading
from scrapy_simhash.index import hamming_distance
from scrapy_simhash.page.fingerprint import DOUBTFUL, UNKNOWN, OwnPart, are_different, similarity
from scrapy_simhash.page.pieces import OF_SITE, Piece, pieces
from scrapy_simhash.page.structured import identity
from scrapy_simhash.page.text import parse
from scrapy_simhash.site import SiteProfile
from scrapy_simhash.site.profile import LEAST_SUBJECTS
from scrapy_simhash.store import Header
from scrapy_simhash.times import written

EXAMPLE = """\
$ scrapy-simhash profile news.sqlite
host           pages  subjects  pieces  known
example.com        3         1       0  no
"""

#: By how many subjects the pieces of a site are counted: from each of these on.
STEPS = (48, 24, 12, LEAST_SUBJECTS)
#: Own words that only one of two pages has: so many are shown.
SHOWN_WORDS = 12


class Page(NamedTuple):
    """A page that was read with the profile of its site."""

    name: str
    reading: Reading
    own: OwnPart | None
    """None for a page that is too short for a fingerprint."""
    pieces: list[tuple[Piece, int]]
    """The main text, each piece with its flag: 1 if it is the site's, 2 if it may be, else 0."""

    @property
    def own_words(self) -> list[str]:
        """The words that are not the site's, each once, in order."""
        return list(
            dict.fromkeys(word for piece, flag in self.pieces if flag != OF_SITE for word in piece.tokens)
        )


def add_arguments(parser: ArgumentParser) -> None:
    """Add which store, which host, and which of its pages."""
    add_place(parser)
    parser.add_argument("host", metavar="HOST", nargs="?", help="show this host instead of a list of all")
    parser.add_argument(
        "pages",
        metavar="PAGE",
        nargs="*",
        help="an HTML file of a page of this host: its text is shown, with the site's text marked; several pages are "
        "compared with the first",
    )
    doing = parser.add_mutually_exclusive_group()
    doing.add_argument(
        "--export", metavar="FILE", help="write the profile of this host to a file (-: standard output)"
    )
    doing.add_argument(
        "--import",
        dest="import_",
        metavar="FILE",
        help="put an exported profile in the place of this host's (-: standard input)",
    )
    doing.add_argument(
        "--pin",
        action="store_true",
        help="keep the profile of this host as it is: crawls use it, and learn nothing more about the host",
    )
    doing.add_argument("--unpin", action="store_true", help="let crawls learn about this host again")
    parser.add_argument("--json", action="store_true", help="write a JSON object")


def run(options: Namespace) -> int:
    """Print the profiles of a store, or one of them with pages, or do with it what is asked for, and return 0."""
    place = place_of(options.place, options)
    host = options.host and options.host.lower()
    is_change = options.import_ is not None or options.pin or options.unpin
    if (is_change or options.export is not None) and (host is None or options.pages):
        raise Refused("--export, --import, --pin and --unpin need a HOST, and no PAGE")
    if options.export is not None:
        export(place, host, options.export)
        return 0
    if is_change:
        change(place, host, options)
    with Progress(sys.stderr) as progress, place.reading() as store:
        sites = keeper(store, place)
        if host is None:
            hosts: list[dict[str, Any]] = []
            tell = progress.counting("reading hosts")
            for name, data in sites.sites():
                hosts.append(_host(name, profile_of(name, data, place)))
                tell(len(hosts))
            facts: dict[str, Any] = {"hosts": hosts}
            lines = _table(hosts)
        else:
            facts, lines = _one_host(host, load(sites, host, place), store.header, options.pages)
    text = json.dumps(facts, indent=2) if options.json else "\n".join(lines)
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))
    return 0


def _host(host: str, profile: SiteProfile) -> dict[str, Any]:
    return {
        "host": host,
        "pages": profile.pages,
        "since": written(profile.since) if profile.since else None,
        "subjects": profile.subjects,
        "is_known": profile.is_known,
        "is_pinned": profile.is_pinned,
        "pieces": len(profile.known()),
    }


def _table(hosts: Sequence[dict[str, Any]]) -> Iterator[str]:
    width = max((len(shown(host["host"])) for host in hosts), default=4)
    yield f"{'host':<{width}}  {'pages':>7}  subjects  pieces  known"
    for host in hosts:
        known = "pinned" if host["is_pinned"] else "yes" if host["is_known"] else "no"
        name = f"{shown(host['host']):<{width}}"
        yield f"{name}  {host['pages']:>7,}  {host['subjects']:>8}  {host['pieces']:>6,}  {known}"


def _one_host(
    host: str, profile: SiteProfile, header: Header, paths: Sequence[str]
) -> tuple[dict[str, Any], Iterator[str]]:
    subjects = dict(profile.known())
    fingerprinter = PageFingerprinter(
        Config.from_settings({**header.settings, **blocks_for(header.settings)})
    )
    pages = [_read(path, fingerprinter, host, profile) for path in paths]
    facts = _host(host, profile)
    facts["known_pieces"] = [
        {"key": f"{key:016x}", "subjects": count} for key, count in sorted(subjects.items(), key=_most_first)
    ]
    if pages:
        facts["shown"] = [_page(page, subjects) for page in pages]
        facts["compared"] = [_comparison(pages[0], page, fingerprinter) for page in pages[1:]]
    return facts, _lines(facts)


def _most_first(piece: tuple[int, int]) -> tuple[int, int]:
    key, subjects = piece
    return -subjects, key


def _read(path: str, fingerprinter: PageFingerprinter, host: str, profile: SiteProfile) -> Page:
    with opened(path) as given, failing(f"read {path}"):
        html = given.stream.read()
    root = parse(html)
    document = fingerprinter.extract(root)
    reading = fingerprinter.read_document(document, profile, identity(root, f"https://{host}/"))
    own = None if reading.fingerprint is None else OwnPart.from_bytes(reading.fingerprint.own)
    parts = pieces(document)
    keys = b"".join(piece.key.to_bytes(8, "little") for piece in parts)
    flags = (profile.flags(keys) if profile.is_known else None) or bytes(len(parts))
    return Page(given.name, reading, own, list(zip(parts, flags, strict=True)))


def _page(page: Page, subjects: dict[int, int]) -> dict[str, Any]:
    return {
        "page": page.name,
        "tokens": sum(len(piece.tokens) for piece, _ in page.pieces),
        "own_tokens": None if page.own is None or page.own.kind in (UNKNOWN, DOUBTFUL) else page.own.tokens,
        "pieces": [
            {
                "text": " ".join(piece.tokens),
                "is_site": flag == OF_SITE,
                "may_be_site": flag > OF_SITE,
                "subjects": subjects.get(piece.key),
            }
            for piece, flag in page.pieces
        ],
    }


def _comparison(first: Page, second: Page, fingerprinter: PageFingerprinter) -> dict[str, Any]:
    """Return what the rule says of two pages, and what it rests on."""
    a, b = first.reading.fingerprint, second.reading.fingerprint
    words, its = first.own_words, second.own_words
    return {
        "pages": [first.name, second.name],
        "is_near_duplicate": fingerprinter.is_near_duplicate(a, b),
        "distance": hamming_distance(a.value, b.value) if a and b else None,
        "similarity": round(similarity(a.sketch, b.sketch), 3) if a and b else None,
        "own_similarity": _own_similarity(first, second),
        "are_different_things": bool(
            first.own and second.own and are_different(first.own.identity, second.own.identity)
        ),
        "own_words_in_one": [
            sorted(set(words) - set(its), key=words.index),
            sorted(set(its) - set(words), key=its.index),
        ],
    }


def _own_similarity(a: Page, b: Page) -> float | None:
    """Return the similarity of two own parts; None if none is known, or both are the whole text."""
    minhashes = []
    for page in (a, b):
        if page.own is None or page.reading.fingerprint is None or page.own.kind in (UNKNOWN, DOUBTFUL):
            return None
        minhashes.append(page.own.minhash or page.reading.fingerprint.sketch)
    return round(similarity(*minhashes), 3)


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    known = "known" if facts["is_known"] else "not known yet"
    since = f" since {facts['since']}" if facts["since"] else ""
    pinned = ", pinned: crawls do not change it" if facts["is_pinned"] else ""
    yield f"{shown(facts['host'])}: {facts['pages']:,} pages{since}, {facts['subjects']} subjects, {known}{pinned}"
    yield f"pieces that are the site's text: {facts['pieces']:,}"
    counts = [piece["subjects"] for piece in facts["known_pieces"]]
    highest = 65
    for least in STEPS:
        if number := sum(least <= count < highest for count in counts):
            yield f"  on pages of {least} to {highest - 1} subjects: {number:,}"
        highest = least
    for page in facts.get("shown", ()):
        yield ""
        yield f"{shown(page['page'])}: {page['tokens']:,} tokens, {_own_tokens(page)}"
        for piece in page["pieces"]:
            mark = piece["subjects"] if piece["is_site"] else "?" if piece["may_be_site"] else ""
            yield f"{mark:>5}  {piece['text']}"
    for pair in facts.get("compared", ()):
        yield ""
        yield from _told(pair)


def _own_tokens(page: dict[str, Any]) -> str:
    return "no own part" if page["own_tokens"] is None else f"{page['own_tokens']:,} of its own"


def _told(pair: dict[str, Any]) -> Iterator[str]:
    near = "near-duplicates" if pair["is_near_duplicate"] else "not near-duplicates"
    first, second = map(shown, pair["pages"])
    yield f"{first} and {second} are {near}"
    if pair["distance"] is not None:
        yield f"  distance {pair['distance']}, similarity {pair['similarity']}"
    if pair["own_similarity"] is not None:
        yield f"  similarity of the own parts {pair['own_similarity']}"
    if pair["are_different_things"]:
        yield "  their structured data names different things"
    for name, words in zip((first, second), pair["own_words_in_one"], strict=True):
        if words:
            rest = f" and {len(words) - SHOWN_WORDS:,} more" if len(words) > SHOWN_WORDS else ""
            yield f"  only in {name}: {' '.join(words[:SHOWN_WORDS])}{rest}"
