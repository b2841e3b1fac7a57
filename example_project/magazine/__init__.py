"""The example site: an invented harbour magazine that contains near-duplicate pages on purpose.

    content/ ──> stories, catalogue ──> edits ──> templates ──> site ──> server

    from magazine.server import serving     serves the site on a loopback port
    from magazine.truth import Truth        the expected result for any two URLs, from truth.json

No module imports Scrapy or scrapy_simhash.
"""
