"""Show or correct what a store has learned about sites: their text and URL rules."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from scrapy_simhash.cli.options import add_json
from scrapy_simhash.cli.stores import Place, Waited, add_store, place_of
from scrapy_simhash.cli.streams import Progress, Refused, show
from scrapy_simhash.exceptions import FileError
from scrapy_simhash.notes import RULES, SITE, Note
from scrapy_simhash.observers.url_rules.evidence import Evidence
from scrapy_simhash.observers.url_rules.host import HostRules
from scrapy_simhash.observers.url_rules.kept import KeptRules, packed, parsed
from scrapy_simhash.observers.url_rules.novelty import Row, rule_of
from scrapy_simhash.observers.url_rules.rules import site_of
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.page.site.profile import LEAST_SUBJECTS
from scrapy_simhash.times import written
from scrapy_simhash.view.words import shown

EXAMPLE = """\
$ scrapy-simhash learned news.sqlite
host         pages  title keys  text blocks  known
example.com  3      1           0            no

host         rule           pairs  different  clusters  loss at most  saved  ...
example.com  parameter sid  174    0          29        1.7 %         ...
"""
#: By how many title keys the text blocks of a site are counted: from each of these on.
STEPS = (48, 24, 12, LEAST_SUBJECTS)
#: Rules that never were active and may lose more are not listed: after 14 pairs without any that differs, they are.
_MOST_LOSS = 0.2
_T = TypeVar("_T")


def add_arguments(parser: ArgumentParser) -> None:
    """Add which store, which host, and what is done."""
    add_store(parser)
    parser.add_argument("host", metavar="HOST", nargs="?", help="only what was learned about this host")
    parser.add_argument("--all", action="store_true", help="list URL rules that are far from proven too")
    doing = parser.add_mutually_exclusive_group()
    add_json(doing)
    doing.add_argument(
        "--settings", action="store_true", help="write the active URL rules as SIMHASH_URL_RULES_PIN"
    )
    doing.add_argument(
        "--discarder",
        action="store_true",
        help="write the parameters without effect as a rule file of duplicate-url-discarder",
    )
    doing.add_argument(
        "--pin",
        action="store_true",
        help="keep the text of this host's site as it is known: crawls use it, and learn nothing more about it",
    )
    doing.add_argument("--unpin", action="store_true", help="let crawls learn the text of this host again")
    doing.add_argument(
        "--forget",
        action="store_true",
        help="forget all that was learned about this host: crawls learn it anew",
    )


def run(options: Namespace) -> int:
    """Print what was learned about sites, or change it, and return 0."""
    place = place_of(options.store, options)
    host = options.host and options.host.lower()
    if options.pin or options.unpin or options.forget:
        if host is None:
            raise Refused("--pin, --unpin and --forget need a HOST")
        _change(place, host, options)
    with Progress() as progress, place.reading() as store:
        keeper(store, place)
        facts = {
            "sites": list(_told(store, SITE, host, place, partial(_site, is_whole=host is not None))),
            "url_rules": rules_in(store, place, host),
        }
        progress.wipe()
    if host is not None and not any(facts.values()) and not options.forget:
        raise FileError(
            f"{place.shown} has learned nothing about {shown(host)}; without HOST, all hosts are listed"
        )
    show(facts, _lines(facts, host, options), options.json)
    return 0


def _lines(facts: Mapping[str, Any], host: str | None, options: Namespace) -> Iterator[str]:
    rules = facts["url_rules"]
    if options.settings:
        pins = [f"{one['host']}: {rule['rule']}" for one in rules for rule in one["rules"] if rule["active"]]
        yield f"SIMHASH_URL_RULES_PIN = {json.dumps(pins, indent=4)}"
    elif options.discarder:
        yield json.dumps(list(_discarded(rules)), indent=2)
    elif not any(facts.values()):
        yield (
            "nothing was learned about any site" if host is None else f"nothing is known about {shown(host)}"
        )
    else:
        listed = rules if options.all else nearly_proven(rules)
        parts = (
            _lines_of_sites(facts["sites"], host),
            _lines_of_rules(listed),
        )
        yield from "\n\n".join(filter(None, map("\n".join, parts))).split("\n")


def keeper(store: Waited, place: Place) -> Waited:
    """Return *store* if it keeps what was learned about sites. Raises Refused if it does not."""
    if SITE not in store.note_kinds:
        raise Refused(f"{place.shown} keeps nothing about sites: stores in an SQLite file and in Redis do")
    return store


def _told(
    store: Waited, kind: str, host: str | None, place: Place, read: Callable[[str, bytes], _T | None]
) -> Iterator[_T]:
    """Yield what *read* makes of the notes of a *kind*, of *host* only if it is not None; None is left out.

    Raises FileError for a damaged one.
    """
    name = host if kind != RULES or host is None else site_of(f"http://{host}")
    notes = store.notes(kind) if name is None else [(name, store.note(kind, name)[1])]
    for name, data in notes:
        if data is None:
            continue
        try:
            found = read(name, data)
        except ValueError as error:
            what = {SITE: "profile", RULES: "URL rules"}[kind]
            raise FileError(f"{place.shown}: the {what} of {shown(name)} is damaged: {error}") from error
        if found is not None:
            yield found


# --- The text of sites.


def profile_of(store: Waited, host: str, place: Place) -> SiteProfile | None:
    """Return the profile of *host*, None if there is none. Raises FileError if it is damaged."""
    return next(
        _told(keeper(store, place), SITE, host, place, lambda _, data: SiteProfile.from_bytes(data)), None
    )


def load(store: Waited, host: str, place: Place) -> SiteProfile:
    """Return the profile of *host*. Raises FileError if there is none, or if it is damaged."""
    profile = profile_of(store, host, place)
    if profile is not None:
        return profile
    raise FileError(f"{place.shown} has learned nothing about {shown(host)}; learned lists all hosts")


def _site(host: str, data: bytes, is_whole: bool) -> dict[str, Any] | None:
    profile = SiteProfile.from_bytes(data)
    if not profile.pages and not profile.pieces():
        return None  # It was forgotten.
    known = sorted(profile.known(), key=lambda piece: (-piece[1], piece[0]))
    facts = {
        "host": host,
        "pages": profile.pages,
        "since": written(profile.since) if profile.since else None,
        "title_keys": profile.subjects,
        "is_known": profile.is_known,
        "is_pinned": profile.is_pinned,
        "text_blocks": len(known),
    }
    blocks = [{"key": f"{key:016x}", "title_keys": count} for key, count in known]
    return {**facts, "known_blocks": blocks} if is_whole else facts


def _lines_of_sites(sites: Sequence[Mapping[str, Any]], host: str | None) -> Iterator[str]:
    yield from _table(
        ("host", "pages", "title keys", "text blocks", "known"),
        [
            (
                shown(site["host"]),
                f"{site['pages']:,}",
                str(site["title_keys"]),
                f"{site['text_blocks']:,}",
                "pinned" if site["is_pinned"] else "yes" if site["is_known"] else "no",
            )
            for site in sites
        ],
    )
    for site in sites if host is not None else ():
        highest = 65
        for least in STEPS:
            number = sum(least <= block["title_keys"] < highest for block in site["known_blocks"])
            if number:
                yield f"text blocks on pages with {least} to {highest - 1} title keys: {number:,}"
            highest = least
        if site["since"]:
            yield f"learned since {site['since']}"


# --- URL rules.


def rules_in(store: Waited, place: Place, host: str | None = None) -> list[dict[str, Any]]:
    """Return what is known of the rules of *host*, or of all, as JSON has it. Raises FileError if it is damaged."""
    return list(_told(store, RULES, host, place, _rules))


def nearly_proven(hosts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the hosts of which rules are active, were so once, or are nearly proven, with these rules."""
    found = []
    for host in hosts:
        rules = [rule for rule in host["rules"] if rule["since"] or rule["loss"] <= _MOST_LOSS]
        if rules:
            found.append({**host, "rules": rules})
    return found


