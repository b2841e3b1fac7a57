"""Count the requests that ``SIMHASH_URL_RULES = "skip"`` saves, and the pages that it loses.

    python benchmarks/url_rules.py           # tables; --json for programs
    python benchmarks/url_rules.py --only sites

``--only`` one of:

``traps``
    In a simulated crawl a pattern has a thousand URLs, of which a share leads to new pages, in random order. All are
    found at once. Skipped requests are checked at the end of the crawl, as the listener does it. Means of 200 crawls.
``sites``
    Crawls of made-up sites in memory, in five orders. A URL is superfluous if its page was fetched under another one.
    *saved*: the share of superfluous URLs that was not fetched, in folders with a thousand URLs or more. *lost*:
    pages of all crawls.
``awkward``
    The same for sites whose parameters have an effect on some pages only, or an unusual form; of all folders.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, cast

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.awkward_sites import KINDS, AwkwardSite
from benchmarks.lib.made_crawls import Crawl
from benchmarks.lib.made_sites import Description
from benchmarks.lib.report import arguments_of, progress, show
from scrapy_simhash.observers.url_rules.kept import KeptRequests, Reason
from scrapy_simhash.observers.url_rules.traps import Traps
from scrapy_simhash.observers.url_rules.urls import Rule

SHARES = (0.002, 0.005, 0.01, 0.02, 0.05)
PAGES, CRAWLS = 1_000, 200
PARTS = ("traps", "sites", "awkward")
SITES = (
    Description("shop, filters as values", 8, 25, ["ref"], "values"),
    Description("shop, filters with an index", 8, 25, facets="indexed"),
    Description("shop, filters in the path", 8, 25, facets="segments"),
    Description("shop, filters in the path, session", 4, 25, ["fresh session"], "segments"),
    Description("shop, print and sort", 30, 20, ["utm"], has_print=True, has_search=True),
    Description("forum", 20, 30, ["fresh session"], has_login=True),
    Description("jobs", 20, 30, ["utm", "ref"], has_print=True),
    Description("events", 10, 20, ["utm"], has_calendar=True),
    Description("docs", 20, 30, ["session and time"], has_print=True),
    Description("docs, twelve sessions", 20, 30, ["twelve sessions"]),
)
#: Min URLs of a folder that counts, and max pages of a crawl.
LEAST, MOST = 1_000, 20_000


def loss(share: float, crawls: int) -> dict[str, Any]:
    """Return how many new pages a pattern with a *share* of new pages loses."""
    new = lost = 0
    for seed in range(crawls):
        random = Random(seed)
        is_new = [random.random() < share for _ in range(PAGES)]
        new += sum(is_new)
        lost += sum(is_new) - len(found_of(is_new))
    return {"new pages": round(new / crawls, 1), "lost": round(lost / crawls, 1)}


def found_of(is_new: Sequence[bool]) -> set[int]:
    """Return which new pages a crawl fetches of a pattern that may be stopped, with the checks at its end."""
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
                traps.add_barren(kind, str(number), None)
                continue
            found.add(number)
            if traps.add_new(None, kind):
                queue += cast("list[Any]", kept.take(reason))


def saved(about: Description | str, crawls: int) -> dict[str, Any]:
    """Return what crawls of a made-up site fetch, save and lose."""
    pages = fetched = superfluous = skipped = lost = 0
    # Each stopped trap is a warning.
    logging.disable(logging.WARNING)
    for seed in range(crawls):
        progress(f"{about}, order {seed + 1} ...")
        crawl = Crawl(AwkwardSite(about) if isinstance(about, str) else about, seed, MOST).run()
        pages, fetched = pages + len(crawl.pages), fetched + sum(crawl.pages.values())
        counted = crawl.superfluous(1 if isinstance(about, str) else LEAST)
        superfluous, skipped = superfluous + counted[0], skipped + counted[1]
        lost += len(crawl.lost)
    logging.disable(logging.NOTSET)
    return {
        "pages": round(pages / crawls),
        "fetched": round(fetched / crawls),
        "superfluous": round(superfluous / crawls),
        "saved": round(skipped / superfluous, 3) if superfluous else None,
        "lost": lost,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, simulate, print a table or JSON."""
    parser = arguments_of(__doc__)
    parser.add_argument("--crawls", type=int, default=CRAWLS, help="simulated (default: %(default)s)")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="default: all")
    parser.add_argument("--orders", type=int, default=5, help="of crawling a site (default: %(default)s)")
    options = parser.parse_args(arguments)
    result = {}
    if "traps" in options.only:
        result["share of new pages"] = {str(share): loss(share, options.crawls) for share in SHARES}
    if "sites" in options.only:
        result["made-up sites"] = {about.name: saved(about, options.orders) for about in SITES}
    if "awkward" in options.only:
        result["awkward sites"] = {kind: saved(kind, options.orders) for kind in KINDS}
    return show(__file__, options, arguments, result)


if __name__ == "__main__":
    sys.exit(main())
