"""Measure the kernel: how long pages and texts take to become fingerprints, compiled and in pure Python.

    python benchmarks/kernel.py                  # a table; --json for programs
    python benchmarks/kernel.py --pages 50 --repeats 3
    python benchmarks/kernel.py --peers          # and other libraries on the same texts (see ``kernel_peers``)

Both kernels run in this one process and in turn, so that a machine that slows down slows both: the ratios are
firm where single figures are not. Measured are:

* pages: a tree to its fingerprint, as a share of ``HtmlResponse(url, body=...).selector.root``, which Scrapy does
  anyway. Before each reading the page is parsed anew and the tree is read once, as in a crawl. Besides: the same
  without a sketch (``SIMHASH_RULE = "classic"``), the tree to a Document (``extract``), the main text to a
  fingerprint. In each round each of these has a pass over all pages; a page's times are the medians of its rounds.
  The share is given as a ratio of sums, and as a median of the pages' ratios;
* texts: ``PageFingerprinter.from_text``, the language told by the words, every text a new object. A text's time is
  the median of its rounds, the figure that of the median text;
* threads: large trees, and large texts, read in two threads over the same in one, by the clock. Only where the kernel
  lets go of the interpreter do two threads read faster, and it does not for little text, however large the markup;
* memory: by how much the process grows while pages are read, in a process of its own, where all pages have been
  parsed twice before; and what a page of ten megabytes leaves behind.

Times, but for the threads, are processor time, with one round before them to warm up and some tenths of a
microsecond for the clock itself. Pages are a seeded sample of the evaluation pack's (see ``lib``), or, where there
is none, of the example site's; the texts are their main texts (see ``lib``). The garbage collector runs as it does
in a crawl.

Not measured: Scrapy around it (``benchmarks/plugin.py``), the steps of the pure path (``benchmarks/page.py``), the
index (``benchmarks/index.py``), how well it tells (``benchmarks/quality.py``).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, cycle, islice
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import Any

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lxml import etree
from scrapy.http import HtmlResponse

from benchmarks.lib import kernel_peers, kernel_tables
from benchmarks.lib.clock import timed
from benchmarks.lib.kernel_tables import WAYS
from benchmarks.lib.memory import settled_bytes, tells_memory
from benchmarks.lib.pack import Pack
from benchmarks.lib.processes import alone
from benchmarks.lib.readers import readers
from benchmarks.lib.report import environment, progress
from benchmarks.lib.sample import Page, add_sample, origin, packs_of, sample
from benchmarks.lib.texts import CHARACTERS, TextSet, cut, text_sets
from scrapy_simhash import Config, PageFingerprinter

SEED = 66
#: Bytes of a page, or characters of a text, that is read in threads, and how many of them.
LARGE, LARGE_PAGES = 256_000, 24
#: Pages after which the memory is looked at, and bytes of the page that comes last.
REMEMBERED, HUGE = 1_000, 10_000_000


def root_of(page: Page) -> etree._Element:
    """Return the tree of *page* as Scrapy makes it."""
    root: etree._Element = HtmlResponse(page.url, body=page.html).selector.root
    return root


def measure_pages(pages: Sequence[Page], kernels: Sequence[str], repeats: int) -> dict[str, Any]:
    """Return by kernel and way the time of a page in milliseconds, and as a share of the time of its parse."""
    full, bare = readers(), readers(Config(rule="classic"))
    texts = [full[kernels[-1]].extract(root_of(page)).text for page in pages]
    parses: list[list[int]] = [[] for _ in pages]
    times: dict[str, dict[str, Any]] = {kernel: {} for kernel in kernels}
    passes: list[tuple[str, str, Callable[[etree._Element], object]]] = []
    for kernel in kernels:
        methods: list[Callable[[etree._Element], object]]
        methods = [full[kernel].read, bare[kernel].read, full[kernel].extract]
        passes += [(kernel, way, method) for way, method in zip(WAYS, methods, strict=False)]
    own: dict[tuple[str, str], list[list[tuple[int, int]]]] = {
        (kernel, way): [[] for _ in pages] for kernel in kernels for way in WAYS
    }
    for round_number in range(repeats + 1):
        for kernel, way, method in passes:
            progress(f"pages: round {round_number} of {repeats}, {kernel} {way} ...")
            for number, page in enumerate(pages):
                root, parse = timed(lambda: root_of(page))  # noqa: B023 - called at once
                _, reading = timed(lambda: method(root))  # noqa: B023
                if round_number:
                    parses[number].append(parse)
                    own[kernel, way][number].append((reading, parse))
        for kernel in kernels:
            for number, text in enumerate(texts):
                # A new object: a string remembers its own UTF-8.
                _, reading = timed(lambda: full[kernel].from_text((text + "x")[:-1]))  # noqa: B023
                if round_number:
                    own[kernel, WAYS[-1]][number].append((reading, 0))
    progress("")
    parse_of = [median(rounds) for rounds in parses]
    for (kernel, way), rounds in own.items():
        readings = [median(reading for reading, _ in one) for one in rounds]
        # The parse of the very same passes, but for texts, which have none.
        beside = parse_of if way == WAYS[-1] else [median(parse for _, parse in one) for one in rounds]
        times[kernel][way] = _as_share(readings, beside)
    return {
        "pages": len(pages),
        "bytes": {
            "median": median(len(page.html) for page in pages),
            "mean": fmean(len(page.html) for page in pages),
        },
        "parse": _as_share(parse_of, parse_of),
        **times,
    }


def _as_share(times: Sequence[float], parses: Sequence[float]) -> dict[str, float]:
    return {
        "median_ms": median(times) / 1e6,
        "mean_ms": fmean(times) / 1e6,
        "ratio_of_sums": sum(times) / sum(parses),
        "median_ratio": median(time / parse for time, parse in zip(times, parses, strict=True)),
    }


def measure_texts(
    sets: Iterable[TextSet], contestants: Mapping[str, Callable[[str], object]], repeats: int
) -> list[dict[str, Any]]:
    """Return for each set the microseconds that each contestant takes for the median text.

    None, with its reason under ``failed``, for one that raised.
    """
    results = []
    for one in sets:
        data = [text.encode() for text in one.texts]
        times: dict[str, list[list[int]]] = {name: [[] for _ in data] for name in contestants}
        failed: dict[str, str] = {}
        for round_number in range(repeats + 1):
            for name, contestant in contestants.items():
                progress(f"texts: {one.name}, round {round_number} of {repeats}, {name} ...")
                for number, encoded in enumerate(data if name not in failed else ()):
                    text = encoded.decode()  # a new object each time
                    try:
                        _, took = timed(lambda: contestant(text))  # noqa: B023 - called at once
                    except Exception as error:  # simhash of PyPI with numpy 2
                        failed[name] = f"{type(error).__name__}: {error}"
                        break
                    if round_number:
                        times[name][number].append(took)
        results.append(
            {
                "name": one.name,
                "short": one.short,
                "texts": len(data),
                "is_real": one.is_real,
                "characters": median(map(len, one.texts)),
                "bytes": median(map(len, data)),
                "microseconds": {
                    name: None if name in failed else median(median(rounds) for rounds in times[name]) / 1e3
                    for name in contestants
                },
                "failed": failed,
            }
        )
    progress("")
    return results


def measure_threads(
    pages: Sequence[Page], texts: Sequence[str], kernels: Sequence[str], repeats: int
) -> dict[str, Any]:
    """Return pages and texts per second in one thread and in two, and the ratio of the two within each round."""
    roots = [root_of(page) for page in pages]
    result: dict[str, Any] = {
        "pages": len(pages),
        "median_bytes": median(len(page.html) for page in pages),
        "texts": len(texts),
        "text_bytes": median(len(text.encode()) for text in texts),
        "cores": os.cpu_count(),
    }
    for kernel in kernels:
        reader = readers()[kernel]
        progress(f"threads: kernel {kernel} ...")
        result[kernel] = {
            "pages": _in_threads(reader.read, roots, repeats),
            "texts": _in_threads(reader.from_text, texts, repeats),
        }
    progress("")
    return result


def _in_threads(read: Callable[[Any], object], each: Sequence[Any], repeats: int) -> dict[str, Any]:
    """Return what one thread and two make of *each* in a second."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for round_number in range(repeats + 1):
        for threads in (1, 2) if round_number % 2 else (2, 1):
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(read, each[:threads]))  # the threads are up before the clock runs
                start = perf_counter()
                list(pool.map(read, each))
                elapsed = perf_counter() - start
            if round_number:
                seconds[threads].append(elapsed)
    ratios = [one / two for one, two in zip(seconds[1], seconds[2], strict=True)]
    return {
        "per_second": {str(threads): len(each) / median(taken) for threads, taken in seconds.items()},
        "speed_up": {"median": median(ratios), "least": min(ratios), "greatest": max(ratios)},
    }


