"""Measure what each choice is worth: one change at a time, on labelled real pages and on the example site.

    python benchmarks/ablation.py [--only NAME ...] [--jobs N] [--json]

Each variant is the default with one rule taken out or one number changed, in processes of its own. For each:
precision and recall by 3 bits alone and by the default rule, over all labelled pairs and as the mean over sources;
and on the example site how many of the pairs whose text is at least 99 % equal are found, and how many pairs are
wrong. Needs an evaluation pack, see ``quality.py``. Not measured: changes together, and speed. A variant takes
a minute or two, since pages are read without the compiled kernel.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

# As a script in this folder, it finds its neighbours and the example only so.
_ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(_ROOT), str(_ROOT / "example_project")]

from magazine.site import build_site  # noqa: E402
from magazine.truth import Truth  # noqa: E402

from benchmarks.lib import documents  # noqa: E402
from benchmarks.lib.documents import SIMILARITY, Task, fingerprint, rules  # noqa: E402
from benchmarks.lib.pack import Pack, absence  # noqa: E402
from benchmarks.lib.report import environment, progress, share, table  # noqa: E402
from benchmarks.lib.scores import compare, mean, score, scores_by  # noqa: E402
from scrapy_simhash import Config, Fingerprint, PageFingerprinter  # noqa: E402
from scrapy_simhash.page.features import weight  # noqa: E402
from scrapy_simhash.page.fingerprint import NO_KEY  # noqa: E402


def _set(module: str, name: str, value: Any) -> None:
    setattr(importlib.import_module(f"scrapy_simhash.{module}"), name, value)


def _set_heading_weight(factor: float) -> None:
    importlib.import_module("scrapy_simhash.page.features.extract").ZONES["heading"] = factor


def _configure(**changes: Any) -> None:
    """Give the fingerprinter of all documents another configuration."""
    documents.FINGERPRINTER = PageFingerprinter(Config(**changes))


def _do_nothing(page: object) -> None:
    pass


#: What each variant changes, in the words of the report.
VARIANTS: dict[str, Callable[[], None]] = {
    "the default": lambda: None,
    "shingles of 3 tokens": partial(_configure, shingle_size=3),
    "no words beside shingles": partial(_set, "page.features.weights", "WORD", 0.0),
    "no stopword filter": partial(_set, "page.features.extract", "stopwords", lambda language: frozenset()),
    "headings weigh as the body": partial(_set_heading_weight, 1.0),
    "numbers masked": partial(_configure, mask_digits=True),
    "titles not compared": partial(_set, "rule", "compare_keys", lambda a, b: NO_KEY),
    "furniture of articles kept": partial(_set, "page.text.main_text", "_leave_out_furniture", _do_nothing),
    "navigation, footers and the like kept": partial(
        _set, "page.text.main_text", "_leave_out_chrome", _do_nothing
    ),
    "all visible text": partial(_set, "page.text.extract", "classify", _do_nothing),
}


def measure(pack: Pack, variant: str, jobs: int) -> dict[str, Any]:
    """Return the figures of *variant*, as plain values."""
    site = [
        Task(f"site {address.key}", page.body(number % 5), None, page.headers.get("Content-Type", ""))
        for number, (address, page) in enumerate(build_site().items())
        if page.status == 200 and page.is_html
    ]
    tasks = chain(site, (Task(doc.id, html) for doc, html in pack.html() if doc.kind == "page"))
    with multiprocessing.get_context("spawn").Pool(jobs, _change, [variant]) as pool:
        prints = {one.id: one.page for one in pool.imap_unordered(fingerprint, tasks, 16)}
    # The subject is compared here, when pairs are judged; all else happened in the processes.
    context = multiprocessing.get_context("spawn")
    with context.Pool(1, _change, [variant]) as judge:
        return judge.apply(_figures, (pack.folder, prints))


def _change(variant: str) -> None:
    VARIANTS[variant]()
    # The kernel has read the words, limits and weights before, and weights are remembered.
    weight.cache_clear()
    documents.FINGERPRINTER._compiled = None


def _figures(folder: Path, prints: Mapping[str, Fingerprint | None]) -> dict[str, Any]:
    pack, truth = Pack(folder), Truth.load()
    figures = {}
    for name, is_near in rules([3]).items():
        hits = compare(pack.pairs, prints, is_near)
        found = wrong = equal = 0
        for a, b, relation in truth.pairs():
            page_a, page_b = prints.get(f"site {a}"), prints.get(f"site {b}")
            hit = page_a is not None and page_b is not None and is_near(page_a, page_b)
            equal += relation.grade == ">=.99"
            found += hit and relation.grade == ">=.99"
            wrong += hit and relation.expected == "different"
        figures[name] = {
            "all": score(pack.pairs, hits).as_dict(),
            "mean": mean(scores_by(lambda pair: pair.source, pack.pairs, hits).values()),
            "site": {"equal": equal, "found": found, "wrong": wrong},
        }
    return figures


def as_text(result: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table for people: precision / recall."""
    head = ["", *(f"{rule}, {over}" for rule in ("3 bits", SIMILARITY) for over in ("all", "mean", "site"))]
    rows = []
    for variant, figures in result.items():
        cells = [variant]
        for name in ("3", SIMILARITY):
            one = figures[name]
            cells += [
                f"{share(one[over]['precision'])} / {share(one[over]['recall'])}" for over in ("all", "mean")
            ]
            cells.append(f"{one['site']['found']} of {one['site']['equal']}, {one['site']['wrong']} wrong")
        rows.append(cells)
    return table(head, rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; see the module docstring."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=VARIANTS, default=list(VARIANTS), metavar="NAME")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    pack = Pack.locate()
    if pack is None:
        print(json.dumps({"pack": None, "skipped": absence()}) if options.json else absence())
        return 0
    result = {}
    for variant in options.only:
        progress(f"{variant} ...")
        result[variant] = measure(pack, variant, options.jobs)
    progress("")
    if options.json:
        print(
            json.dumps(
                {"environment": environment("ablation.py", arguments or []), "variants": result}, indent=2
            )
        )
    else:
        print(as_text(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
