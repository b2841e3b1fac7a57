"""The table of clusters: searched and sorted by a script, read without one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from scrapy_simhash.view.overview.difference import difference
from scrapy_simhash.view.web.frame import LONGEST_SHOWN, link, shown, visible
from scrapy_simhash.view.web.sections import NUMBER

_HEADS = ("pages", "identical", "least alike", "first page")


def clusters(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the section of clusters, the largest first, each with members to look at."""
    yield "<h2>Clusters</h2>"
    given = facts["largest_clusters"]
    if not given:
        yield '<p class="none">No page repeats another one.</p>'
        return
    less = f"The largest {len(given):,} of {facts['clusters']:,}. " if len(given) < facts["clusters"] else ""
    yield (
        f'<p class="lede">{less}Open one to see members, and which parts of their URLs differ from that of the first'
        " page.</p>"
    )
    yield (
        '<p class="search" hidden><label for="search">Search URLs</label> <input id="search" type="search"'
        ' autocomplete="off" spellcheck="false"> <output for="search" aria-live="polite"></output></p>'
    )
    heads = "".join(f'<th scope="col"{NUMBER if name != _HEADS[-1] else ""}>{name}</th>' for name in _HEADS)
    yield f'<div class="wide"><table id="clusters-table"><thead><tr>{heads}</tr></thead><tbody>'
    for number, cluster in enumerate(given):
        yield from _row(number, cluster, facts["source"])
    yield "</tbody></table></div>"


def _row(number: int, cluster: Mapping[str, Any], source: Mapping[str, str]) -> Iterator[str]:
    least = [member["threshold"] for member in cluster["members"] if member["threshold"] is not None]
    told = f"{min(least):.2f}" if least else ""
    yield (
        f'<tr id="c{number}"><td{NUMBER} data-head="pages">{cluster["pages"]:,}</td>'
        f'<td{NUMBER} data-head="identical">{cluster["identical"]:,}</td>'
        f'<td{NUMBER} data-head="{"least alike" if told else ""}">{told}</td>'
        f"<td><details><summary><bdi>{shown(cluster['first'])}</bdi></summary>"
    )
    yield f"<p>Seen first: {link(cluster['first'])}</p>"
    if cluster["preferred"] not in (None, cluster["first"]):
        yield f"<p>Preferred: {link(cluster['preferred'])}</p>"
    yield "<ul>"
    for member in cluster["members"]:
        yield f"<li>{_url(member['url'], cluster['first'])}{_likeness(member)}</li>"
    rest = cluster["pages"] - 1 - len(cluster["members"])
    if rest > 0:
        yield f"<li><small>{rest:,} more</small></li>"
    yield "</ul>"
    if cluster["members"]:
        member = min(cluster["members"], key=_by_likeness)
        if command := _command(cluster["first"], member["url"], source):
            yield f"<p><small>Which words differ:</small> <code>{command}</code></p>"
    yield "</details></td></tr>"


def _by_likeness(member: Mapping[str, Any]) -> float:
    return 1.0 if member["threshold"] is None else float(member["threshold"])


def _url(url: str, first: str) -> str:
    if len(url) > LONGEST_SHOWN or url == first:
        return link(url)
    return link(
        url,
        "".join(
            shown(piece) if is_common else f"<mark>{shown(piece)}</mark>"
            for piece, is_common in difference(url, first)
        ),
    )


def _likeness(member: Mapping[str, Any]) -> str:
    if member["exact"]:
        return " <small>identical text</small>"
    told = []
    if member["distance"] is not None:
        told.append(f"distance {member['distance']}")
    if member["similarity"] is not None:
        told.append(f"similarity {member['similarity']:.3g}")
    if member["threshold"] is not None:
        told.append(f"a near-duplicate up to SIMHASH_MIN_SIMILARITY = {member['threshold']:.3g}")
    return f" <small>{', '.join(told)}</small>" if told else ""


def _command(first: str, other: str, source: Mapping[str, str]) -> str | None:
    """Return what to type to see the words of two pages, None if that could not be typed safely."""
    words = ["scrapy-simhash", "compare", first, other]
    if source["kind"] == "store":
        words += ["--store", source["name"]]
    quoted = [shlex.quote(word) for word in words]
    is_plain = all(len(word) <= LONGEST_SHOWN and visible(word) == word for word in quoted)
    if not is_plain or not all(url.startswith(("http://", "https://")) for url in (first, other)):
        return None
    return " ".join(map(shown, quoted))
