"""Tell whether a change is lost, or told twice, when crawls are killed (SIGKILL) at random moments, and resumed.

    python benchmarks/changes.py

A site changes by a script, generation after generation, and a spider follows its links with ``SIMHASH_CHANGES`` and
``JOBDIR``. In each generation the process is killed ten times at a random moment, from before its first request to
after its last one, and started again on the same folder; a last run comes to its end. Scrapy does not save its queue
when it is killed, so one more crawl follows, on a new folder, which may tell what the others never asked for.

What the feed has in the end is compared with the script, line by line. The program ends with status 1 if a change is
lost, told twice, or told of what did not happen.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from shutil import rmtree
from typing import Any
from urllib.parse import urlsplit

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response, TextResponse

from benchmarks.lib.changing_server import ChangingServer, serve_changing
from benchmarks.lib.changing_site import LISTS, ChangingSite, Told
from benchmarks.lib.faults import show
from benchmarks.lib.report import environment, progress

#: Kills in each generation.
KILLS = 10
#: Seconds after which a process that has not come to its end never will.
PATIENCE = 120


class Follower(scrapy.Spider):
    """Follows all links, and yields nothing."""

    name = "follower"
    url: str

    async def start(self) -> Any:
        """Ask for the start page."""
        yield scrapy.Request(self.url)

    def parse(self, response: Response) -> Iterator[Any]:
        """Follow the links."""
        if isinstance(response, TextResponse):
            yield from response.follow_all(css="a")


def crawl(url: str, folder: Path) -> None:
    """Crawl in this process; its JOBDIR is in *folder*, too."""
    process = CrawlerProcess(
        {
            "ADDONS": {"scrapy_simhash.Addon": 500},
            "SIMHASH_DIR": str(folder),
            "SIMHASH_CHANGES": str(folder / "changes.jsonl"),
            "JOBDIR": str(folder / "job"),
            "LOG_FILE": str(folder / "crawl.log"),
            "LOG_LEVEL": "INFO",
            "RETRY_ENABLED": False,
            "ROBOTSTXT_OBEY": True,
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    process.crawl(Follower, url=url)
    process.start()


def run(server: ChangingServer, folder: Path, requests: int | None, delay: float) -> None:
    """Crawl in another process, which is killed *delay* seconds after so many *requests*; at its end if None."""
    process = multiprocessing.get_context("spawn").Process(target=crawl, args=(server.url, folder))
    until = None if requests is None else server.requests + requests
    process.start()
    deadline = time.monotonic() + PATIENCE
    while process.is_alive() and time.monotonic() < deadline:
        if until is not None and server.requests >= until:
            time.sleep(delay)
            break
        time.sleep(0.001)
    process.kill()
    process.join()


def told(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of the feed."""
    file = folder / "changes.jsonl"
    return [json.loads(line) for line in file.read_text("ascii").splitlines()] if file.exists() else []


def as_told(line: dict[str, Any]) -> Told:
    """Return what a line tells, as the script does."""
    previous = line["previous_url"]
    return Told(urlsplit(line["url"]).path, line["change"], previous and urlsplit(previous).path)


def faults_of(lines: list[dict[str, Any]], truth: set[Told]) -> list[str]:
    """Return what is otherwise than in the script, in words. A kill may make a small change one of unknown size."""
    found = Counter(_without_size(as_told(line)) for line in lines)
    wanted = {_without_size(change) for change in truth}
    return [
        *(f"{change} was told {count} times" for change, count in found.items() if count > 1),
        *(f"{change} was told, and did not happen" for change in sorted(set(found) - wanted)),
        *(f"{change} was not told" for change in sorted(wanted - set(found))),
    ]


def _without_size(change: Told) -> Told:
    return change._replace(change="changed") if change.change == "small_change" else change


def kill_again_and_again(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    """Kill *kills* crawls, some in each generation; return what came of it."""
    random = Random(seed)
    changing = ChangingSite(seed)
    faults: list[str] = []
    known, late, killed = 0, 0, 0
    with serve_changing(changing) as server:
        while killed < kills:
            most = len(changing.pages) + len(changing.missing) + 2 * len(changing.redirects) + LISTS
            for _ in range(min(KILLS, kills - killed)):
                killed += 1
                progress(f"kill {killed} of {kills}, {known:,} changes so far, {len(faults)} faults ...")
                run(server, folder, random.randint(0, most), random.uniform(0, 0.05))
            run(server, folder, None, 0)
            in_time = len(told(folder))
            rmtree(folder / "job")
            run(server, folder, None, 0)
            rmtree(folder / "job")
            lines = told(folder)
            found = faults_of(lines[known:], changing.truth[-1])
            faults += [f"generation {changing.generation}: {fault}" for fault in found]
            late += len(lines) - in_time
            known = len(lines)
            if [line["number"] for line in lines] != [*range(1, known + 1)]:
                faults.append(f"generation {changing.generation}: the numbers of the lines have gaps")
            if "simhash/change_errors" in (folder / "crawl.log").read_text("utf-8"):
                faults.append(f"generation {changing.generation}: the log has an error of ours")
            changing.next()
    progress("")
    return {"kills": killed, "changes": known, "changes told by the crawl after": late, "faults": faults}


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, kill, print a table or JSON; 1 if anything is not as it should be."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kills", type=int, default=100, help="how many (default: 100)")
    parser.add_argument("--seed", type=int, default=0, help="of the script and the moments (default: 0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(given)
    with tempfile.TemporaryDirectory() as folder:
        found = kill_again_and_again(Path(folder), options.kills, options.seed)
    counts = [name for name in found if name != "faults"]
    return show({**environment(__file__, given), **found}, counts, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
