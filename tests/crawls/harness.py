"""Runs real crawls in a fresh process, and returns their results.

One process may run several crawls in sequence: each has its own crawler, settings, log and stats. Starting
Python and Scrapy takes half a second, a crawl of ten pages a tenth of that. So on Linux the new process is a
fork of a process that has imported Scrapy and the package and done nothing else. Where the imports themselves
are tested, call `python`.
"""

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest
from scrapy import version_info

from scrapy_simhash.kernel import VARIABLE

Key = TypeVar("Key", str, int)

ROOT = Path(__file__).parents[2]
ENABLED = {"ADDONS": {"scrapy_simhash.Addon": 500}}
#: Requests are sent, and pages judged, in the order in which they are listed.
IN_ORDER = {
    "CONCURRENT_REQUESTS": 1,
    "CONCURRENT_ITEMS": 1,
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}
#: Requests each known page conditionally.
RECRAWL = {
    "HTTPCACHE_ENABLED": True,
    "HTTPCACHE_POLICY": "scrapy_simhash.RecrawlPolicy",
    "HTTPCACHE_STORAGE": "scrapy_simhash.PageStorage",
    "SIMHASH_RECRAWL": {"": "always"},
}
#: Extensions that make every page be read in a thread.
IN_THREADS = {"tests.crawls.spiders.InThreads": 0}
#: Drop the links of start pages, too.
UNPROTECTED: Mapping[str, Any] = {"SIMHASH_PROTECT": []}
#: Whether callbacks are called at once; Scrapy before 2.18 delays them by a tenth of a second.
IS_PROMPT = version_info >= (2, 18)
#: The event loop ``none``, where Scrapy supports it.
WITHOUT_REACTOR = pytest.param(
    "none",
    marks=pytest.mark.skipif(
        version_info < (2, 19),
        reason="Scrapy before 2.19 has no reactorless mode (2.13, 2.14) or none without httpx",
    ),
)
#: A fork copies the memory of its process, so nothing is imported again.
FORKS = sys.platform == "linux"
# Seconds; longer than any of these crawls takes on a busy machine, so reached only if a crawl hangs.
_PATIENCE = 120


#: Stats that are sizes, and one that depends on the machine.
SIZES = {
    "simhash/index_size",
    "simhash/site/hosts_known",
}


class Plan(NamedTuple):
    """One crawl: *spider* is a name in spiders.py, or in the module before the dot; *arguments* are passed to
    the spider.
    """

    spider: str
    settings: Mapping[str, Any] = {}
    arguments: Mapping[str, Any] = {}
    is_enabled: bool = True


class Page(NamedTuple):
    """A response as the spider received it; *marks* is its result without None values."""

    url: str
    path: str
    status: int
    flags: Sequence[str]
    marks: Mapping[str, Any]

    @property
    def verdict(self) -> str:
        """Status and reason: ``new``, ``near_duplicate``, ``skipped/status``, ``revisit/changed``."""
        return "/".join(self.marks[name] for name in ("status", "reason") if name in self.marks) or "unmarked"


@dataclass
class Crawl:
    """The results of a crawl. *found* has the verdicts that were sent as a signal, *notes* what the spider
    recorded.
    """

    items: list[dict[str, Any]]
    pages: list[Page]
    found: list[dict[str, str]]
    records: list[tuple[str, str, str]]
    stats: dict[str, Any]
    error: str | None
    notes: list[Any]

    def stat(self, name: str) -> Any:
        """Return one of the plugin's stats, ``processed`` for ``simhash/processed``; 0 if it was never set."""
        return self.stats.get(f"simhash/{name}", 0)

    @property
    def simhash_stats(self) -> dict[str, int]:
        return {
            name.partition("/")[2]: n
            for name, n in self.stats.items()
            if name.startswith("simhash/") and name not in SIZES
        }

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict for each path, the last one if there were several visits."""
        return {page.path: page.verdict for page in self.pages if page.path != "/robots.txt"}

    def page(self, path: str, visit: int = 0) -> Page:
        return [page for page in self.pages if page.path == path][visit]

    def item(self, path: str) -> dict[str, Any]:
        (item,) = [item for item in self.items if item.get("path") == path]
        return item

    @property
    def paths_scraped(self) -> list[str]:
        return sorted(item["path"] for item in self.items)

    def log(self, level: str | None = None, logger: str = "") -> list[str]:
        """Return the log messages, at *level* if given, of *logger* and its children."""
        return [
            text
            for name, source, text in self.records
            if level in (None, name) and (source + ".").startswith(logger and logger + ".")
        ]

    @property
    def complaints(self) -> list[str]:
        """Errors, tracebacks, Scrapy's deprecation warnings, and all warnings that mention scrapy_simhash."""
        return ([] if self.error is None else [self.error]) + [
            text
            for level, source, text in self.records
            if level in ("ERROR", "CRITICAL")
            or "Traceback" in text
            or "ScrapyDeprecationWarning" in text
            or (source == "py.warnings" and "scrapy_simhash" in text)
        ]