def _rules(site: str, data: bytes) -> dict[str, Any] | None:
    """Return what is known of the rules of *site*; of rules without any equal pair nothing is told."""
    kept = KeptRules(HostRules(), clock=lambda: 0)
    parsed(data)
    kept.take(data)
    host = kept.host
    evidence = sorted(host.evidence.items(), key=lambda item: (-item[1].stage, -item[1].same, item[0]))
    rules = [
        {
            "rule": rule,
            "active": rule in host.in_force,
            "stage": found.stage,
            "pairs": found.same,
            "different": found.different,
            "clusters": found.counted_clusters,
            "loss": round(found.loss, 4),
            "saved": found.skipped,
            "since": written(found.since) if found.since else None,
            "against": [list(pair) for pair in host.against.get(rule, ())],
        }
        for rule, found in evidence
        if found.same
    ]
    groups = sorted((group, Row.from_list(numbers)) for group, numbers in kept.groups.items())
    rules += [
        {
            "rule": rule_of(group),
            # Each crawl finds it out by itself.
            "active": False,
            "stage": 0,
            "pairs": row.length,
            "different": row.undone,
            "clusters": 0,
            "loss": round(row.loss, 4),
            "saved": row.skipped,
            "since": written(row.since),
            "against": [],
        }
        for group, row in groups
    ]
    return {"host": site, "rules": rules} if rules else None


