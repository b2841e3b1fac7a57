"""The example site: an invented harbour magazine, with near-duplicate pages planted in it on purpose.

    content/ ──> stories, catalogue ──> edits ──> templates ──> site ──> server    what a crawler sees

    from magazine.server import serving     puts the site on a loopback port
    from magazine.truth import Truth        what a detector ought to conclude for any two URLs, from truth.json

Nothing here imports Scrapy or scrapy_simhash.
"""
