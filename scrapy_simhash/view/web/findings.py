"""Findings: what a reader should look at first, in sentences that a few simple rules make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scrapy_simhash.view.web.frame import shown
from scrapy_simhash.view.web.sections import counted

#: Pairs of URLs after which a parameter is worth a sentence.
_PAIRS = 5
#: Share of all repeating pages in one cluster that is worth one.
_LARGE = 0.2
#: Pages of a cluster that are worth one.
_MANY = 10
#: Sentences of each kind, at most.
_MOST = 3


def findings(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the list of findings, nothing if there are none."""
    found = [*_parameters(facts), *_floods(facts), *_cluster(facts), *_near_misses(facts)]
    if found:
        yield '<section id="findings"><h2>What stands out</h2>\n<ul>'
        yield from (f"<li>{sentence}</li>" for sentence in found)
        yield "</ul></section>"


def _parameters(facts: Mapping[str, Any]) -> Iterator[str]:
    idle = [row for row in facts["parameters"] if row["same"] >= _PAIRS and not row["different"]]
    for row in idle[:_MOST]:
        yield (
            f"<code>{shown(row['parameter'])}</code> on <bdi>{shown(row['host'])}</bdi> changes nothing:"
            f" in {row['same']:,} of {row['same']:,} cases another value returned the same page."
            ' <a href="#parameters">Examples</a>'
        )


def _floods(facts: Mapping[str, Any]) -> Iterator[str]:
    for flood in facts["floods"][:_MOST]:
        yield (
            f"{flood['pages']:,} URLs on <bdi>{shown(flood['host'])}</bdi> returned the same page, most of them like"
            f" <code>{shown(flood['pattern'])}</code>. It may be a login page, an error page or a spider trap."
            ' <a href="#floods">Examples</a>'
        )


def _cluster(facts: Mapping[str, Any]) -> Iterator[str]:
    repeats = facts["savings"]["near_duplicates"]
    if not facts["largest_clusters"] or facts["floods"]:
        return
    largest = facts["largest_clusters"][0]
    if largest["pages"] >= _MANY and largest["pages"] - 1 > _LARGE * repeats:
        yield (
            f"One cluster has {(largest['pages'] - 1) / repeats:.0%} of all near-duplicates: pages like"
            f' <bdi>{shown(largest["first"])}</bdi>. <a href="#clusters">Look at it</a>'
        )


def _near_misses(facts: Mapping[str, Any]) -> Iterator[str]:
    near = [one for one in facts["similarity"]["bins"] if one["near_misses"]]
    if not near:
        return
    most = near[-1]
    yield (
        f"{counted(most['near_misses'], 'new page')} would be near-duplicates with a"
        f" <code>SIMHASH_MIN_SIMILARITY</code> of {most['from']:.2f}."
        ' <a href="#similarity">Are they the same page?</a>'
    )
