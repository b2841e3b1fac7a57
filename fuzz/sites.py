"""Crawl made-up sites over HTTP with settings drawn by chance; every article and every variant must reach the spider.

    python fuzz/sites.py --seconds 600      # as long as you like
    python fuzz/sites.py --seed 7           # one site once more

Exit status 1, and what is missing, for the first site of which something is lost. See tests/crawls/made_up_site.py.
"""

from __future__ import annotations

import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from random import SystemRandom
from time import monotonic

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "example_project"))

from tests.crawls.made_up_site import MOST_SECTIONS, MadeUpSite

#: Faults that are shown.
SHOWN = 20


def main() -> int:
    """Crawl until the time is up, or something is lost."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=30.0, help="for how long")
    parser.add_argument("--first", type=int, default=SystemRandom().randrange(10**6), help="the first seed")
    parser.add_argument("--seed", type=int, help="crawl this one only")
    parser.add_argument(
        "--most-sections", type=int, default=MOST_SECTIONS, help="parts of a site, %(default)s at most"
    )
    options = parser.parse_args()
    end, seed, crawled = monotonic() + options.seconds, options.first, 0
    while True:
        made_up = MadeUpSite(
            seed if options.seed is None else options.seed, most_sections=options.most_sections
        )
        with tempfile.TemporaryDirectory() as folder:
            faults = made_up.faults(Path(folder))
        crawled += 1
        if faults:
            print(f"{made_up}\n  python fuzz/sites.py {made_up.options}\n")
            print("\n".join(faults[:SHOWN]), f"{len(faults)} faults", sep="\n")
            return 1
        if options.seed is not None or monotonic() > end:
            print(f"{crawled} sites from seed {made_up.seed - crawled + 1} on: nothing is lost")
            return 0
        seed += 1


if __name__ == "__main__":
    sys.exit(main())
