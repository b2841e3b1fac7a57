"""Measure how many pages per second a real crawl loses with the plugin on, by kernel.

    python benchmarks/crawl.py                   # the example magazine, 229 pages
    python benchmarks/crawl.py --pack-site       # the site of the evaluation pack, 1,221 pages (see ``pack``)

``scrapy crawl pages``, the spider of the example project, which reads a title and all links of every page, runs in
a process of its own against a server on the loopback interface, in another: with ``SIMHASH_ENABLED`` off, and on
with each kernel (``SCRAPY_SIMHASH_KERNEL``). That makes a round; there are ``--pairs`` of them, each beginning with
another one, after short crawls to warm up. Every crawl has a fresh server, so that all see the same bytes. Of each
crawl: pages per second from the spider's opening to its end (Scrapy's own stats), processor seconds and peak memory
of the process, start-up included (``wait4``). The ratios of the speeds and of the processor times, and the
difference of these, are taken within each round, so that a machine that slows down slows all; of each the median
and the two ends are given. On a busy machine the processor time is the steadier.

This is the worst case: the network costs nothing, and a page is all there is to do. With a core for the
server the crawl is bound by its one thread, so what is lost is processor time. Not measured: a store on disk, a
crawl long enough for its index to fill the memory, Windows.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from html import escape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from multiprocessing.connection import Connection
from pathlib import Path
from socketserver import StreamRequestHandler
from statistics import median
from typing import Any, BinaryIO, cast

# For a run as a file; and the example site is measured too.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "example_project"))

from magazine.server import SiteServer
from scrapy.statscollectors import StatsCollector

from benchmarks import ROOT
from benchmarks.pack import Pack, absence
from benchmarks.readers import NATIVE, PURE, readers
from benchmarks.report import environment, progress, table
from scrapy_simhash.kernel import VARIABLE

PROJECT = ROOT / "example_project"
#: Pages of the crawl that warms up: file cache, byte code.
WARM_UP = 10
#: Seconds after which a server that has not come up never will.
PATIENCE = 60
OFF = "off"
#: The share of the pages per second that is to be left.
WANTED = {NATIVE: 0.97, PURE: 0.80}


class FiledStats(StatsCollector):
    """Scrapy's stats, written to the file ``BENCHMARK_STATS`` when the spider closes."""

    # Which arguments come depends on the version of Scrapy: the stats are the first.
    def _persist_stats(self, stats: dict[str, Any], *_: Any) -> None:
        file: str = self._crawler.settings["BENCHMARK_STATS"]
        Path(file).write_text(json.dumps(stats, default=str), "utf-8")


def serve_magazine(ready: Connection) -> None:
    """Serve the example site until the process ends; send its URL to *ready*."""
    server = SiteServer()
    _answer_at_once(cast("type[StreamRequestHandler]", server.RequestHandlerClass))
    ready.send(f"{server.url}/")
    server.serve_forever()


def serve_folder(folder: Path, seeds: Sequence[str], ready: Connection) -> None:
    """Serve the files in *folder* until the process ends, with a first page that links to *seeds*."""
    links = "".join(f'<p><a href="{escape(seed)}">{escape(seed)}</a>' for seed in seeds)
    first_page = f"<!doctype html><title>Start</title>{links}".encode()

    class Handler(SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def send_head(self) -> BytesIO | BinaryIO | None:
            if self.path != "/":
                return super().send_head()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(first_page)))
            self.end_headers()
            return BytesIO(first_page)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    _answer_at_once(Handler)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    ready.send(f"http://127.0.0.1:{server.server_address[1]}/")
    server.serve_forever()


def _answer_at_once(handler: type[StreamRequestHandler]) -> None:
    """Make *handler* send without delay.

    It writes the head and the body one by one, and on a connection that is kept the second waits 40 ms for the
    acknowledgement of the first: the crawl would wait for the network, and hide what the plugin costs.
    """
    handler.disable_nagle_algorithm = True


@contextmanager
def running(serve: Callable[[Connection], None]) -> Iterator[str]:
    """Run *serve* in a process of its own for as long as the ``with`` block lasts; yield the URL it sends."""
    spawn = multiprocessing.get_context("spawn")
    receiver, sender = spawn.Pipe(duplex=False)
    process = spawn.Process(target=serve, args=(sender,), daemon=True)
    process.start()
    sender.close()  # so that a server that dies ends the wait
    try:
        if not receiver.poll(PATIENCE):
            raise TimeoutError(f"the server did not come up within {PATIENCE} s")
        yield receiver.recv()
    finally:
        process.terminate()
        process.join()
        process.close()
        receiver.close()


def command(start: str, is_on: bool, pages: int | None) -> list[str]:
    """Return the command line of one crawl, without what only serves to measure it."""
    settings = [f"SIMHASH_ENABLED={is_on}", "LOG_LEVEL=INFO"]
    if pages is not None:
        settings.append(f"CLOSESPIDER_PAGECOUNT={pages}")
    arguments = ["-m", "scrapy", "crawl", "pages", "-a", f"start={start}"]
    return arguments + [part for setting in settings for part in ("-s", setting)]


