"""One question a file; each runs from the root of the checkout, as ``python benchmarks/NAME.py`` or with ``-m``.

    index         what does find_or_add cost, and a posting weigh?
    hamming       is the Hamming index as fast, lean and exact as is wanted, up to a hundred million?
    methods       how long does a search take in the other ways that the source documents describe?
    pairs         how long do all pairs of a file of hashes take?
    page          where does the time of a page go?
    plugin        what does the whole plugin add to a crawl, and where?
    stores        what does a store on disk cost beside the one in memory?
    kills         is anything lost when a crawl is killed at random moments?
    chaos         do stores keep their promises while everything goes wrong?
    stores_redis  what does a claim cost in Redis, and a page weigh there?
    claimers      do processes that claim the same pages at once agree?
    crawlers      do crawlers that share a store agree, and what do they lose without it?
    quality       how well are near-duplicates told on labelled real pages?
    ladders       what do edits and templates do to them?
    clusters      which labelled pages end in one cluster, in random order?
    shared_text   do different pages stay apart where a site repeats itself, and are reposts found?

Some of them read labelled pages that are no part of the project: see ``lib.pack``.

What programs share is in ``lib``.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
