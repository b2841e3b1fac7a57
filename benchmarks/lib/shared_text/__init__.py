"""Generated sites whose pages share most of their text: adverts, notices, branches, with the truth about them.

Sixty entities a site. Each page has a title, a heading, one or two sentences of its own and some facts; everything
else is prose that all pages of the site share, and no class name says which is which. A third of the entities are
posted again: the same own text at another URL, with another date, other counters and other related links. All text is
written for this project; a seed always gives the same sites.

    sites      the sites themselves
    entities   what a page is about: names, own sentences, facts, structured data
    sentences  the prose that pages share, a text file for each kind of site or language; words.json has the rest
    templates  two ways to lay out a page
    titles     sites with long titles that differ in a word or two
"""

from benchmarks.lib.shared_text.sites import MARKED, PLANS, SERIES, Page, Plan, Site, make_site, sites
from benchmarks.lib.shared_text.titles import TITLES, TitleSite, make_title_site, title_sites

__all__ = [
    "MARKED",
    "PLANS",
    "SERIES",
    "TITLES",
    "Page",
    "Plan",
    "Site",
    "TitleSite",
    "make_site",
    "make_title_site",
    "sites",
    "title_sites",
]
