"""The example site: an invented harbour magazine, with near-duplicate pages planted in it on purpose.

    content/ ──> stories, catalogue ──> edits ──> templates ──> site ──> server    what a crawler sees
                                                                  └────> survey ──> truth.json ──> truth

    from magazine.server import serving     puts the site on a loopback port
    from magazine.truth import Truth        says, for any two URLs, what a detector ought to conclude

Nothing here imports Scrapy or scrapy_simhash. (The two names above are not imported here, because both modules
are also commands: `python -m magazine.server`, `python -m magazine.truth`.)
"""

from magazine.page import Address, Page
from magazine.site import build_site

__all__ = ["Address", "Page", "build_site"]