def crawl(*plans: Plan, reactor: str = "asyncio", order: str = "in turn") -> list[Crawl]:
    """Run *plans* in one new process, ``in turn`` or all ``together``; *reactor* is asyncio, select or none."""
    document = [
        {
            "spider": f"tests.crawls.{plan.spider if '.' in plan.spider else f'spiders.{plan.spider}'}",
            "settings": {**(ENABLED if plan.is_enabled else {}), **plan.settings},
            "arguments": plan.arguments,
        }
        for plan in plans
    ]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "crawls.json")
        task = {"reactor": reactor, "order": order, "plans": document, "target": str(target)}
        if FORKS:
            process = _Forks.ready().run(folder, task=task)
        else:
            process = python("-m", "tests.crawls.run", cwd=folder, stdin=json.dumps(task))
        if process.returncode or not target.exists():
            raise AssertionError(f"the crawl process failed:\n{process.stdout}{process.stderr}")
        results = json.loads(target.read_text("utf-8"))
    return [
        Crawl(
            items=result["items"],
            pages=[_page(page) for page in result["pages"]],
            found=result["found"],
            records=[tuple(record) for record in result["log"]],
            stats=result["stats"],
            error=result["error"],
            notes=result["notes"],
        )
        for result in results
    ]


def crawl_each(plans: Mapping[Key, Plan], *, reactor: str = "asyncio") -> dict[Key, Crawl]:
    """Run *plans* one after another, and return their results by name."""
    return dict(zip(plans, crawl(*plans.values(), reactor=reactor), strict=True))


def crawl_one(
    spider: str, settings: Mapping[str, Any] | None = None, *, reactor: str = "asyncio", **arguments: Any
) -> Crawl:
    (result,) = crawl(Plan(spider, settings or {}, arguments), reactor=reactor)
    return result


def scrapy(*arguments: str, cwd: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the ``scrapy`` command, as users do."""
    return forked("-m", "scrapy", *arguments, cwd=cwd)


def make_project(folder: Path, **settings: Any) -> None:
    """Make a Scrapy project of one file with its *settings*; *spiders* may come from a module of the tests."""
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = settings\n")
    given = {"TELNETCONSOLE_ENABLED": False, **settings}
    lines = [f"{name} = {value!r}\n" for name, value in given.items()]
    (folder / "settings.py").write_text("".join(lines))


def forked(*arguments: str, cwd: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a module (``-m`` and its name) or a file like Python does, but with the imports of a crawl already
    done.
    """
    return _Forks.ready().run(cwd, arguments=arguments) if FORKS else python(*arguments, cwd=cwd)


def python(*arguments: str, cwd: str | Path, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run this Python with the project on its path, and with the kernel of the test run."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=_environment(),
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        timeout=_PATIENCE,
        check=False,
    )


def killed(spider: str, settings: Mapping[str, Any], **arguments: Any) -> None:
    """Crawl with a spider that kills its process, as a power failure would; see `Plan` for its name."""
    module, _, name = f"tests.crawls.{spider}".rpartition(".")
    program = f"""
from scrapy.crawler import CrawlerProcess
from {module} import {name}

process = CrawlerProcess({ {**ENABLED, **settings}!r})
process.crawl({name}, **{arguments!r})
process.start()
"""
    done = python("-c", program, cwd=ROOT)
    assert done.returncode == -signal.SIGKILL, done.stderr


def _environment() -> dict[str, str]:
    paths = [str(ROOT), str(ROOT / "example_project")]
    environment = {
        name: value
        for name, value in os.environ.items()
        if name == VARIABLE
        or (not name.startswith(("SCRAPY_", "PYTHON")) and not name.lower().endswith("_proxy"))
    }
    return {**environment, "PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8"}


class _Forks:
    """A process that has the imports of a crawl and forks for every task, which makes short tasks ten times
    as fast.
    """

    _ready: "_Forks | None" = None

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crawls.run", "--serve"],
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )
        atexit.register(self.end)

    @classmethod
    def ready(cls) -> "_Forks":
        if cls._ready is None:
            cls._ready = cls()
        return cls._ready

    def run(self, cwd: str | Path, **fields: Any) -> subprocess.CompletedProcess[str]:
        """Run a task, or Python with arguments, in a fork in the folder *cwd*; see ``serve`` in run.py."""
        to, back = self._process.stdin, self._process.stdout
        assert to is not None
        assert back is not None
        with tempfile.TemporaryDirectory() as folder:
            files = {name: Path(folder, name) for name in ("stdout", "stderr")}
            for file in files.values():
                file.touch()
            line = {**fields, "cwd": cwd, "environment": _environment(), **files}
            to.write(json.dumps(line, default=str) + "\n")
            to.flush()
            has_ended, _, _ = select.select([back], [], [], _PATIENCE)
            answer = back.readline() if has_ended else ""
            if not answer:
                self.end()
                _Forks._ready = None
            stdout, stderr = (file.read_text("utf-8", "replace") for file in files.values())
        errors = stderr if has_ended else f"{stderr}\nIt hung."
        return subprocess.CompletedProcess(["fork"], int(answer or 1), stdout, errors)

    def end(self) -> None:
        """End the process and its running fork, if any."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


def _page(page: dict[str, Any]) -> Page:
    path = "/" + page["url"].split("/", 3)[3] if page["url"].startswith("http") else page["url"]
    return Page(page["url"], path, page["status"], page["flags"], page["marks"])
