"""Tell whether anything is lost while crawls are killed, disks are full, servers fail and connections are cut.

    python benchmarks/chaos.py                                  # everything; tables, or --json for programs
    python benchmarks/chaos.py --only claims --seed 7 --seconds 300 --stores redis
    python benchmarks/chaos.py --only crawls changes --kills 300

``claims``
    Several crawlers, each a process, claim pages whose cluster is known, in one store: a file that one of them at a
    time can write to, or a ``redis-server`` behind a proxy. A plan that is drawn from the seed lets things go wrong:
    crawlers are killed (SIGKILL) and replaced, or stopped and continued; no file may grow (RLIMIT_FSIZE, as with a
    full disk; on Linux); the server is killed and started again, stopped, or full (``maxmemory``); connections are
    cut, cut in the middle of a reply, held up, or deliver a few bytes at a time. When all has passed, every crawler
    must get an answer again. Then of everything they were told:

    * a page of which a claim was acknowledged is in the store, as of that claim or a later one;
    * of each cluster at most one page was called new, and one if all claims were answered; all got the same cluster;
    * no page was called a duplicate of itself, or of a page of another cluster;
    * no page was called delivered that no other run has delivered;
    * no crawler has ended by itself, and the store opens, and ``info --check`` finds nothing damaged in it.
``crawls``
    A spider crawls a site with ``JOBDIR``, every fourth page the same, and writes down what it was told. The process
    is killed ``--kills`` times at random moments, and started again on the same folder; a last crawl comes to its
    end. After every kill the file must be sound, whatever was told must be in it, and no page may be called a
    duplicate of itself or of another text.
``changes``
    A site changes by a script, generation after generation, and a spider follows it with ``SIMHASH_CHANGES`` and
    ``JOBDIR``, killed ten times in each. Scrapy does not save its queue when it is killed, so one more crawl on a new
    folder follows. The feed is compared with the script line by line.

The program ends with status 1 if anything is otherwise. A seed has one plan; what exactly is under way when a fault
comes is up to the machine. Not tested: a power failure, several machines.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from shutil import rmtree
from typing import Any, TypeAlias

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response, TextResponse

from benchmarks.lib.chaos_stage import REDIS, SQLITE, plan, stage
from benchmarks.lib.prose_site import page, served
from benchmarks.lib.report import arguments_of, progress, show
from scrapy_simhash.store.sqlite import SqliteStore
from tests.crawls.changing_site import (
    LISTS,
    ChangingServer,
    ChangingSite,
    Told,
    as_told,
    serve_changing,
    told,
)
from tests.store.sqlite.stores import assert_sound

PARTS = ("claims", "crawls", "changes")
STORES = (SQLITE, REDIS)
#: Pages of a cluster of the site that is crawled, and seconds within which a kill of such a crawl comes.
COPIES, LIFE = 4, 3.0
#: Kills in each generation of a site that changes.
KILLS = 10
#: Seconds after which a process that has not begun, or not come to its end, never will.
PATIENCE = 120
SETTINGS = {"ADDONS": {"scrapy_simhash.Addon": 500}, "LOG_LEVEL": "INFO", "TELNETCONSOLE_ENABLED": False}

#: What a crawl was told, line by line.
Lines: TypeAlias = list[dict[str, Any]]


def claims(store: str, seed: int, seconds: float, crawlers: int) -> dict[str, Any]:
    """Return what came of the plan of *seed* for a *store*."""
    faults = plan(store, seed, seconds, crawlers)
    with (
        tempfile.TemporaryDirectory() as folder,
        stage(store, Path(folder), crawlers, seed) as (play, means),
    ):
        play.act(faults, means, lambda begun: progress(f"{store}: fault {begun} of {len(faults)} ..."))
        found = play.end()
    ledger = play.ledger
    return {
        "things that went wrong": len(faults),
        "lives": ledger.lives,
        "tried": len(ledger.tries),
        "acknowledged": ledger.heard.total(),
        "refused": ledger.refused.total(),
        "pages": play.pages,
        "faults": found,
    }


class Witness(scrapy.Spider):
    """Asks for *pages* of *site* in an order of its own, and writes down the verdict on each in *file*."""

    name = "witness"

    def __init__(self, site: str, pages: int, seed: int, file: str) -> None:
        super().__init__()
        self.urls = [f"{site}{number}" for number in Random(seed).sample(range(pages), pages)]
        self.file = Path(file)

    async def start(self) -> AsyncIterator[Any]:
        """Ask for every page, also for those that Scrapy has noted as seen."""
        for url in self.urls:
            yield scrapy.Request(url, dont_filter=True)

    def parse(self, response: Response) -> Iterator[Any]:
        """Write the verdict down."""
        result = response.meta["simhash_result"]
        marks = {name: result[name] for name in ("status", "fingerprint", "duplicate_of")}
        with self.file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({"url": response.url, **marks}) + "\n")
        yield {"url": response.url}


class Follower(scrapy.Spider):
    """Follows all links, and yields nothing."""

    name = "follower"
    url: str

    async def start(self) -> AsyncIterator[Any]:
        """Ask for the start page."""
        yield scrapy.Request(self.url)

    def parse(self, response: Response) -> Iterator[Any]:
        """Follow the links."""
        if isinstance(response, TextResponse):
            yield from response.follow_all(css="a")


def crawl(spider: type[scrapy.Spider], settings: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Crawl in this process; a file that is named in *arguments* is there from now on."""
    if "file" in arguments:
        Path(arguments["file"]).touch()
    process = CrawlerProcess({**SETTINGS, **settings})
    process.crawl(spider, **arguments)
    process.start()


