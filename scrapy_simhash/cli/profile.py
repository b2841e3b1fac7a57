"""Show what was learned about the sites of a store, or export, import or pin the profile of a host."""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scrapy_simhash.cli.places import Place, add_place, header_to_change, place_of
from scrapy_simhash.cli.progress import Progress, show
from scrapy_simhash.cli.stores import Waited
from scrapy_simhash.cli.streams import Failed, Input, Refused, failing, open_input, open_output
from scrapy_simhash.notes import SITE, Note
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.page.site.profile import BUCKET, LEAST_SUBJECTS, MOST_BUCKETS
from scrapy_simhash.times import parsed, written
from scrapy_simhash.view.words import shown

#: By how many subjects the pieces of a site are counted: from each of these on.
STEPS = (48, 24, 12, LEAST_SUBJECTS)


def add_profile(parser: ArgumentParser) -> None:
    """Add which store, which host, and what is done with its profile."""
    add_place(parser)
    parser.add_argument("host", metavar="HOST", nargs="?", help="show this host instead of a list of all")
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


def run_profile(options: Namespace) -> int:
    """Print the profiles of a store, or one of them, or do with it what is asked for, and return 0."""
    place = place_of(options.place, options)
    host = options.host and options.host.lower()
    is_change = options.import_ is not None or options.pin or options.unpin
    if (is_change or options.export is not None) and host is None:
        raise Refused("--export, --import, --pin and --unpin need a HOST")
    if options.export is not None:
        with place.reading() as store:
            profile, scheme = load(keeper(store, place), host, place), store.header.scheme
        with open_output(options.export) as file:
            file.write(file_lines(host, profile, scheme))
        return 0
    if is_change:
        change_profile(place, host, options)
    with Progress(sys.stderr) as progress, place.reading() as store:
        sites = keeper(store, place)
        if host is None:
            hosts: list[dict[str, Any]] = []
            tell = progress.counting("reading hosts")
            for name, data in sites.notes(SITE):
                hosts.append(_host(name, profile_of(name, data, place)))
                tell(len(hosts))
            facts: dict[str, Any] = {"hosts": hosts}
            lines = _table(hosts)
        else:
            profile = load(sites, host, place)
            known = sorted(profile.known(), key=lambda piece: (-piece[1], piece[0]))
            pieces = [{"key": f"{key:016x}", "subjects": count} for key, count in known]
            facts = {**_host(host, profile), "known_pieces": pieces}
            lines = _lines(facts)
    show(facts, lines, options.json)
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


def keeper(store: Waited, place: Place) -> Waited:
    """Return *store* if it keeps what was learned about sites. Raises Refused if it does not."""
    if SITE not in store.note_kinds:
        raise Refused(f"{place.shown} keeps no site profiles: stores in an SQLite file and in Redis do")
    return store


def profile_of(host: str, data: bytes, place: Place) -> SiteProfile:
    """Return the profile of *host* that the store has as *data*. Raises Failed if it is damaged."""
    try:
        return SiteProfile.from_bytes(data)
    except ValueError as error:
        raise Failed(f"{place.shown}: the profile of {shown(host)} is damaged: {error}") from error


def load(store: Waited, host: str, place: Place) -> SiteProfile:
    """Return the profile of *host*. Raises Failed if there is none, or if it is damaged."""
    _, data = store.note(SITE, host)
    if data is None:
        raise Failed(f"{place.shown} has no profile of {shown(host)}; without HOST, profile lists all hosts")
    return profile_of(host, data, place)


def change_profile(place: Place, host: str, options: Namespace) -> None:
    """Import the profile of *host*, pin it or unpin it, in a run of the store, which a project may have to make."""
    header = header_to_change(place, options)
    profile = None
    if options.import_ is not None:
        with open_input(options.import_) as given:
            profile = read_profile(given, header.scheme)
    if profile is None or place.exists():
        # Before a run begins.
        with place.reading() as store:
            sites = keeper(store, place)
            if profile is None:
                load(sites, host, place)
    with place.claiming(header, "profile") as store:
        sites = keeper(store, place)
        profile = profile or load(sites, host, place)
        profile.is_pinned = options.pin
        sites.replace_notes(SITE, [Note(host, None, profile.to_bytes())])


