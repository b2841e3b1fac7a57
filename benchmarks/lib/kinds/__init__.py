"""Generated sites with thirty kinds of pages in two templates: the content of the pages, and their markup."""

from benchmarks.lib.kinds.entries import KINDS, Kind, kind_named
from benchmarks.lib.kinds.pages import FORMS, TEMPLATES, Page, Site, make_site, other_pages, sites

__all__ = [
    "FORMS",
    "KINDS",
    "TEMPLATES",
    "Kind",
    "Page",
    "Site",
    "kind_named",
    "make_site",
    "other_pages",
    "sites",
]