def killed(crawl_of: tuple[Any, ...], is_time: Callable[[], bool], delay: float | None) -> None:
    """Crawl in another process, which is killed *delay* seconds after it *is_time*, at its end if None."""
    process = multiprocessing.get_context("spawn").Process(target=crawl, args=crawl_of)
    process.start()
    deadline = time.monotonic() + PATIENCE
    while process.is_alive() and time.monotonic() < deadline:
        if delay is not None and is_time():
            time.sleep(delay)
            break
        time.sleep(0.001)
    process.kill()
    process.join()


def witnessed(site: str, pages: int, folder: Path, seed: int, life: float | None) -> Lines:
    """Return what a crawl was told that is killed within *life* seconds, at its end if None."""
    file = folder / f"{seed}.jsonl"
    # A killed crawl leaves start requests in Scrapy's queue on disk, which gives them out in place of new ones.
    rmtree(folder / "job" / "requests.queue", ignore_errors=True)
    settings = {"JOBDIR": str(folder / "job"), "LOG_FILE": str(file.with_suffix(".log"))}
    arguments = {"site": site, "pages": pages, "seed": seed, "file": str(file)}
    killed((Witness, settings, arguments), file.exists, life and Random(seed).uniform(0, life))
    # The kill may have cut the last line.
    lines = file.read_text("utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def faults_of_store(file: Path, lines: Lines, clusters: int) -> list[str]:
    """Return what is not as it should be after everything in *lines* was told, in words."""
    if not file.exists():
        return ["what was told has no file"] if lines else []
    try:
        assert_sound(file)
    except AssertionError as error:
        return [f"the file is not sound: {error}"]
    with closing(SqliteStore(file, read_only=True)) as store:
        kept = {posting.url: posting.fingerprint.hex for posting in store}
    faults = []
    for line in lines:
        url, original = line["url"], line["duplicate_of"]
        if url not in kept:
            faults.append(f"{url} is lost")
        elif kept[url] != line["fingerprint"]:
            faults.append(f"{url} has another fingerprint than was told")
        if original == url:
            faults.append(f"{url} was called a duplicate of itself")
        elif original is not None and (_number(original) - _number(url)) % clusters:
            faults.append(f"{url} was called a duplicate of {original}")
        if line["status"] == "unknown":
            faults.append(f"{url} was not judged")
    return faults


def _number(url: str) -> int:
    return int(url.rpartition("/")[2])


def crawls(folder: Path, kills: int, pages: int) -> dict[str, Any]:
    """Kill *kills* crawls, and let a last one come to its end; return what came of it."""
    clusters, file = pages // COPIES, folder / "job" / "simhash" / "witness.sqlite"
    latest_of: dict[str, dict[str, Any]] = {}
    faults: list[str] = []
    lines = empty = 0
    with served(page, clusters) as site:
        for number in range(kills):
            progress(f"kill {number + 1} of {kills}, {lines:,} answers so far, {len(faults)} faults ...")
            latest = witnessed(site, pages, folder, number, LIFE)
            latest_of.update({line["url"]: line for line in latest})
            found = faults_of_store(file, [*latest, *latest_of.values()], clusters)
            faults += [f"after kill {number + 1}: {fault}" for fault in found]
            lines, empty = lines + len(latest), empty + (not latest)
        latest = witnessed(site, pages, folder, kills, None)
    faults += faults_of_store(file, latest, clusters)
    with closing(SqliteStore(file, read_only=True)) as store:
        counts = {
            "pages told in the last crawl": (len({line["url"] for line in latest}), pages),
            "pages in the store": (len(store), pages),
            "contents": (store.index_size, clusters),
            "crawls that ended in order": (int(store.runs()[-1].reason == "finished"), 1),
        }
    faults += [
        f"{number} {what}, not {wanted}" for what, (number, wanted) in counts.items() if number != wanted
    ]
    return {"kills": kills, "answers": lines, "kills before the first answer": empty, "faults": faults}


def faults_of_feed(lines: Lines, truth: set[Told]) -> list[str]:
    """Return what is otherwise than in the script, in words. A kill may make a small change one of unknown size."""

    def without_size(change: Told) -> Told:
        return change._replace(change="changed") if change.change == "small_change" else change

    found = Counter(without_size(as_told(line)) for line in lines)
    wanted = set(map(without_size, truth))
    return [
        *(f"{change} was told {count} times" for change, count in found.items() if count > 1),
        *(f"{change} was told, and did not happen" for change in sorted(set(found) - wanted)),
        *(f"{change} was not told" for change in sorted(wanted - set(found))),
    ]


def follow(server: ChangingServer, folder: Path, requests: int | None, delay: float | None) -> None:
    """Crawl the changing site, killed *delay* seconds after so many *requests*, at its end if None."""
    settings = {
        "SIMHASH_STORE": str(folder),
        "SIMHASH_CHANGES": str(folder / "changes.jsonl"),
        "JOBDIR": str(folder / "job"),
        "LOG_FILE": str(folder / "crawl.log"),
        "RETRY_ENABLED": False,
        "ROBOTSTXT_OBEY": True,
    }
    until = server.requests + (requests or 0)
    killed((Follower, settings, {"url": server.url}), lambda: server.requests >= until, delay)


def changes(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    """Kill *kills* crawls, some in each generation; return what came of it."""
    random, changing = Random(seed), ChangingSite(seed)
    faults: list[str] = []
    known = late = number = 0
    with serve_changing(changing) as server:
        while number < kills:
            most = len(changing.pages) + len(changing.missing) + 2 * len(changing.redirects) + LISTS
            for _ in range(min(KILLS, kills - number)):
                number += 1
                progress(f"kill {number} of {kills}, {known:,} changes so far, {len(faults)} faults ...")
                follow(server, folder, random.randint(0, most), random.uniform(0, 0.05))
            follow(server, folder, None, None)
            in_time = len(told(folder))
            rmtree(folder / "job")
            follow(server, folder, None, None)
            rmtree(folder / "job")
            lines = told(folder)
            found = faults_of_feed(lines[known:], changing.truth[-1])
            late += len(lines) - in_time
            known = len(lines)
            if [line["number"] for line in lines] != [*range(1, known + 1)]:
                found.append("the numbers of the lines have gaps")
            if "simhash/errors/changes" in (folder / "crawl.log").read_text("utf-8"):
                found.append("the log has an error of ours")
            faults += [f"generation {changing.generation}: {fault}" for fault in found]
            changing.next()
    return {"kills": number, "changes": known, "told by the crawl after": late, "faults": faults}


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, let things go wrong, print tables or JSON; 1 if anything is not as it should be."""
    parser = arguments_of(__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="default: all")
    parser.add_argument("--seed", type=int, default=0, help="of the plan and of the script (default: 0)")
    parser.add_argument("--seconds", type=float, default=20, help="of claims, for each store (default: 20)")
    parser.add_argument(
        "--crawlers", type=int, default=3, metavar="N", help="that claim at once (default: 3)"
    )
    parser.add_argument("--stores", nargs="+", choices=STORES, default=STORES, help="default: sqlite redis")
    parser.add_argument("--kills", type=int, default=100, help="of crawls of each kind (default: 100)")
    parser.add_argument(
        "--pages", type=int, default=1_000, help="of the site that is crawled (default: 1000)"
    )
    options = parser.parse_args(arguments)
    parts: dict[str, dict[str, Any]] = {}
    if "claims" in options.only:
        for store in options.stores:
            parts[f"claims, {store}"] = claims(store, options.seed, options.seconds, options.crawlers)
    with tempfile.TemporaryDirectory() as folder:
        if "crawls" in options.only:
            parts["crawls"] = crawls(Path(folder), options.kills, options.pages)
        if "changes" in options.only:
            parts["changes"] = changes(Path(folder), options.kills, options.seed)
    faults = [f"{part}: {fault}" for part, one in parts.items() for fault in one.pop("faults")]
    return show(__file__, options, arguments, {**parts, "faults": faults})


if __name__ == "__main__":
    sys.exit(main())
