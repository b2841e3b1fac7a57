"""Generated sites whose pages share most of their text: adverts, notices, branches, with the truth about them.

Sixty entities a site. Each page has a title, a heading, one or two sentences of its own and some facts; everything
else is prose that all pages of the site share, and no class name says which is which. A third of the entities are
posted again: the same own text at another URL, with another date, other counters and other related links. All text is
written for this project; a seed always gives the same sites.

    sites      the sites themselves
    entities   what a page is about: names, own sentences, facts, structured data
    sentences  the prose that pages share, a text file for each kind of site or language; words.json has the rest
    templates  two ways to lay out a page
"""

from benchmarks.lib.shared_text.sites import PLANS, Page, Plan, Site, make_site, sites

__all__ = ["PLANS", "Page", "Plan", "Site", "make_site", "sites"]
