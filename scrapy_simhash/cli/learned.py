"""Show, pin or forget the learned data in a store: boilerplate models and URL rules of sites."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scrapy_simhash.cli.options import add_json
from scrapy_simhash.cli.postings import LEARNED, Site
from scrapy_simhash.cli.stores import Place, SyncStore, add_store, place_of, unknown_host
from scrapy_simhash.cli.streams import Refused, add_options, show
from scrapy_simhash.display import shown
from scrapy_simhash.exceptions import FileError
from scrapy_simhash.notes import RULES, SITE, Note
from scrapy_simhash.observers.url_rules.urls import Note as RuleNote
from scrapy_simhash.observers.url_rules.urls import site_of
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.times import written


def add_arguments(parser: ArgumentParser) -> None:
    """Add arguments for the store, the host, and the change."""
    add_store(parser)
    parser.add_argument("host", metavar="HOST", nargs="?", help="only the data about this host")
    doing = parser.add_mutually_exclusive_group()
    add_json(doing)
    add_options(
        doing,
        {
            "--pin": "pin the boilerplate model of this host: crawls use it and no longer change it",
            "--unpin": "unpin the boilerplate model of this host: crawls change it again",
            "--forget": "delete the learned data about this host: crawls learn it again",
        },
    )


def run(options: Namespace) -> int:
    """Show or change the learned data about sites, and return 0."""
    place = place_of(options.store, options)
    host = options.host and options.host.lower()
    is_change = options.pin or options.unpin or options.forget
    if is_change and host is None:
        raise Refused("--pin, --unpin and --forget need a HOST")
    with place.reading() as store:
        header = store.header
        found = list(_sites(store, place, host))
    if is_change:
        chosen = [site for site in found if options.forget or site.kind == SITE]
        if not chosen:
            raise unknown_host(place, host)
        with place.claiming(header, "learned") as store:
            for site in chosen:
                _change(store, site, options)
        with place.reading() as store:
            found = list(_sites(store, place, host))
    elif not found and host is not None:
        raise unknown_host(place, host)
    learned = [(site.host, site.learned) for site in found]
    facts = {
        "sites": [{"host": name, **_facts(one)} for name, one in learned if isinstance(one, SiteProfile)],
        "url_rules": [{"host": name, **one.to_dict()} for name, one in learned if isinstance(one, RuleNote)],
    }
    show(facts, _lines(facts, host), options.json)
    return 0


def load(store: SyncStore, host: str, place: Place) -> SiteProfile | None:
    """Return the boilerplate model of *host*; None without a model. Raises FileError if it is damaged."""
    found = [site.learned for site in _sites(store, place, host)]
    return next((learned for learned in found if isinstance(learned, SiteProfile)), None)


def _sites(store: SyncStore, place: Place, host: str | None) -> Iterator[Site]:
    """Yield the learned data about *host*, or all hosts. Raises FileError for damaged data."""
    for kind in LEARNED:
        if host is None:
            notes = store.notes(kind)
        else:
            name = site_of(f"http://{host}") if kind == RULES else host
            notes = [(name, store.note(kind, name)[1])]
        for name, data in notes:
            if data is None:
                continue
            try:
                learned = LEARNED[kind].from_bytes(data)
            except ValueError as error:
                raise FileError(
                    f"{place.shown}: the learned data about {shown(name)} is damaged: {error}"
                ) from error
            # After --forget, a host has an empty note.
            if learned != RuleNote() and (not isinstance(learned, SiteProfile) or learned.pages):
                yield Site(name, kind, data)


def _change(store: SyncStore, site: Site, options: Namespace) -> None:
    """Pin, unpin or forget learned data."""
    learned = site.learned
    if options.forget:
        learned = LEARNED[site.kind]()
    elif isinstance(learned, SiteProfile):
        learned.is_pinned = options.pin
    store.replace_notes(site.kind, [Note(site.host, None, learned.to_bytes())])


def _facts(profile: SiteProfile) -> dict[str, Any]:
    return {
        "pages": profile.pages,
        "since": written(profile.since) if profile.since else None,
        "title_keys": profile.title_keys,
        "is_known": profile.is_known,
        "is_pinned": profile.is_pinned,
        "text_blocks": len(profile.known()),
    }


def _lines(facts: Mapping[str, Sequence[Mapping[str, Any]]], host: str | None) -> Iterator[str]:
    if not any(facts.values()):
        yield (
            "nothing was learned about any site" if host is None else f"there is no data about {shown(host)}"
        )
    sites = [
        (
            *(f"{site[name]}" for name in ("host", "pages", "title_keys", "text_blocks")),
            "pinned" if site["is_pinned"] else "yes" if site["is_known"] else "no",
        )
        for site in facts["sites"]
    ]
    rules = [
        (one["host"], rule, state)
        for one in facts["url_rules"]
        for state in RuleNote._fields
        for rule in sorted(one[state])
    ]
    yield from _table(("host", "pages", "title keys", "text blocks", "known"), sites)
    if sites and rules:
        yield ""
    yield from _table(("host", "URL rule", "state"), rules)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield *rows* below their *heads*, or nothing if there are no rows."""
    if rows:
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        for row in (heads, *rows):
            yield shown(
                "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            )
