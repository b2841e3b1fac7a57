"""An overview as one page of HTML: what stands out, how it went, and every cluster to look at."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from scrapy_simhash.view.web import cluster_table, sections
from scrapy_simhash.view.web.findings import findings
from scrapy_simhash.view.web.frame import asset, head, shown
from scrapy_simhash.view.web.url_rules import url_rules

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
        yield from _nav()
        yield from _tiles(facts)
        yield from findings(facts)
        for name, write in _SECTIONS.items():
            yield f'<section id="{name}">'
            yield from write(facts)
            yield "</section>"
    else:
        yield "<p>There is no page yet.</p>" if is_live else "<p>There are no pages in it.</p>"
    yield "</div>"
    yield f"<script>{asset('overview.js')}</script>"
    yield "</body>\n</html>"


_SECTIONS = {
    "time": sections.time,
    "hosts": sections.hosts,
    "patterns": sections.patterns,
    "parameters": sections.parameters,
    "similarity": sections.similarity,
    "floods": sections.floods,
    "rules": url_rules,
    "actions": sections.actions,
    "exemptions": sections.exemptions,
    "skipped": sections.skipped,
    # Last: it is as long as all others together.
    "clusters": cluster_table.clusters,
}
_NAMES = {
    "time": "Time",
    "hosts": "Hosts",
    "patterns": "URL patterns",
    "parameters": "Parameters",
    "similarity": "Similarity",
    "floods": "Floods",
    "rules": "URL rules",
    "actions": "Actions",
    "exemptions": "Exemptions",
    "skipped": "Not compared",
    "clusters": "Clusters",
}


def _opening(facts: Mapping[str, Any]) -> Iterator[str]:
    source, told = facts["source"], []
    bars = facts["timeline"]["bars"]
    if bars:
        end = bars[-1]["start"] + facts["timeline"]["seconds"]
        told.append(f"{sections.moment(bars[0]['start'])} to {sections.moment(end)} UTC")
    told.append(sections.counted(facts["hosts"]["count"], "host"))
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


def _nav() -> Iterator[str]:
    links = (f'<a href="#{name}">{told}</a>' for name, told in _NAMES.items())
    yield f'<nav aria-label="Sections">{"".join(links)}</nav>'


def _tiles(facts: Mapping[str, Any]) -> Iterator[str]:
    status, saved = facts["status"], facts["savings"]
    repeats, pages = saved["near_duplicates"], facts["pages"]
    tiles = [
        ("Pages", f"{pages:,}", "", "time"),
        ("New", f"{status.get('new', 0):,}", f"{status.get('new', 0) / pages:.0%}", "time"),
        ("Near-duplicates", f"{repeats:,}", f"{repeats / pages:.0%}", "clusters"),
    ]
    if saved["identical"]:
        tiles.append(
            ("Identical text", f"{saved['identical']:,}", f"{saved['identical'] / pages:.0%}", "similarity")
        )
    tiles.append(("Clusters", f"{facts['clusters']:,}", "", "clusters"))
    if facts["floods"]:
        tiles.append(("Floods", f"{len(facts['floods']):,}", "", "floods"))
    dropped = sum(count for action, count in facts["action"].items() if action != "mark")
    if facts["action"]:
        tiles.append(("Dropped, or in part", f"{dropped:,}", f"{dropped / pages:.0%}", "actions"))
    yield '<ul class="tiles">'
    for name, figure, share, target in tiles:
        more = f" <small>{share}</small>" if share else ""
        yield f'<li><a href="#{target}"><span>{name}</span><strong>{figure}{more}</strong></a></li>'
    yield "</ul>"
