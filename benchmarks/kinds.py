"""Crawl generated sites with thirty kinds of pages: measure which pages are kept and which copies are dropped.

    python benchmarks/kinds.py                              # all kinds in both templates; --json for programs
    python benchmarks/kinds.py --only 3 17 --template 2 --show 10 -s SIMHASH_PROTECT=
    python benchmarks/kinds.py --known                      # forty other pages of each site come first

``benchmarks.lib.kinds`` generates a site for each kind of pages, such as jobs or timetables, in each of two
templates. Its twenty pages share 90 to 240 words, and differ in what distinguishes pages of this kind: a word of the
title, a fact, a line, a table. Eight of them also have copies in five forms. Each site is crawled separately by
Scrapy from memory, with the action ``drop_items``: first the different pages in random order, then the copies. For
each site:

* kept: the share of different pages that are kept;
* dropped: the share of copies that are dropped, also by form;
* not found, protected: copies that are kept because they are not near-duplicates, or because they are protected;
* wrong original: copies that are dropped as near-duplicates of a different page.

The summary shows the mean of all sites and the worst site. Three groups have separate summaries: *inside*, where
pages differ only inside the main text; *one side*, where the distinguishing word is on only one of two pages; and
*short*, with articles of fewer than 80 words. Not measured: links, other actions, sites that share no text, cost.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

# So that this file can be run as a program.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.crawls import Crawled, crawl_each
from benchmarks.lib.kinds import FORMS, KINDS, TEMPLATES, Page, Site, other_pages, sites
from benchmarks.lib.processes import alone
from benchmarks.lib.report import arguments_of, show
from benchmarks.lib.settings import add_settings, settings_of

#: Min words of an article; the page is short if it has fewer.
SHORT = 80
HEADLINE, INSIDE, ONE_SIDE, SHORT_PAGES = GROUPS = ("headline", "inside", "one side", "short")


class Choice(NamedTuple):
    """The sites that are crawled."""

    seed: int
    kinds: Sequence[int]
    """Numbers of the kinds, from 1."""
    templates: Sequence[int]
    is_known: bool
    """Whether other pages of each site are crawled first."""

    def sites(self) -> Iterator[tuple[int, Site]]:
        """Yield each site with the number of its kind."""
        for site in sites(self.seed):
            number = KINDS.index(site.kind) + 1
            if number in self.kinds and site.template in self.templates:
                yield number, site

    def pages(self, site: Site) -> list[Page]:
        """Return the pages of *site* in the order of their requests."""
        random = Random(f"{site.seed} order")
        originals, copies = site.originals(), site.copies()
        known = other_pages(site) if self.is_known else []
        return [page for part in (known, originals, copies) for page in random.sample(part, len(part))]


def crawl(choice: Choice, settings: Mapping[str, Any]) -> list[list[Crawled]]:
    """Crawl one site after another, and return the pages of each crawl. Call it in a separate process."""
    sites = ([(page.url, page.html.encode()) for page in choice.pages(site)] for _, site in choice.sites())
    return crawl_each(map(dict, sites), settings)


def group_of(site: Site, pages: Sequence[Page]) -> str:
    """Return the group of a site in the summary."""
    if min(page.words for page in pages) < SHORT:
        return SHORT_PAGES
    return INSIDE if site.kind.is_inside else ONE_SIDE if site.kind.is_one_sided else HEADLINE


def figures_of(pages: Mapping[str, Page], crawled: Sequence[Crawled]) -> dict[str, Any]:
    """Return the shares of a site; *pages* are its pages of this kind, by URL."""
    known = [(pages[one.url], one) for one in crawled if one.url in pages]
    different = [one for page, one in known if not page.form]
    copies = [(page, one) for page, one in known if page.form]
    dropped = [(page, one) for page, one in copies if not one.is_kept]
    by_form, found = Counter(page.form for page, _ in copies), Counter(page.form for page, _ in dropped)
    originals = ((page, pages.get(one.original or "")) for page, one in dropped)
    return {
        "kept": fmean(one.is_kept for one in different),
        "dropped": len(dropped) / len(copies),
        **{form: found[form] / by_form[form] for form in FORMS},
        "not found": sum(one.is_kept and not one.is_near for _, one in copies),
        "protected": sum(one.is_kept and one.is_near for _, one in copies),
        "wrong original": sum(
            original is None or original.entry != page.entry for page, original in originals
        ),
    }


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the mean and the worst of the sites of each group."""
    found = {}
    for group in GROUPS:
        of_group = [row for row in rows if row["group"] == group]
        if of_group:
            found[group] = {
                "sites": len(of_group),
                **{f"{name} {how}": of([row[name] for row in of_group])
                   for name in ("kept", "dropped") for how, of in (("mean", fmean), ("worst", min))},
                **{form: fmean(row[form] for row in of_group) for form in FORMS},
            }  # fmt: skip
    return found


def measure(choice: Choice, settings: Mapping[str, Any], shown: int = 0) -> dict[str, Any]:
    """Return the results of all sites of *choice*, as plain values."""
    made = list(choice.sites())
    crawls = alone(crawl, choice, settings)
    rows: list[dict[str, Any]] = []
    wrong = []
    for (number, site), crawled in zip(made, crawls, strict=True):
        originals = site.originals()
        pages = {page.url: page for page in [*originals, *site.copies()]}
        name = {
            "kind": f"{number} {site.kind.name}",
            "template": site.template,
            "group": group_of(site, originals),
        }
        rows.append({**name, **figures_of(pages, crawled)})
        of_site = [one for one in crawled if one.url in pages and one.is_kept == bool(pages[one.url].form)]
        for page, one in ((pages[one.url], one) for one in of_site[:shown]):
            fate = "kept" if one.is_kept else "dropped"
            wrong.append(f"{fate} {page.form or 'page'} {one.url} {one.original or ''}".strip())
    named = {"wrong": wrong} if shown else {}
    return {"pages": sum(map(len, crawls)), "summary": summary(rows), "sites": rows, **named}


def choice_of(options: Namespace) -> Choice:
    """Return the sites that the *options* select."""
    templates = TEMPLATES if options.template is None else (options.template,)
    kinds = options.only or range(1, len(KINDS) + 1)
    return Choice(options.seed, kinds, templates, options.known)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON."""
    parser = arguments_of(__doc__)
    numbers = range(1, len(KINDS) + 1)
    parser.add_argument(
        "--only", type=int, nargs="+", choices=numbers, metavar="KIND", help="kinds, by number"
    )
    parser.add_argument("--template", type=int, choices=TEMPLATES, help="one template only (default: both)")
    parser.add_argument("--known", action="store_true", help="crawl forty other pages of each site first")
    parser.add_argument("--seed", type=int, default=1, help="draws other sites and orders (default: 1)")
    parser.add_argument("--show", type=int, default=0, help="max wrong pages of each site to list")
    add_settings(parser)
    options = parser.parse_args(arguments)
    return show(
        __file__, options, arguments, measure(choice_of(options), settings_of(options.settings), options.show)
    )


if __name__ == "__main__":
    sys.exit(main())
