"""A sample of pages from the evaluation packs or, without packs, from the example site."""

from __future__ import annotations

import random
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks import ROOT
from benchmarks.lib.pack import Pack, absence
from benchmarks.lib.report import progress

# The example project is not installed as a package.
sys.path.insert(0, str(ROOT / "example_project"))

from magazine.site import build_site

SEED = 64


class Page(NamedTuple):
    """A page to measure."""

    url: str
    html: bytes


def add_sample(parser: ArgumentParser, pages: int) -> None:
    """Add the options for the sample, which packs_of() reads; *pages* is the default size."""
    parser.add_argument("--pages", type=int, default=pages, help=f"size of the sample (default: {pages})")
    parser.add_argument("--example", action="store_true", help="measure the example site's pages")


def packs_of(options: Namespace) -> list[Pack]:
    """Return the packs to sample; none for the example site. Print a message if packs are missing."""
    packs = [] if options.example else Pack.locate_all()
    if not packs and not options.example:
        progress(f"{absence()}: the example site is measured\n")
    return packs


def sample(packs: Sequence[Pack], size: int) -> list[Page]:
    """Return *size* pages of *packs*, or of the example site: a seeded sample, or all pages if there are fewer."""
    if not packs:
        pages = [
            Page(f"http://{address.host}{address.target}", page.body())
            for address, page in sorted(build_site().items())
            if page.is_html and page.main_text
        ]
        return random.Random(SEED).sample(pages, min(size, len(pages)))
    ids = sorted((pack.name, doc.id) for pack in packs for doc in pack.docs.values() if doc.kind == "page")
    chosen = set(random.Random(SEED).sample(ids, min(size, len(ids))))
    return [
        Page(doc.url, html) for pack in packs for doc, html in pack.html() if (pack.name, doc.id) in chosen
    ]


def origin(packs: Sequence[Pack]) -> str:
    """Return the origin of a sample of *packs*, in words."""
    return f"evaluation packs ({', '.join(pack.name for pack in packs)})" if packs else "the example site"