def crawl(serve: Callable[[Connection], None], plugin: str, pages: int | None) -> dict[str, Any]:
    """Crawl what *serve* serves; return what it cost. *plugin* is ``OFF``, or the kernel with which it is on.

    Raises RuntimeError, with the end of the log, if the crawl fails or a page could not be judged.
    """
    with running(serve) as start, tempfile.TemporaryDirectory() as folder:
        log, stats_file = Path(folder) / "log", Path(folder) / "stats"
        measuring = [
            f"LOG_FILE={log}",
            "STATS_CLASS=benchmarks.crawl.FiledStats",
            f"BENCHMARK_STATS={stats_file}",
        ]
        process = subprocess.Popen(
            [
                sys.executable,
                *command(start, plugin != OFF, pages),
                *(part for setting in measuring for part in ("-s", setting)),
            ],
            cwd=PROJECT,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
                VARIABLE: "auto" if plugin == OFF else plugin,
            },
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        stats = json.loads(stats_file.read_text("utf-8")) if stats_file.exists() else {}
        errors = stats.get("simhash/errors", 0) + stats.get("spider_exceptions/count", 0)
        if process.returncode or not stats or errors:
            tail = log.read_text("utf-8")[-2000:] if log.exists() else ""
            raise RuntimeError(f"the crawl ended with status {process.returncode}, {errors} errors:\n{tail}")
    unit = 1 if sys.platform == "darwin" else 1024
    seconds, responses = stats["elapsed_time_seconds"], stats["response_received_count"]
    return {
        "pages": responses,
        "seconds": seconds,
        "pages_per_second": responses / seconds,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss * unit / 1e6,
        "judged": stats.get("simhash/processed", 0),
        "near_duplicates": stats.get("simhash/near_duplicates", 0),
    }


def measure(
    serve: Callable[[Connection], None], kernels: Sequence[str], rounds: int, pages: int | None
) -> dict[str, Any]:
    """Return *rounds* crawls with the plugin off and on with each of *kernels*, and the ratios of their speeds."""
    progress("warming up ...")
    for kernel in kernels:
        crawl(serve, kernel, min(WARM_UP, pages or WARM_UP))
    ways = [OFF, *kernels]
    crawls: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
    for number in range(rounds):
        first = number % len(ways)
        for way in ways[first:] + ways[:first]:
            progress(f"round {number + 1} of {rounds}, plugin {way} ...")
            crawls[way].append(crawl(serve, way, pages))
    progress("")
    return {"crawls": crawls, "on": {kernel: _compared(crawls[OFF], crawls[kernel]) for kernel in kernels}}


def _compared(offs: Sequence[dict[str, Any]], ons: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return what *ons* lose against *offs*, round by round."""
    both = list(zip(offs, ons, strict=True))
    return {
        "ratio": _spread([on["pages_per_second"] / off["pages_per_second"] for off, on in both]),
        "cpu_ratio": _spread([off["cpu_seconds"] / on["cpu_seconds"] for off, on in both]),
        "cpu_ms_a_page": _spread(
            [(on["cpu_seconds"] - off["cpu_seconds"]) / on["pages"] * 1000 for off, on in both]
        ),
    }


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"median": median(values), "least": min(values), "greatest": max(values)}


def as_text(result: dict[str, Any]) -> str:
    """Return *result* as a person reads it."""
    columns = ("pages", "seconds", "pages_per_second", "cpu_seconds", "peak_mb", "judged", "near_duplicates")
    formats = ("{:,.0f}", "{:.2f}", "{:.1f}", "{:.2f}", "{:.1f}", "{:,.0f}", "{:,.0f}")
    rows = [
        [
            "plugin off" if way == OFF else f"plugin on, {way}",
            *(
                form.format(median(one[column] for one in crawls))
                for column, form in zip(columns, formats, strict=True)
            ),
        ]
        for way, crawls in result["crawls"].items()
    ]
    losses = [
        [
            kernel,
            f"{one['ratio']['median']:.3f}",
            _ends(one["ratio"], 3),
            f">= {WANTED[kernel]:.2f}",
            f"{one['cpu_ratio']['median']:.3f}",
            f"{one['cpu_ms_a_page']['median']:.2f}",
            _ends(one["cpu_ms_a_page"], 2),
        ]
        for kernel, one in result["on"].items()
    ]
    head = ["kernel", "pages/s, on / off", "range", "wanted", "processor, off / on", "ms a page", "range"]
    return "\n".join(
        [
            f"{result['versions']}\n{result['machine']}\n$ {result['command']}",
            f"{result['pairs']} rounds of crawls of {result['site']}; each: {result['crawl']}",
            "",
            table(["median of the crawls", *(column.replace("_", " ") for column in columns)], rows),
            "",
            table(head, losses),
            "",
            "ms a page: processor time on less that off, start-up included",
        ]
    )


def _ends(spread: dict[str, float], digits: int) -> str:
    return f"{spread['least']:.{digits}f} to {spread['greatest']:.{digits}f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, crawl, print a table or JSON; 0 also where there is no pack to crawl."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--pairs", type=int, default=5, help="rounds of crawls: off, and on with each kernel (default: 5)"
    )
    parser.add_argument("--pages", type=int, help="stop each crawl after so many (default: never)")
    parser.add_argument("--pack-site", action="store_true", help="crawl the site of the evaluation pack")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(given)
    pack = next((pack for pack in Pack.locate_all() if pack.has_site), None) if options.pack_site else None
    if options.pack_site and pack is None:
        skipped = f"{absence()}: nothing to crawl"
        print(json.dumps({"skipped": skipped}) if options.json else skipped)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        serve = serve_magazine if pack is None else partial(serve_folder, *pack.unpack_site(Path(folder)))
        result = {
            **environment(__file__, given),
            "site": "the example magazine" if pack is None else "the site of the evaluation pack",
            "crawl": " ".join(["python", *command("URL", True, options.pages)]),
            "pairs": options.pairs,
            **measure(serve, list(readers()), options.pairs, options.pages),
        }
    print(json.dumps(result, indent=2) if options.json else as_text(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
