"""Measure other libraries on the same pages in the same run: ``--text`` and ``--peers`` of ``quality``.

``--text``: the main text by trafilatura, by trafilatura with ``favor_precision``, by readability-lxml and by
resiliparse (all without comments), and by this package, compared with the text that people have marked.

``--peers``: the text by trafilatura (``extract(fast=True, include_comments=False)``), compared by:

* ``simhash`` of PyPI with its defaults (4-character grams), at 3 bits;
* ``Simhash`` of trafilatura, at 3 bits;
* ``MinHash`` of datasketch, 128 values over word 3-shingles, at an estimated Jaccard similarity of 0.8.

Precision and recall are computed as in ``quality``; near pairs with a page without any text are misses. All words are
those of this project's tokenizer; otherwise the other libraries would fail on Chinese. Extraction is timed in one
process, page by page, by trafilatura and this package in turn; the least time of the repeats counts.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from itertools import pairwise
from statistics import fmean, median
from typing import Any, NamedTuple

from benchmarks.lib.documents import FINGERPRINTER, overlap_with_gold
from benchmarks.lib.pack import Pack
from benchmarks.lib.processes import spread, timed
from benchmarks.lib.report import counted
from benchmarks.lib.sample import sample
from benchmarks.lib.scores import Overlap, compare, extraction_by, mean, score, scores_by
from scrapy_simhash import hamming_distance
from scrapy_simhash.page.language import normalize, tokenize
from scrapy_simhash.page.text import parse
from scrapy_simhash.page.text.extract import decode_html
from scrapy_simhash.page.text.outline import outline

#: Required distributions and their modules.
NEEDED = {"trafilatura": "trafilatura", "datasketch": "datasketch", "simhash": "simhash"}
NEEDED_FOR_TEXT = {
    "trafilatura": "trafilatura",
    "readability-lxml": "readability",
    "resiliparse": "resiliparse",
}
#: Number of pages whose extraction is timed, and of repeats.
TIMED = 200
REPEATS = 2
VALUES = 128
CHUNK = 8


class Peer(NamedTuple):
    """Results of other libraries for a page; None without a text or after an exception."""

    id: str
    simhash: int | None = None
    trafilatura: int | None = None
    minhash: tuple[int, ...] | None = None
    failure: str = ""
    """The exception of ``simhash`` of PyPI."""


def absent(needed: Mapping[str, str] = NEEDED) -> str:
    """Return a message about missing distributions; "" if none is missing."""
    missing = [name for name, module in needed.items() if find_spec(module) is None]
    if not missing:
        return ""
    return f"peers not measured: no {', '.join(missing)} here; pip install --group bench brings them"


def measure_peers(pack: Pack, jobs: int) -> dict[str, Any]:
    """Return the precision and recall of each peer library."""
    tasks = ((doc.id, html) for doc, html in pack.html())
    peers = list(counted(spread(peer, tasks, jobs, CHUNK), len(pack.docs), "pages by other libraries"))
    rules: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
        "simhash (PyPI), 3 bits": ("simhash", lambda a, b: hamming_distance(a, b) <= 3),
        "trafilatura.Simhash, 3 bits": ("trafilatura", lambda a, b: hamming_distance(a, b) <= 3),
        "datasketch MinHash, J >= .8": ("minhash", lambda a, b: _jaccard(a, b) >= 0.8),
    }
    return {
        "versions": {name: version(name) for name in NEEDED},
        "precision and recall": {
            name: _figures(pack, {peer.id: getattr(peer, field) for peer in peers}, judge)
            for name, (field, judge) in rules.items()
        },
        # With numpy 2, the simhash of PyPI raises an exception.
        "failures": sorted({peer.failure for peer in peers if peer.failure}),
        "milliseconds of an extraction": time_extraction([page.html for page in sample([pack], TIMED)]),
    }


def measure_texts(pack: Pack, jobs: int) -> dict[str, Any]:
    """Return precision, recall, F1 and *near* of the main text, by library (including this one) and group."""
    gold = pack.gold
    tasks = ((doc.id, html, gold[doc.id].text) for doc, html in pack.html() if doc.id in gold)
    found = list(counted(spread(texts_of, tasks, jobs, CHUNK), len(gold), "pages with a marked text"))
    by_way = {
        way: extraction_by(pack.gold_groups, ((id, overlaps[way]) for id, overlaps in found)) for way in TEXTS
    }
    figures: dict[str, Any] = {"versions": {name: version(name) for name in NEEDED_FOR_TEXT}}
    for measure in Overlap._fields:
        figures[measure] = {
            group: {"pages": one["pages"], **{way: by_way[way][group].get(measure) for way in TEXTS}}
            for group, one in by_way["scrapy-simhash"].items()
        }
    return figures


def texts_of(task: tuple[str, bytes, str]) -> tuple[str, dict[str, Overlap]]:
    """Return the overlap of the text by each library with the gold text."""
    id, html, gold = task
    texts = {way: text_by(html) for way, text_by in TEXTS.items()}
    prints = {way: FINGERPRINTER.from_text(text) for way, text in texts.items()}
    prints["scrapy-simhash"] = FINGERPRINTER.from_html(html)
    return id, {way: overlap_with_gold(text, prints[way], gold) for way, text in texts.items()}


def peer(task: tuple[str, bytes]) -> Peer:
    """Return the results of the other libraries for a page."""
    id, html = task
    text = _by_trafilatura(html)
    tokens = tokenize(normalize(text))
    if not tokens:
        return Peer(id)
    value, failure = None, ""
    try:
        value = int(_library("simhash").Simhash(text).value)
    except Exception as error:  # numpy 2 makes it raise OverflowError
        failure = f"{type(error).__name__}: {error}"
    theirs = int(_library("trafilatura.deduplication").Simhash(text).hash)
    minhash = _library("datasketch").MinHash(num_perm=VALUES)
    minhash.update_batch([shingle.encode("utf-8", "replace") for shingle in _shingles(tokens)])
    return Peer(id, value, theirs, tuple(map(int, minhash.hashvalues)), failure)


def time_extraction(pages: Sequence[bytes]) -> dict[str, dict[str, float]]:
    """Return the milliseconds per page of both extractions, including parsing."""
    ways: dict[str, Callable[[bytes], object]] = {
        "ours": FINGERPRINTER.extract,
        "trafilatura": _by_trafilatura,
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for html in pages:
        rounds = [{name: timed(partial(way, html))[1] for name, way in ways.items()} for _ in range(REPEATS)]
        for name, each in times.items():
            each.append(min(one[name] for one in rounds) / 1e6)
    return {name: {"mean": fmean(each), "median": median(each)} for name, each in times.items()}


def _figures(pack: Pack, pages: Mapping[str, Any], judge: Callable[[Any, Any], bool]) -> dict[str, Any]:
    hits = compare(pack.pairs, pages, judge)
    by_source = scores_by(lambda pair: pair.source, pack.pairs, hits)
    over_sources = {f"{name} over sources": value for name, value in mean(by_source.values()).items()}
    return {**score(pack.pairs, hits).as_dict(), **over_sources}


def _jaccard(a: Sequence[int], b: Sequence[int]) -> float:
    return sum(map(int.__eq__, a, b)) / VALUES


def _shingles(tokens: Sequence[str]) -> set[str]:
    """Return the word 3-shingles; for a shorter text, one shingle of all its words."""
    if len(tokens) < 3:
        return {" ".join(tokens)}
    return {f"{a} {b} {c}" for (a, b), (_, c) in pairwise(pairwise(tokens))}


def _by_trafilatura(html: bytes, **options: bool) -> str:
    options = options or {"fast": True}
    text: str | None = _library("trafilatura").extract(html, include_comments=False, **options)
    return text or ""


def _by_readability(html: bytes) -> str:
    try:
        summary: str = _library("readability").Document(decode_html(html)).summary()
    except Exception:  # not parseable, or a page without text
        return ""
    return "\n".join(block.text for block in outline(parse(summary)).blocks)


def _by_resiliparse(html: bytes) -> str:
    extract = _library("resiliparse.extract.html2text").extract_plain_text
    text: str = extract(decode_html(html), main_content=True, alt_texts=False, links=False)
    return text


#: Returns the main text of a page.
TEXTS: dict[str, Callable[[bytes], str]] = {
    "scrapy-simhash": lambda html: FINGERPRINTER.extract(html).text,
    "trafilatura": _by_trafilatura,
    "trafilatura, favor_precision": partial(_by_trafilatura, favor_precision=True),
    "readability-lxml": _by_readability,
    "resiliparse": _by_resiliparse,
}


@cache
def _library(name: str) -> Any:
    """Import a library that may be missing."""
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    return importlib.import_module(name)
