"""Show what was learned about the sites of a store: which hosts, and how much of their pages is the site's text.

Or export the profile of a host, import it, pin it.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from scrapy_simhash.cli.explanation import shown
from scrapy_simhash.cli.failures import Refused
from scrapy_simhash.cli.places import add_place, place_of
from scrapy_simhash.cli.profile_change import change, export, keeper, load, profile_of, profiles_in
from scrapy_simhash.cli.progress import Progress, say
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.page.site.profile import LEAST_SUBJECTS
from scrapy_simhash.times import written

EXAMPLE = """\
$ scrapy-simhash profile news.sqlite
host           pages  subjects  pieces  known
example.com        3         1       0  no
"""

#: By how many subjects the pieces of a site are counted: from each of these on.
STEPS = (48, 24, 12, LEAST_SUBJECTS)


def add_arguments(parser: ArgumentParser) -> None:
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


def run(options: Namespace) -> int:
    """Print the profiles of a store, or one of them, or do with it what is asked for, and return 0."""
    place = place_of(options.place, options)
    host = options.host and options.host.lower()
    is_change = options.import_ is not None or options.pin or options.unpin
    if (is_change or options.export is not None) and host is None:
        raise Refused("--export, --import, --pin and --unpin need a HOST")
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
            for name, data in profiles_in(sites):
                hosts.append(_host(name, profile_of(name, data, place)))
                tell(len(hosts))
            facts: dict[str, Any] = {"hosts": hosts}
            lines = _table(hosts)
        else:
            facts = _one_host(host, load(sites, host, place))
            lines = _lines(facts)
    text = json.dumps(facts, indent=2) if options.json else "\n".join(lines)
    say(text, sys.stdout)
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


def _one_host(host: str, profile: SiteProfile) -> dict[str, Any]:
    facts = _host(host, profile)
    facts["known_pieces"] = [
        {"key": f"{key:016x}", "subjects": count} for key, count in sorted(profile.known(), key=_most_first)
    ]
    return facts


def _most_first(piece: tuple[int, int]) -> tuple[int, int]:
    key, subjects = piece
    return -subjects, key


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
