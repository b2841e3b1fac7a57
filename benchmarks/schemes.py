"""Compare the schemes: how well each tells near-duplicates on the same labelled real pages, and what it costs.

    python benchmarks/schemes.py                     # every named scheme, a table for each pack; --json for programs
    python benchmarks/schemes.py --only web moz --k 3 6 --jobs 2
    python benchmarks/schemes.py --only myproject.schemes.BOLD

Every page of each evaluation pack (see ``quality.py``) is made a fingerprint by each scheme. Then at each distance
``--k``, by bits alone: precision and recall over the labelled pairs as ``quality.py`` counts them, and the unlisted
pairs within the smallest distance, which nobody has labelled and which the packs call errors. ``web, similarity`` is
the default rule, with its second look.

Time is processor time of one page, from its bytes to the fingerprint, the mean over all pages. ``web`` is made by the
kernel, if there is one, from the tree to the bits. For the others the kernel makes a Document, which is what "for
reading" says, and the rest is done in Python. Bytes are those of a fingerprint, with its sketch if it has one.

Not measured: 32 and 128 bits, schemes with the learning of sites, memory.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from time import process_time
from typing import Any, NamedTuple

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.pack import Pack, absence
from benchmarks.lib.processes import spread
from benchmarks.lib.report import counted, environment, opening, share, table
from benchmarks.lib.scores import compare, score, unlisted, within
from scrapy_simhash import Fingerprint, PageFingerprinter, hamming_distance
from scrapy_simhash.config import SCHEMES

DISTANCES = (3, 6, 10)
#: The default scheme, and its name with the default rule.
WEB = SCHEMES[0]
SIMILARITY = f"{WEB}, similarity"


class Task(NamedTuple):
    """A page to be made fingerprints of."""

    id: str
    html: bytes


class Made(NamedTuple):
    """What one scheme has made of a page."""

    page: Fingerprint | None
    seconds: float


class Outcome(NamedTuple):
    """What the schemes have made of a page, in their order."""

    id: str
    reading: float
    """Seconds until there is a Document."""
    made: tuple[Made, ...]


class Maker:
    """Makes fingerprints by several schemes; it is pickled by their names."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._makers = [PageFingerprinter(scheme=name) for name in self.names]

    def __reduce__(self) -> tuple[type[Maker], tuple[tuple[str, ...]]]:
        return Maker, (self.names,)

    def __call__(self, task: Task) -> Outcome:
        """Return what the schemes make of a page."""
        start = process_time()
        self._makers[0].extract(task.html)
        reading = process_time() - start
        made = []
        for maker in self._makers:
            start = process_time()
            page = maker.from_html(task.html)
            made.append(Made(page, process_time() - start))
        return Outcome(task.id, reading, tuple(made))


def measure_pack(pack: Pack, names: Sequence[str], ks: Sequence[int], jobs: int) -> dict[str, Any]:
    """Return the figures of each scheme on *pack*, as plain values."""
    tasks = (Task(doc.id, html) for doc, html in pack.html() if doc.kind == "page")
    outcomes = list(counted(spread(Maker(names), tasks, jobs), len(pack.docs), "pages"))
    figures = {}
    for place, name in enumerate(names):
        pages = {outcome.id: outcome.made[place].page for outcome in outcomes}
        values = {id: page.value for id, page in pages.items() if page is not None}
        distances = compare(pack.pairs, pages, lambda a, b: hamming_distance(a.value, b.value))
        figures[name] = {
            "without": len(pages) - len(values),
            "ms": 1000 * fmean(outcome.made[place].seconds for outcome in outcomes),
            "bytes": max((len(page.to_bytes()) for page in pages.values() if page is not None), default=0),
            "within": {str(k): score(pack.pairs, within(distances, k)).as_dict() for k in ks},
            "unlisted": len(unlisted(values, pack.pairs, min(ks))),
        }
        if name == WEB:
            is_near = partial(PageFingerprinter.is_near_duplicate, PageFingerprinter())
            figures[SIMILARITY] = {
                **figures[name],
                "within": {"similarity": score(pack.pairs, compare(pack.pairs, pages, is_near)).as_dict()},
                "unlisted": None,
            }
    return {
        "name": pack.name,
        "digest": pack.digest,
        "pages": len(outcomes),
        "reading_ms": 1000 * fmean(outcome.reading for outcome in outcomes),
        "schemes": figures,
    }


def as_text(result: Mapping[str, Any]) -> str:
    """Return *result* as a person reads it."""
    parts = [opening(result)]
    if not result["packs"]:
        parts.append(result["skipped"])
    for pack in result["packs"]:
        parts += _pack_as_text(pack, result["ks"])
    return "\n\n".join(parts)


def _pack_as_text(pack: Mapping[str, Any], ks: Sequence[int]) -> Iterator[str]:
    yield f"PACK {pack['name']}: {pack['pages']:,} pages; {pack['reading_ms']:.2f} ms a page for reading"
    heads = ["precision / recall", *(f"{k} bits" for k in ks), f"unlisted, {min(ks)} bits"]
    rows = []
    for name, figures in pack["schemes"].items():
        both = [figures["within"].get(str(k)) for k in ks]
        if name == SIMILARITY:
            both[0] = figures["within"]["similarity"]
        cells = ["" if one is None else f"{share(one['precision'])} / {share(one['recall'])}" for one in both]
        found = "" if figures["unlisted"] is None else f"{figures['unlisted']:,}"
        rows.append(
            [name, *cells, found, f"{figures['without']:,}", f"{figures['ms']:.2f}", str(figures["bytes"])]
        )
    yield table([*heads, "too short", "ms", "bytes"], rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; see the module docstring."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--only", nargs="+", default=list(SCHEMES), metavar="NAME", help="schemes, by name or import path"
    )
    parser.add_argument("--k", nargs="+", type=int, default=list(DISTANCES), metavar="BITS", help="distances")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    ks = sorted(set(options.k))
    packs = Pack.locate_all()
    result: dict[str, Any] = {
        **environment("schemes.py", sys.argv[1:] if arguments is None else arguments),
        "ks": ks,
        "packs": [measure_pack(pack, options.only, ks, options.jobs) for pack in packs],
    }
    if not packs:
        result["skipped"] = absence()
    print(json.dumps(result, indent=2) if options.json else as_text(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
