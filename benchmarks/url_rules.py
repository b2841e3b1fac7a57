"""Measure how many new pages ``SIMHASH_URL_RULES = "skip"`` loses in traps: a table; ``--json`` for programs.

    python benchmarks/url_rules.py

In a simulated crawl, a pattern has a thousand URLs, of which a share leads to new pages, in random order. All URLs
are found at once. Skipped requests are checked at the end of the crawl, as by the listener. The figures are means of
200 crawls.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, cast

# So that this file can be run as a program.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.report import arguments_of, show
from scrapy_simhash.observers.url_rules.kept import KeptRequests, Reason
from scrapy_simhash.observers.url_rules.traps import Traps
from scrapy_simhash.observers.url_rules.urls import Rule

SHARES = (0.002, 0.005, 0.01, 0.02, 0.05)
PAGES, CRAWLS = 1_000, 200


def loss(share: float, crawls: int) -> dict[str, Any]:
    """Return the number of new pages that are lost, for a pattern with this *share* of new pages."""
    new = lost = 0
    for seed in range(crawls):
        random = Random(seed)
        is_new = [random.random() < share for _ in range(PAGES)]
        new += sum(is_new)
        lost += sum(is_new) - len(found_of(is_new))
    return {"new pages": round(new / crawls, 1), "lost": round(lost / crawls, 1)}


def found_of(is_new: Sequence[bool]) -> set[int]:
    """Return the new pages that a crawl fetches, before it stops the pattern or as a check at its end."""
    traps, kind, found, sent = Traps(), ("/list/{number}", "parse"), set[int](), 0
    queue, kept, now = list(reversed(range(len(is_new)))), KeptRequests(), 0.0
    reason = Reason("a.example", Rule("trap", kind[0]))
    while True:
        is_check = not queue
        requests: list[Any] | None = kept.check(reason, now, 1.0) if is_check else [queue.pop()]
        if requests is None:
            return found
        now += not requests
        for number in requests:
            if not is_check and traps.skips(kind, requests=sent):
                kept.add(reason, number, number)
                continue
            sent += 1
            if not is_new[number]:
                traps.add_known(kind, str(number), None)
                continue
            found.add(number)
            if traps.add_new(None, kind):
                queue += cast("list[Any]", kept.take(reason))


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, simulate, print a table or JSON."""
    parser = arguments_of(__doc__)
    parser.add_argument("--crawls", type=int, default=CRAWLS, help="simulated (default: %(default)s)")
    options = parser.parse_args(arguments)
    figures = {str(share): loss(share, options.crawls) for share in SHARES}
    return show(__file__, options, arguments, {"share of new pages": figures})


if __name__ == "__main__":
    sys.exit(main())