PROFILE_KIND = "scrapy-simhash site profile"
PROFILE_VERSION = 1
#: A profile has no more pieces; a file of these has some 180 KB.
MOST_PIECES = BUCKET * MOST_BUCKETS
MOST_PROFILE_BYTES = 1_000_000
_HEX = re.compile("[0-9a-f]{16}")
_MOST = 2**32 - 1


def file_lines(host: str, profile: SiteProfile, scheme: str) -> Iterator[str]:
    """Yield the lines of the file. Whether the profile is pinned belongs to the store, and is not in there."""
    facts = {
        "kind": PROFILE_KIND,
        "version": PROFILE_VERSION,
        "scheme": scheme,
        "host": host,
        **values(profile),
    }
    yield json.dumps(facts, indent=1) + "\n"


def values(profile: SiteProfile) -> dict[str, Any]:
    """Return what was learned, as JSON has it."""
    return {
        "pages": profile.pages,
        "since": written(profile.since) if profile.since else None,
        "subjects": f"{profile.subject_bits:016x}",
        "pieces": {f"{key:016x}": f"{subjects:016x}" for key, subjects in profile.pieces()},
    }


def read_profile(given: Input, scheme: str) -> SiteProfile:
    """Return the profile in a file, for a store with fingerprints of *scheme*.

    Raises Refused for anything else than lines() has written, Failed if it cannot be read.
    """
    with failing(f"read {given.source}"):
        data = given.stream.read(MOST_PROFILE_BYTES + 1)
    if len(data) > MOST_PROFILE_BYTES:
        raise Refused(f"{given.name} is no profile: it has more than {MOST_PROFILE_BYTES:,} bytes")
    try:
        facts = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{given.name} is no profile: it is not JSON ({error})") from error
    if not isinstance(facts, dict) or facts.get("kind") != PROFILE_KIND:
        raise Refused(f'{given.name} is no profile: it has no "kind": "{PROFILE_KIND}"')
    if facts.get("version") != PROFILE_VERSION:
        raise Refused(
            f"{given.name} has version {facts.get('version')!r} of a profile; this program reads {PROFILE_VERSION}"
        )
    if facts.get("scheme") != scheme:
        raise Refused(
            f"{given.name} was made with the scheme {facts.get('scheme')!r}, and the store has {scheme!r}: crawl some"
            " pages of the host again with this version"
        )
    return profile_in(facts, given.name)


def profile_in(facts: Mapping[str, Any], name: str) -> SiteProfile:
    """Return the profile that values() gave. Raises Refused, which names *name*, for anything else."""

    def bits(key: str, value: object) -> int:
        if not isinstance(value, str) or not _HEX.fullmatch(value):
            raise Refused(f"{name}: {key} must be 16 hexadecimal digits, got {value!r}")
        return int(value, 16)

    subjects = bits('"subjects"', facts.get("subjects"))
    noted = facts.get("pieces")
    if not isinstance(noted, dict) or len(noted) > MOST_PIECES:
        raise Refused(f'{name}: "pieces" must be an object with at most {MOST_PIECES:,} keys')
    found = [(bits("a piece", key), bits(f"piece {key}", value)) for key, value in noted.items()]
    for key, of_piece in found:
        if not of_piece or of_piece & ~subjects:
            raise Refused(f'{name}: piece {key:016x} must have one of the "subjects" or more, and no others')
    profile = SiteProfile.of_pieces(subjects, found)
    pages, since = facts.get("pages"), facts.get("since")
    if type(pages) is not int or not 0 <= pages <= _MOST:
        raise Refused(f'{name}: "pages" must be a whole number from 0 to {_MOST}, got {pages!r}')
    try:
        profile.since = 0 if since is None else parsed(since)
    except ValueError as error:
        raise Refused(f'{name}: "since" {error}, got {since!r}') from error
    profile.pages = pages
    return profile
