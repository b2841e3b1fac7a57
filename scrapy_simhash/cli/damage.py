"""Damaged records of a store: a command goes on without them, says so, and ends with status 1."""

from __future__ import annotations

import logging

from scrapy_simhash.cli.failures import FAILED
from scrapy_simhash.cli.places import Place
from scrapy_simhash.cli.progress import warn
from scrapy_simhash.store import Store, damage

# One warning, and not what a crawl writes into its log: a line for each.
logging.getLogger(damage.__name__).addHandler(logging.NullHandler())


def left_out(place: Place, store: Store) -> int:
    """Warn of damaged records of *store* that were left out, and return the exit status: FAILED if there are any."""
    found: damage.Damage | None = getattr(store, "damage", None)
    if not found:
        return 0
    warn(
        f"{place.shown}: damaged records were left out: {len(found):,} ({found.named[0]}"
        f"{', ...' if len(found) > 1 else ''}); scrapy-simhash info --check names them"
    )
    return FAILED