def _lines_of_rules(hosts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from _table(
        ("host", "rule", "pairs", "different", "clusters", "loss at most", "saved", "since", "active"),
        [
            (
                shown(host["host"]),
                shown(rule["rule"]),
                f"{rule['pairs']:,}",
                f"{rule['different']:,}",
                f"{rule['clusters']}{'+' if rule['clusters'] == len(Evidence().clusters) else ''}",
                f"{100 * rule['loss']:.1f} %",
                f"{rule['saved']:,}",
                rule["since"] or "-",
                f"stage {rule['stage']}" if rule["active"] else "no",
            )
            for host in hosts
            for rule in host["rules"]
        ],
    )
    for host in hosts:
        for rule in host["rules"]:
            for first, second in rule["against"]:
                yield f"differs, against {shown(rule['rule'])}: {shown(first)} {shown(second)}"


def _discarded(hosts: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the rules that duplicate-url-discarder can have: those that are about parameters."""
    for host in hosts:
        names = [
            name
            for rule in host["rules"]
            if rule["active"] and rule["rule"].startswith("parameter ")
            for name in rule["rule"].removeprefix("parameter ").split(",")
        ]
        if names:
            yield {
                "order": 100,
                "processor": "queryRemoval",
                "urlPattern": {"include": [host["host"]]},
                "args": sorted(set(names)),
            }


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield *rows* below their *heads*, nothing if there are none."""
    if rows:
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        for row in (heads, *rows):
            yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _change(place: Place, host: str, options: Namespace) -> None:
    """Pin, unpin or forget what is known of *host*, in a run of the store."""
    # Before a run begins.
    with place.reading() as store:
        header = keeper(store, place).header
        if not options.forget:
            load(store, host, place)
    with place.claiming(header, "learned") as store:
        if options.forget:
            new = {SITE: SiteProfile().to_bytes(), RULES: packed({}, {}, {})}
            names = {kind: site_of(f"http://{host}") if kind == RULES else host for kind in new}
            for kind, data in new.items():
                if store.note(kind, names[kind])[1] is not None:
                    store.replace_notes(kind, [Note(names[kind], None, data)])
            return
        profile = load(store, host, place)
        profile.is_pinned = options.pin
        store.replace_notes(SITE, [Note(host, None, profile.to_bytes())])
