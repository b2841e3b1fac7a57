"""Show the URL rules of a store, as a table, as JSON, as settings or for duplicate-url-discarder; or import them."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from scrapy_simhash.cli.places import Place, add_place, header_to_change, place_of
from scrapy_simhash.cli.profile import keeper
from scrapy_simhash.cli.progress import Progress, say
from scrapy_simhash.cli.stores import Waited
from scrapy_simhash.cli.streams import Failed, Refused, failing, open_input
from scrapy_simhash.notes import RULES
from scrapy_simhash.observers.url_rules.evidence import Evidence
from scrapy_simhash.observers.url_rules.host import HostRules
from scrapy_simhash.observers.url_rules.kept import KeptRules, joined, packed, parsed
from scrapy_simhash.observers.url_rules.novelty import Row, group_in, rule_of
from scrapy_simhash.observers.url_rules.rules import site_of
from scrapy_simhash.times import parsed as parsed_time
from scrapy_simhash.times import written
from scrapy_simhash.view.words import shown

KIND = "scrapy-simhash url rules"
VERSION = 1
MOST_BYTES = 10_000_000
#: Rules that never were in force and may lose more are not listed: after 14 pairs without any that differs, they are.
_MOST_LOSS = 0.2
_HEADS = ("host", "rule", "pairs", "different", "clusters", "loss at most", "saved", "since", "in force")


def add_rules(parser: ArgumentParser) -> None:
    """Add which store, which host, and in what form."""
    add_place(parser)
    parser.add_argument("host", metavar="HOST", nargs="?", help="only the rules of this host")
    parser.add_argument("--all", action="store_true", help="list rules that are far from proven too")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="write a JSON object, which --import takes")
    form.add_argument(
        "--settings", action="store_true", help="write the rules in force as SIMHASH_URL_RULES_PIN"
    )
    form.add_argument(
        "--discarder",
        action="store_true",
        help="write the parameters without effect as a rule file of duplicate-url-discarder",
    )
    form.add_argument(
        "--import", dest="import_", metavar="FILE", help="add exported rules (-: standard input)"
    )


def run_rules(options: Namespace) -> int:
    """Print the rules of a store, or import some, and return 0."""
    place = place_of(options.place, options)
    site = options.host and site_of(f"http://{options.host.lower()}")
    if options.import_ is not None:
        _import(place, site, options)
        return 0
    with Progress(sys.stderr) as progress, place.reading() as store:
        hosts: list[dict[str, Any]] = []
        tell = progress.counting("reading hosts")
        for host in rules_in(keeper(store, place), site, place):
            hosts.append(host)
            tell(len(hosts))
    if site is not None and not hosts:
        raise Failed(f"{place.shown} has no URL rules of {shown(site)}; without HOST, all hosts are listed")
    if options.json:
        text = json.dumps({"kind": KIND, "version": VERSION, "hosts": hosts}, indent=2)
    elif options.settings:
        pins = [
            f"{host['host']}: {rule['rule']}" for host in hosts for rule in host["rules"] if rule["in_force"]
        ]
        text = f"SIMHASH_URL_RULES_PIN = {json.dumps(pins, indent=4)}"
    elif options.discarder:
        text = json.dumps(list(_discarded(hosts)), indent=2)
    else:
        text = "\n".join(_table(hosts if options.all else nearly_proven(hosts)))
    say(text, sys.stdout)
    return 0


def rules_in(store: Waited, site: str | None, place: Place) -> Iterator[dict[str, Any]]:
    """Yield what is known of the rules of *site*, or of all sites, as JSON has it. Raises Failed if it is damaged."""
    kept = store.notes(RULES) if site is None else [(site, store.note(RULES, site)[1])]
    for name, found in kept:
        if found is not None:
            yield _facts(name, found, place)


def nearly_proven(hosts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the hosts of which rules are in force, were in force once, or are nearly proven, with these rules."""
    found = []
    for host in hosts:
        rules = [rule for rule in host["rules"] if rule["since"] or rule["loss"] <= _MOST_LOSS]
        if rules:
            found.append({**host, "rules": rules})
    return found


def _facts(site: str, data: bytes, place: Place) -> dict[str, Any]:
    """Return what is known of the rules of *site*; of rules without any equal pair nothing is told.

    Raises Failed if they are damaged.
    """
    kept = KeptRules(HostRules(), clock=lambda: 0)
    try:
        parsed(data)
        kept.take(data)
    except ValueError as error:
        raise Failed(f"{place.shown}: the URL rules of {shown(site)} are damaged: {error}") from error
    host = kept.host
    evidence = sorted(host.evidence.items(), key=lambda item: (-item[1].stage, -item[1].same, item[0]))
    return {
        "host": site,
        "rules": [
            {
                "rule": rule,
                "in_force": rule in host.in_force,
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
        + [
            {
                "rule": rule_of(group),
                # Each crawl finds it out by itself.
                "in_force": False,
                "stage": 0,
                "pairs": row.length,
                "different": row.undone,
                "clusters": 0,
                "loss": round(row.loss, 4),
                "saved": row.skipped,
                "since": written(row.since),
                "against": [],
            }
            for group, row in sorted(
                (group, Row.from_list(numbers)) for group, numbers in kept.groups.items()
            )
        ],
    }


def _table(hosts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    rows = [
        (
            shown(host["host"]),
            shown(rule["rule"]),
            f"{rule['pairs']:,}",
            f"{rule['different']:,}",
            f"{rule['clusters']}{'+' if rule['clusters'] == len(Evidence().clusters) else ''}",
            f"{100 * rule['loss']:.1f} %",
            f"{rule['saved']:,}",
            rule["since"] or "-",
            f"stage {rule['stage']}" if rule["in_force"] else "no",
        )
        for host in hosts
        for rule in host["rules"]
    ]
    widths = [max(map(len, column)) for column in zip(_HEADS, *rows, strict=True)]
    for row in (_HEADS, *rows):
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
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
            if rule["in_force"] and rule["rule"].startswith("parameter ")
            for name in rule["rule"].removeprefix("parameter ").split(",")
        ]
        if names:
            yield {
                "order": 100,
                "processor": "queryRemoval",
                "urlPattern": {"include": [host["host"]]},
                "args": sorted(set(names)),
            }


def _import(place: Place, site: str | None, options: Namespace) -> None:
    """Add the rules of a file to a store, in a run of its own."""
    with open_input(options.import_) as given, failing(f"read {given.source}"):
        found = dict(_read(given.stream.read(MOST_BYTES + 1), given.name, site))
    with place.claiming(header_to_change(place, options), "rules") as store:
        sites = keeper(store, place)
        for name, rules in found.items():
            sites.change(RULES, name, partial(joined, others=rules))


def _read(data: bytes, name: str, site: str | None) -> Iterator[tuple[str, bytes]]:
    """Yield the hosts of an export with their rules, as a store keeps them. Raises Refused for anything else."""
    try:
        facts = json.loads(data)
        if facts["kind"] != KIND or facts["version"] != VERSION:
            raise ValueError(f'it has no "kind": "{KIND}" with "version": {VERSION}')
        for each in facts["hosts"]:
            rules = {}
            for rule in each["rules"]:
                if group_in(rule["rule"]) is not None:
                    continue
                since = parsed_time(rule["since"]) if rule["since"] else 0
                rules[rule["rule"]] = [rule["pairs"], rule["different"], rule["clusters"], 0, since, 0]
            found = packed(rules, {}, {})
            parsed(found)
            if site in (None, each["host"]):
                yield each["host"], found
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Refused(f"{name} has no URL rules as rules --json writes them: {error}") from error
