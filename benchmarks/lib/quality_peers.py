"""Other libraries on the same pages in the same run: the part of ``quality`` behind ``--peers``.

Text by trafilatura (``extract(fast=True, include_comments=False)``), and on it:

* the ``simhash`` of PyPI as it comes (4-character grams), at 3 bits;
* trafilatura's own ``Simhash``, at 3 bits;
* datasketch ``MinHash``, 128 values over word 3-shingles, at an estimated Jaccard of 0.8 and 0.9.

Precision and recall as in ``quality``; pages without any text are misses. The words are those of this project's
tokenizer, which keeps the peers from losing on Chinese. Extraction is timed in one process, page by page, theirs
and ours in turn; the least of the repeats counts.
"""

from __future__ import annotations

import importlib
import logging
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from itertools import pairwise
from statistics import fmean, median
from time import perf_counter
from typing import Any, NamedTuple

from benchmarks.lib.pack import Pack
from benchmarks.lib.processes import spread
from benchmarks.lib.report import counted, share, table
from benchmarks.lib.scores import Overlap, compare, extraction_by_type, mean, overlap, score, scores_by
from scrapy_simhash import PageFingerprinter, hamming_distance
from scrapy_simhash.page.language import normalize, tokenize

#: The distributions that must be there.
NEEDED = ("trafilatura", "datasketch", "simhash")
#: Pages whose extraction is timed, and how often each.
TIMED = 200
REPEATS = 2
SEED = 2024
VALUES = 128
CHUNK = 8


class Peer(NamedTuple):
    """What other libraries make of a page; None where there is no text, or the library raised."""

    id: str
    extraction: Overlap | None
    simhash: int | None = None
    trafilatura: int | None = None
    minhash: tuple[int, ...] | None = None
    failure: str = ""
    """What the ``simhash`` of PyPI raised."""


def absent() -> str:
    """Return the sentence that says which distributions are missing, "" if none is."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if not missing:
        return ""
    return f"peers not measured: no {', '.join(missing)} here; pip install -e '.[bench]' brings them"


def measure_peers(pack: Pack, jobs: int, own: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures of each peer; *own* are ours by rule, put beside them."""
    gold = pack.gold
    tasks = ((doc.id, html, gold[doc.id].text if doc.id in gold else None) for doc, html in pack.html())
    peers = list(counted(spread(peer, tasks, jobs, CHUNK), len(pack.docs), "pages by other libraries"))
    failures = sorted({peer.failure for peer in peers if peer.failure})
    rows: dict[str, Any] = {
        f"scrapy-simhash, {name} bits" if name.isdecimal() else f"scrapy-simhash, {name}": {
            "all": one["all"],
            "mean_over_sources": one["mean_over_sources"],
        }
        for name, one in own.items()
    }
    if failures:
        rows["simhash (PyPI), 3 bits"] = None
    else:
        values = {peer.id: peer.simhash for peer in peers}
        rows["simhash (PyPI), 3 bits"] = _figures(pack, values, lambda a, b: hamming_distance(a, b) <= 3)
    own_hash = {peer.id: peer.trafilatura for peer in peers}
    rows["trafilatura.Simhash, 3 bits"] = _figures(pack, own_hash, lambda a, b: hamming_distance(a, b) <= 3)
    minhashes = {peer.id: peer.minhash for peer in peers}
    rows["datasketch MinHash, J >= .8"] = _figures(pack, minhashes, lambda a, b: _jaccard(a, b) >= 0.8)
    rows["datasketch MinHash, J >= .9"] = _figures(pack, minhashes, lambda a, b: _jaccard(a, b) >= 0.9)
    return {
        "versions": {name: version(name) for name in NEEDED},
        "rules": rows,
        "failures": failures,
        "extraction": extraction_by_type(((peer.id, peer.extraction) for peer in peers), gold),
        "time": time_extraction(sample(pack)),
    }


def peer(task: tuple[str, bytes, str | None]) -> Peer:
    """Return what the other libraries make of a page."""
    id, html, gold = task
    text = _their_text(html)
    tokens = tokenize(normalize(text))
    extraction = None if gold is None else overlap(tokens, tokenize(normalize(gold)))
    if not tokens:
        return Peer(id, extraction)
    value, failure = None, ""
    try:
        value = int(_library("simhash").Simhash(text).value)
    except Exception as error:  # numpy 2 makes it raise OverflowError
        failure = f"{type(error).__name__}: {error}"
    theirs = int(_library("trafilatura.deduplication").Simhash(text).hash)
    minhash = _library("datasketch").MinHash(num_perm=VALUES)
    minhash.update_batch([shingle.encode("utf-8", "replace") for shingle in _shingles(tokens)])
    return Peer(id, extraction, value, theirs, tuple(map(int, minhash.hashvalues)), failure)


