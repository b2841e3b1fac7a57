"""Measure what it takes to look at a crawl: the page of a report, of a store, and the live view.

    python benchmarks/overview.py                        # a million lines, a million pages, and a crawl
    python benchmarks/overview.py --lines 100000 --store-pages 100000 --json

* A report of made-up lines: a third repeats another page, half of these by a parameter or under another path.
* A store in SQLite of made-up pages, of which a third repeats one of twenty.

Of each, ``scrapy-simhash report ... --html`` in a process of its own: seconds, processor time, the largest memory,
the bytes of the page, and the milliseconds that a headless browser takes from the call to the first frame after it
has loaded (the median of five; none without Playwright and a browser).

* The live view: a crawl from memory as ``benchmarks/plugin.py`` has it, while another process asks for the page every
  five seconds as a browser does. Its share of the crawl is what counting and writing the page take of the processor
  time of that crawl, from timers in one run; a call of a timer takes about a microsecond of it.

Not measured: a store in Redis. The live view needs Scrapy 2.14 or later.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random
from statistics import median
from threading import Event, Thread
from time import perf_counter
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.processes import alone
from benchmarks.lib.report import counted, environment, opening, progress, table
from benchmarks.lib.sample import add_sample, packs_of, sample
from benchmarks.lib.store_weight import pages
from benchmarks.plugin import addressed, crawl
from scrapy_simhash.crawl.live_view import LiveView, _View
from scrapy_simhash.crawl.report import KEYS
from scrapy_simhash.store.sqlite import SqliteStore
from scrapy_simhash.view.overview_page import REFRESH

SEED = 7
#: Share of made-up pages that repeat another one.
COPIES = 0.35
#: Pages in a second of the made-up crawl.
RATE = 12
HOSTS = 40
#: Times that a page is opened.
OPENED = 5
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
NOTE, WRITE = "counting", "writing the page"


def lines(count: int) -> Iterator[dict[str, Any]]:
    """Yield *count* lines of a report."""
    draw = Random(SEED)
    begun = datetime(2026, 9, 21, 14, tzinfo=timezone.utc)
    first: list[str] = []
    for number in range(count):
        line: dict[str, Any] = dict.fromkeys(KEYS)
        moment = begun + timedelta(seconds=number // RATE)
        line.update(hints=[], time=moment.isoformat().replace("+00:00", "Z"), depth=2, http_status=200)
        kind = draw.random()
        if first and kind < COPIES:
            # Some pages are repeated far more often than others.
            original = draw.randrange(int(len(first) * draw.random() ** 2) + 1)
            line.update(_copy(first[original], original, number, draw))
        elif kind > 0.96:
            line.update(url=f"https://host0.example/{number}.pdf", status="skipped", reason="not_html")
        else:
            folder = draw.choice(("stories", "boats", "towns"))
            url = f"https://host{int(HOSTS * draw.random() ** 2)}.example/{folder}/{number}-the-last-ferry"
            line.update(url=url, status="new", cluster=len(first), rank=0)
            if first and draw.random() < 0.3:
                share = round(min(0.799, draw.random()), 3)
                near = {"url": first[-1], "distance": 9, "similarity": share, "threshold": share}
                line.update(near_miss=near)
            first.append(url)
        if first:
            line["referer"] = first[draw.randrange(max(0, len(first) - 40), len(first))]
        yield line


def _copy(original: str, cluster: int, number: int, draw: Random) -> dict[str, Any]:
    share = round(min(1.0, draw.uniform(0.8, 1.1)), 3)
    value = draw.choice(("sort=up", "sort=down", f"session={number}", f"from={number % 50}"))
    url = f"{original}?{value}" if draw.random() < 0.7 else original.replace("/stories/", "/print/") + "/"
    return {
        "url": url,
        "status": "near_duplicate",
        "duplicate_of": original,
        "distance": draw.randrange(9),
        "similarity": share,
        "threshold": share,
        "exact": share == 1,
        "cluster": cluster,
        "rank": 1,
        "preferred": original,
        "action": "mark",
    }


def write_report(path: Path, count: int) -> None:
    """Write a report of *count* lines to *path*."""
    with path.open("w", encoding="ascii") as file:
        for line in counted(lines(count), count, "lines written"):
            file.write(f"{json.dumps(line)}\n")


def fill_store(path: Path, count: int) -> None:
    """Make a store of *count* pages at *path*."""
    store = SqliteStore(path)
    for posting in counted(pages(count, COPIES), count, "pages stored"):
        store.claim(posting)
    store.close("finished")


def shown(source: Path, count: int, out: Path) -> dict[str, Any]:
    """Return what it takes to write the page of *source*, and to open it."""
    progress(f"{source.name}: reading ...")
    command = [sys.executable, "-m", "scrapy_simhash", "report", str(source), "--html", str(out)]
    start = perf_counter()
    child = subprocess.Popen(command)
    usage = _usage_of(child)
    result = {
        "source": source.name,
        "pages": count,
        "seconds": perf_counter() - start,
        "processor": usage and usage[0],
        "megabytes": usage and usage[1],
        "bytes": out.stat().st_size,
        "milliseconds": opens_in(out),
    }
    progress("")
    return result


def _usage_of(child: subprocess.Popen[bytes]) -> tuple[float, float] | None:
    """Wait for *child*; return its processor time and the most memory that it had, where the system tells."""
    if not hasattr(os, "wait4"):
        if child.wait():
            raise RuntimeError(f"{child.args!r} failed")
        return None
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{child.args!r} failed")
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit


def opens_in(path: Path) -> float | None:
    """Return the milliseconds until the page at *path* is on the screen, None without a browser."""
    from shutil import which

    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    program = next(filter(None, map(which, BROWSERS)), None)
    if program is None:
        return None
    times = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program)
        for _ in range(OPENED):
            page = browser.new_page()
            start = perf_counter()
            page.goto(path.as_uri(), wait_until="load")
            page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
            times.append((perf_counter() - start) * 1000)
            page.close()
        browser.close()
    return median(times)


def live_share(file: Path, count: int) -> dict[str, Any]:
    """Return what the live view takes of a crawl of the *count* pickled pages in *file*, while somebody looks."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    over, seen = Event(), [0]
    looking = Thread(target=_look, args=(f"http://127.0.0.1:{port}/", over, seen))
    looking.start()
    try:
        timed = ((NOTE, LiveView, "note"), (WRITE, _View, "_written"))
        done = alone(crawl, file, True, False, {"SIMHASH_LIVE": f"127.0.0.1:{port}"}, timed)
    finally:
        over.set()
        looking.join()
    return {
        "pages": count,
        "looked": seen[0],
        "seconds": done["crawl"] / 1e9,
        "microseconds": {name: time / count / 1e3 for name, time in done["stages"].items()},
        "share": sum(done["stages"].values()) / done["crawl"],
    }


