"""The annex: a second part of the example site, for what is to be done about near-duplicates once they are found.

    content/annex/ ──> slip, stores, tales, ... ──> site ──> magazine.server    what a crawler sees
                           endless ──────────────────^└────> survey ──> truth.json ──> truth

It lies under one path, `/annex/`, and no page outside links to it, nor does it link to any. The magazine has
copies in it to be found; here it matters what a copy is good for: some of them hold the only link to another page,
some are walls that stand before many addresses, and two parts never end.

    from magazine.annex.truth import AnnexTruth    says what hangs on each page

Nothing here imports Scrapy or scrapy_simhash either.
"""

from magazine.annex.page import PREFIX, AnnexPage
from magazine.annex.site import build_annex, find

__all__ = ["PREFIX", "AnnexPage", "build_annex", "find"]