def sample(pack: Pack) -> list[bytes]:
    """Return the pages whose extraction is timed, always the same of a pack."""
    ids = sorted(doc.id for doc in pack.docs.values() if doc.kind == "page")
    chosen = set(random.Random(SEED).sample(ids, min(TIMED, len(ids))))
    return [html for doc, html in pack.html() if doc.id in chosen]


def time_extraction(pages: Sequence[bytes]) -> dict[str, float]:
    """Return milliseconds a page of both extractions, and how many times as long theirs takes."""
    fingerprinter = PageFingerprinter()
    ours, theirs = [], []
    for html in pages:
        mine, other = [], []
        for _ in range(REPEATS):
            mine.append(_seconds(fingerprinter.extract, html))
            other.append(_seconds(_their_text, html))
        ours.append(min(mine))
        theirs.append(min(other))
    return {
        "pages": len(pages),
        "ours_mean_ms": 1000 * fmean(ours),
        "ours_median_ms": 1000 * median(ours),
        "theirs_mean_ms": 1000 * fmean(theirs),
        "theirs_median_ms": 1000 * median(theirs),
        "ratio_of_means": fmean(theirs) / fmean(ours),
        "median_ratio": median(their / own for own, their in zip(ours, theirs, strict=True)),
    }


def as_text(peers: Mapping[str, Any], own_extraction: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Yield the tables of *peers* beside our own extraction."""
    yield "OTHER LIBRARIES, on the text of trafilatura: " + ", ".join(
        f"{name} {number}" for name, number in peers["versions"].items()
    )
    rows = []
    for name, figures in peers["rules"].items():
        if figures is None:
            rows.append([name, "skipped", ""])
        else:
            rows.append([name, *(_both(figures[over]) for over in ("all", "mean_over_sources"))])
    yield table(["precision / recall", "all pairs", "mean over sources"], rows)
    if peers["failures"]:
        yield "the simhash of PyPI raises here (numpy 2?): " + "; ".join(peers["failures"][:3])
    rows = [
        [page_type, f"{theirs['pages']:,}", share(own_extraction[page_type]["f1"]), share(theirs["f1"])]
        for page_type, theirs in peers["extraction"].items()
    ]
    if rows:
        yield table(["extraction F1 by type of page", "pages", "ours", "trafilatura"], rows)
    time = peers["time"]
    rows = [
        [whose, f"{time[key + '_mean_ms']:.2f}", f"{time[key + '_median_ms']:.2f}"]
        for whose, key in (("ours: parse and extract", "ours"), ("trafilatura: extract", "theirs"))
    ]
    head = [f"extraction of {time['pages']} pages, ms a page", "mean", "median"]
    ratio = ["times as long", f"{time['ratio_of_means']:.1f}", f"{time['median_ratio']:.1f}"]
    yield table(head, [*rows, ratio])


def _figures(pack: Pack, pages: Mapping[str, Any], judge: Callable[[Any, Any], bool]) -> dict[str, Any]:
    hits = compare(pack.pairs, pages, judge)
    by_source = scores_by(lambda pair: pair.source, pack.pairs, hits)
    return {"all": score(pack.pairs, hits).as_dict(), "mean_over_sources": mean(by_source.values())}


def _jaccard(a: Sequence[int], b: Sequence[int]) -> float:
    return sum(map(int.__eq__, a, b)) / VALUES


def _shingles(tokens: Sequence[str]) -> set[str]:
    """Return the word 3-shingles; those of a text too short for one, its words together."""
    if len(tokens) < 3:
        return {" ".join(tokens)}
    return {f"{a} {b} {c}" for (a, b), (_, c) in pairwise(pairwise(tokens))}


def _their_text(html: bytes) -> str:
    text: str | None = _library("trafilatura").extract(html, fast=True, include_comments=False)
    return text or ""


@cache
def _library(name: str) -> Any:
    """Import a library that need not be installed."""
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    return importlib.import_module(name)


def _seconds(work: Callable[[bytes], object], html: bytes) -> float:
    start = perf_counter()
    work(html)
    return perf_counter() - start


def _both(one: Mapping[str, Any]) -> str:
    return f"{share(one['precision'])} / {share(one['recall'])}"