def large_pages(packs: Sequence[Pack]) -> list[Page]:
    """Return pages of at least ``LARGE`` bytes; where there are none, small ones joined."""
    documents = chain.from_iterable(pack.html() for pack in packs)
    large = [Page(doc.url, html) for doc, html in documents if doc.kind == "page" and len(html) >= LARGE]
    if large:
        return random.Random(SEED).sample(large, min(LARGE_PAGES, len(large)))
    small = cycle(sample(packs, 1_000))
    for number in range(LARGE_PAGES):
        html = b""
        while len(html) < LARGE:
            html += next(small).html
        large.append(Page(f"http://example.com/{number}", html))
    return large


def measure_memory(pages: Sequence[Page], kernels: Sequence[str]) -> dict[str, Any] | None:
    """Return by kernel the bytes by which the process grows while *pages* are read, None where no system tells."""
    if not tells_memory():
        return None
    result: dict[str, Any] = {"pages": len(pages), "huge_bytes": HUGE}
    for kernel in kernels:
        progress(f"memory: kernel {kernel} ...")
        result[kernel] = alone(_growth, kernel, pages, HUGE)
    progress("")
    return result


def _growth(kernel: str, pages: Sequence[Page], huge_bytes: int) -> dict[str, int]:
    """Read *pages* and one of *huge_bytes*; return by how much this process has grown."""
    reader = readers()[kernel]
    for _ in range(2):
        for page in pages:
            root_of(page)
    sizes = [settled_bytes()]
    for _ in range(2):
        for page in pages:
            reader.read(root_of(page))
        sizes.append(settled_bytes())
    words = cycle(b" ".join(page.html for page in pages).split())
    huge: list[bytes] = []
    length = 0
    while length < huge_bytes:
        word = next(words)
        if word.isalnum():
            huge.append(word if len(huge) % 60 else b"<p>" + word)
            length += len(huge[-1]) + 1
    root = root_of(Page("http://example.com/huge", b" ".join(huge)))
    del huge, words
    before = settled_bytes()
    reader.read(root)
    return {
        "first_pages": sizes[1] - sizes[0],
        "same_again": sizes[2] - sizes[1],
        "huge_page": settled_bytes() - before,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print a table or JSON."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    add_sample(parser, 300)
    parser.add_argument("--repeats", type=int, default=5, help="rounds that count (default: 5)")
    parser.add_argument(
        "--peers",
        nargs="*",
        metavar="FOLDER",
        help="other libraries on the same texts; FOLDERs have more of those that share a module name",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(given)
    packs = packs_of(options)
    result = measure(packs, options.pages, options.repeats, options.peers)
    result = {**environment(__file__, given), **result}
    print(json.dumps(result, indent=2) if options.json else kernel_tables.as_text(result))
    return 0


def measure(packs: Sequence[Pack], size: int, repeats: int, peers: Sequence[str] | None) -> dict[str, Any]:
    """Return every figure; *peers* are the folders of other libraries, None to leave these out."""
    by_kernel = readers()
    kernels = list(by_kernel)
    pages = sample(packs, size)
    result: dict[str, Any] = {
        "from": origin(packs),
        "repeats": repeats,
        "kernels": kernels,
        "pages": measure_pages(pages, kernels, repeats),
    }
    contestants: dict[str, Callable[[str], object]] = {
        kernel: reader.from_text for kernel, reader in by_kernel.items()
    }
    if peers is not None:
        found, result["missing"] = kernel_peers.load(peers)
        contestants |= found
    reader: PageFingerprinter = by_kernel[kernels[0]]
    documents = [reader.extract(root_of(page)) for page in pages]
    sets = text_sets(documents)
    result["texts"] = measure_texts(sets, contestants, repeats)
    if peers is not None and "trafilatura" not in result["missing"]:
        progress("extraction ...")
        html = [page.html for page in pages[: kernel_peers.EXTRACTED]]
        result["extraction"] = kernel_peers.measure_extraction(html, by_kernel, min(repeats, 3))
        progress("")
    texts = list(islice(cut([document.text for document in documents], CHARACTERS, LARGE), LARGE_PAGES))
    result["threads"] = measure_threads(large_pages(packs), texts, kernels, repeats)
    remembered = pages if size < REMEMBERED / 10 else sample(packs, REMEMBERED)
    result["memory"] = measure_memory(remembered, kernels)
    return result


if __name__ == "__main__":
    sys.exit(main())
