"""An overview as one page of HTML: what stands out, how it went, and every cluster to look at."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from scrapy_simhash.view import sections
from scrapy_simhash.view.frame import asset, counted, head, moment, shown

#: What a page of each kind is headed by.
_TITLES = {
    "report": "Crawl report",
    "store": "What the store knows",
    "crawl": "Crawl, live",
}
#: Seconds between two looks of a page at a crawl that runs.
REFRESH = 5


def policy(is_live: bool) -> str:
    """Return what the page may load and run: its own style and script; if it is live, itself once more."""
    digest = base64.b64encode(hashlib.sha256(asset("overview.js").encode()).digest()).decode()
    connects = "; connect-src 'self'" if is_live else ""
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'{connects}"


def overview_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the page of *facts*: what `Overview.as_dict` tells, and under ``source`` its ``kind`` and ``name``."""
    kind = facts["source"]["kind"]
    is_live = kind == "crawl"
    more = f'<noscript><meta http-equiv="refresh" content="{REFRESH}"></noscript>\n' if is_live else ""
    yield head(_TITLES[kind], asset("overview.css"), policy(is_live), more).removesuffix("\n")
    live = f' data-live="{REFRESH}"' if is_live else ""
    yield f'<div id="overview"{live}>'
    yield from _opening(facts)
    if facts["pages"]:
        links = (f'<a href="#{name}">{told}</a>' for name, (told, _, _) in _SECTIONS.items())
        yield f'<nav aria-label="Sections">{"".join(links)}</nav>'
        yield from _tiles(facts)
        yield from sections.findings(facts)
        for name, (_, heading, write) in _SECTIONS.items():
            yield f'<section id="{name}">'
            yield f"<h2>{heading}</h2>"
            yield from write(facts)
            yield "</section>"
    else:
        yield "<p>There is no page yet.</p>" if is_live else "<p>There are no pages in it.</p>"
    yield "</div>"
    yield f"<script>{asset('overview.js')}</script>"
    yield "</body>\n</html>"


#: By the name of a section: what it is called in the links at the top, its heading, and what writes it.
_SECTIONS = {
    "time": ("Time", "Pages over time", sections.time),
    "hosts": ("Hosts", "Hosts", sections.hosts),
    "patterns": ("URL patterns", "URL patterns", sections.patterns),
    "parameters": ("Parameters", "Query parameters", sections.parameters),
    "similarity": ("Similarity", "Similarity", sections.similarity),
    "rules": ("URL rules", "URL rules", sections.url_rules),
    "actions": ("Actions", "What was dropped, and what each action would drop", sections.actions),
    "protected": ("Protected", "Protected", sections.protected),
    "skipped": ("Not compared", "Not compared, and seen before", sections.skipped),
    # Last: it is as long as all others together.
    "clusters": ("Clusters", "Clusters", sections.clusters),
}


def _opening(facts: Mapping[str, Any]) -> Iterator[str]:
    source, told = facts["source"], []
    bars = facts["timeline"]["bars"]
    if bars:
        end = bars[-1]["start"] + facts["timeline"]["seconds"]
        told.append(f"{moment(bars[0]['start'])} to {moment(end)} UTC")
    told.append(counted(facts["hosts"]["count"], "host"))
    yield f'<p class="source"><bdi>{shown(source["name"])}</bdi> <small>{" · ".join(told)}</small></p>'
    if source["kind"] == "crawl":
        yield '<p class="state" role="status">The crawl is running.</p>'
    bad = facts.get("bad_lines", {}).get("count")
    if bad:
        first = facts["bad_lines"]["lines"][0]
        yield f'<p class="warning">Unreadable lines, which are left out: {bad:,}. The first is line {first:,}.</p>'
    if cut := [name.replace("_", " ") for name, count in facts["cut"].items() if count and name != "pages"]:
        yield (
            f'<p class="warning">There were too many to remember: of {", ".join(cut)} only the largest are shown,'
            " and their figures may be too small.</p>"
        )
    if facts["cut"]["pages"]:
        yield (
            '<p class="warning">There were too many pages to remember: one that came again may be counted again.</p>'
        )


def _tiles(facts: Mapping[str, Any]) -> Iterator[str]:
    saved, pages = facts["savings"], facts["pages"]
    new, repeats = facts["status"].get("new", 0), saved["near_duplicates"]
    dropped = sum(count for action, count in facts["action"].items() if action != "mark")
    # What it is, how many, whether as a share of all pages too, the section about it, and whether it is shown.
    tiles = [
        ("Pages", pages, False, "time", True),
        ("New", new, True, "time", True),
        ("Near-duplicates", repeats, True, "clusters", True),
        ("Identical text", saved["identical"], True, "similarity", saved["identical"]),
        ("Clusters", facts["clusters"], False, "clusters", True),
        ("Dropped, or in part", dropped, True, "actions", facts["action"]),
    ]
    yield '<ul class="tiles">'
    for name, count, has_share, target, is_there in tiles:
        if is_there:
            more = f" <small>{count / pages:.0%}</small>" if has_share else ""
            yield f'<li><a href="#{target}"><span>{name}</span><strong>{count:,}{more}</strong></a></li>'
    yield "</ul>"