def _look(url: str, over: Event, seen: list[int]) -> None:
    wait = 0.2  # until the crawl has begun
    while not over.wait(wait):
        try:
            with urlopen(url, timeout=5) as answer:
                answer.read()
            seen[0] += 1
            wait = REFRESH
        except (URLError, OSError):
            continue


def as_text(result: dict[str, Any]) -> str:
    """Return *result* as a person reads it."""
    rows = [
        [
            one["source"],
            f"{one['pages']:,}",
            f"{one['seconds']:.1f}",
            _figure(one["processor"], ".1f"),
            _figure(one["megabytes"], ".0f"),
            f"{one['bytes'] / 1e6:.2f}",
            _figure(one["milliseconds"], ".0f"),
        ]
        for one in result["written"]
    ]
    heads = ["", "pages", "s", "processor s", "MB of memory", "MB of HTML", "opens in ms"]
    live = result["live"]
    times = ", ".join(f"{name} {time:.1f}" for name, time in live["microseconds"].items())
    return "\n".join(
        [
            opening(result),
            "",
            table(heads, rows),
            "",
            f"live view: {live['share']:.2%} of a crawl of {live['pages']:,} pages in {live['seconds']:.1f} s of"
            f" processor time, looked at {live['looked']} times; microseconds a page: {times}",
        ]
    )


def _figure(value: float | None, form: str) -> str:
    return "-" if value is None else f"{value:{form}}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table or JSON, and return 0."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_sample(parser, 1000)
    parser.add_argument("--lines", type=int, default=1_000_000, help="lines of the report (default: 1000000)")
    parser.add_argument(
        "--store-pages", type=int, default=1_000_000, help="pages of the store (default: 1000000)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(given)
    start = perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report, store, out, file = (
            folder / path for path in ("report.jsonl", "store.sqlite", "out.html", "pages")
        )
        write_report(report, options.lines)
        written = [shown(report, options.lines, out)]
        fill_store(store, options.store_pages)
        written.append(shown(store, options.store_pages, out))
        chosen = addressed(sample(packs_of(options), options.pages))
        file.write_bytes(pickle.dumps(chosen))
        progress("live view ...")
        live = live_share(file, len(chosen))
        progress("")
    result: dict[str, Any] = {
        **environment(__file__, given),
        "written": written,
        "live": live,
        "seconds": perf_counter() - start,
    }
    print(json.dumps(result, indent=2) if options.json else as_text(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
