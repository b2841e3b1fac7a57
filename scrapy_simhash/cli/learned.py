"""Show or correct what a store has learned about sites: their text and URL rules."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from scrapy_simhash.cli.options import add_json
from scrapy_simhash.cli.stores import Place, Waited, add_store, place_of
from scrapy_simhash.cli.streams import Progress, Refused, show
from scrapy_simhash.exceptions import FileError
from scrapy_simhash.notes import RULES, SITE, Note
from scrapy_simhash.observers.url_rules.kept import Note as RuleNote
from scrapy_simhash.observers.url_rules.urls import Rule, parsed_rule, site_of
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.times import written
from scrapy_simhash.view.words import shown

EXAMPLE = """\
$ scrapy-simhash learned news.sqlite
host         pages  title keys  text blocks  known
example.com  3      1           0            no

host         URL rule                     state
example.com  parameter sid in /stories/*  active
"""
#: The changes that are possible for one URL rule.
CHANGES = {"pin": "always apply", "forbid": "never apply", "forget": "learn anew"}
_T = TypeVar("_T")


def add_arguments(parser: ArgumentParser) -> None:
    """Add arguments for the store, the host, and the change."""
    add_store(parser)
    parser.add_argument("host", metavar="HOST", nargs="?", help="only what was learned about this host")
    doing = parser.add_mutually_exclusive_group()
    add_json(doing)
    doing.add_argument("--settings", action="store_true", help="write the URL rules as SIMHASH_URL_RULES_PIN")
    doing.add_argument(
        "--pin",
        action="store_true",
        help="keep the text of this host's site as it is known: crawls use it, and learn nothing more about it",
    )
    doing.add_argument("--unpin", action="store_true", help="let crawls learn the text of this host again")
    for name, what in CHANGES.items():
        doing.add_argument(f"--{name}-rule", metavar="RULE", help=f"{what} a URL rule of this host")
    doing.add_argument(
        "--forget",
        action="store_true",
        help="forget all that was learned about this host: crawls learn it anew",
    )


def run(options: Namespace) -> int:
    """Show or change the learned data about sites, and return 0."""
    place = place_of(options.store, options)
    host = options.host and options.host.lower()
    changes = [name for name in CHANGES if getattr(options, f"{name}_rule")]
    if changes or options.pin or options.unpin or options.forget:
        if host is None:
            raise Refused("--pin, --unpin, --forget and their like for URL rules need a HOST")
        if changes:
            _change_rule(place, host, changes[0], getattr(options, f"{changes[0]}_rule"))
        else:
            _change(place, host, options)
    with Progress() as progress, place.reading() as store:
        keeper(store, place)
        facts = {
            "sites": list(_told(store, SITE, host, place, _site)),
            "url_rules": rules_in(store, place, host),
        }
        progress.wipe()
    if host is not None and not any(facts.values()) and not options.forget and not changes:
        raise FileError(
            f"{place.shown} has learned nothing about {shown(host)}; without HOST, all hosts are listed"
        )
    show(facts, _lines(facts, host, options), options.json)
    return 0


def _lines(facts: Mapping[str, Any], host: str | None, options: Namespace) -> Iterator[str]:
    rules = facts["url_rules"]
    if options.settings:
        pins = [
            f"{'-' * (rule['state'] == 'forbidden')}{one['host']}: {rule['rule']}"
            for one in rules
            for rule in one["rules"]
        ]
        yield f"SIMHASH_URL_RULES_PIN = {json.dumps(pins, indent=4)}"
    elif not any(facts.values()):
        yield (
            "nothing was learned about any site" if host is None else f"nothing is known about {shown(host)}"
        )
    else:
        parts = (
            _lines_of_sites(facts["sites"], host),
            _lines_of_rules(rules),
        )
        yield from "\n\n".join(filter(None, map("\n".join, parts))).split("\n")


def keeper(store: Waited, place: Place) -> Waited:
    """Return *store* if it keeps learned data about sites. Raises Refused otherwise."""
    if SITE not in store.note_kinds:
        raise Refused(f"{place.shown} keeps nothing about sites: stores in an SQLite file and in Redis do")
    return store


def _told(
    store: Waited, kind: str, host: str | None, place: Place, read: Callable[[str, bytes], _T | None]
) -> Iterator[_T]:
    """Yield the results of *read*, except None, for the notes of a *kind*; only for *host* if it is not None.

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
    """Return the boilerplate model of *host*, None if there is none. Raises FileError if it is damaged."""
    return next(
        _told(keeper(store, place), SITE, host, place, lambda _, data: SiteProfile.from_bytes(data)), None
    )


def load(store: Waited, host: str, place: Place) -> SiteProfile:
    """Return the boilerplate model of *host*. Raises FileError if it is missing or damaged."""
    profile = profile_of(store, host, place)
    if profile is not None:
        return profile
    raise FileError(f"{place.shown} has learned nothing about {shown(host)}; learned lists all hosts")


def _site(host: str, data: bytes) -> dict[str, Any] | None:
    profile = SiteProfile.from_bytes(data)
    if not profile.pages and not profile.pieces():
        return None  # The host was forgotten.
    return {
        "host": host,
        "pages": profile.pages,
        "since": written(profile.since) if profile.since else None,
        "title_keys": profile.subjects,
        "is_known": profile.is_known,
        "is_pinned": profile.is_pinned,
        "text_blocks": len(profile.known()),
    }


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
        if site["since"]:
            yield f"learned since {site['since']}"


# --- URL rules.


def rules_in(store: Waited, place: Place, host: str | None = None) -> list[dict[str, Any]]:
    """Return the rules of *host*, or of all hosts, for JSON. Raises FileError if a note is damaged."""
    return list(_told(store, RULES, host, place, _rules))


def _rules(site: str, data: bytes) -> dict[str, Any] | None:
    """Return the rules of *site*, None if there are none."""
    note = RuleNote.from_bytes(data)
    rules = [
        {"rule": text, "state": state} for state, texts in note.to_dict().items() for text in sorted(texts)
    ]
    return {"host": site, "rules": rules} if rules else None


def _lines_of_rules(hosts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from _table(
        ("host", "URL rule", "state"),
        [
            (shown(host["host"]), shown(rule["rule"]), rule["state"])
            for host in hosts
            for rule in host["rules"]
        ],
    )


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield *rows* below their *heads*; nothing without rows."""
    if rows:
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        for row in (heads, *rows):
            yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _change(place: Place, host: str, options: Namespace) -> None:
    """Pin, unpin or forget the learned data of *host*, in a run of the store."""
    # Before a run begins.
    with place.reading() as store:
        header = keeper(store, place).header
        if not options.forget:
            load(store, host, place)
    with place.claiming(header, "learned") as store:
        if options.forget:
            new = {SITE: SiteProfile().to_bytes(), RULES: RuleNote().to_bytes()}
            names = {kind: site_of(f"http://{host}") if kind == RULES else host for kind in new}
            for kind, data in new.items():
                if store.note(kind, names[kind])[1] is not None:
                    store.replace_notes(kind, [Note(names[kind], None, data)])
            return
        profile = load(store, host, place)
        profile.is_pinned = options.pin
        store.replace_notes(SITE, [Note(host, None, profile.to_bytes())])


def _change_rule(place: Place, host: str, change: str, text: str) -> None:
    """Pin, forbid or forget a rule of *host*, in a run of the store."""
    try:
        rule = parsed_rule(text)
    except ValueError as error:
        raise Refused(f"{error}, such as 'parameter sid' or 'trap /calendar/{{number}}'") from error
    site = site_of(f"http://{host}")
    with place.reading() as store:
        header = keeper(store, place).header
    with place.claiming(header, "learned") as store:
        note = RuleNote.from_bytes(store.note(RULES, site)[1])
        note = RuleNote(*(_without(rules, rule) for rules in note))
        if change == "pin":
            note = note._replace(pinned=(*note.pinned, rule))
        elif change == "forbid":
            note = note._replace(forbidden=(*note.forbidden, rule))
        store.replace_notes(RULES, [Note(site, None, note.to_bytes())])


def _without(rules: Sequence[Rule], unwanted: Rule) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules if rule != unwanted)
