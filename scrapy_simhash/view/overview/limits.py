"""Limits: how much an overview remembers."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """The most of each thing that is remembered; what was forgotten is told under ``cut``."""

    pages: int
    """Pages that are known again when they come a second time."""
    clusters: int
    """Clusters with members to show; beyond it the half with the fewest pages goes."""
    rows: int
    """Hosts, URL patterns and parameters, of each; beyond it the half with the fewest pages goes."""
    urls: int
    """URLs by which the parameters of later URLs are judged; the oldest goes."""


#: For a report or a store that is read once: some 300 MB at most.
FILE = Limits(pages=1_000_000, clusters=50_000, rows=20_000, urls=200_000)
#: For a crawl that runs: some 30 MB at most.
LIVE = Limits(pages=100_000, clusters=2_000, rows=2_000, urls=20_000)
