"""Run the crawls of harness.py, and write their results."""

import asyncio
import gc
import json
import logging
import os
import sys
import warnings
from collections.abc import Generator
from contextlib import suppress
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import walk_packages
from runpy import run_module, run_path
from typing import Any, NamedTuple

import scrapy.commands
from itemadapter import ItemAdapter, is_item
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler, CrawlerRunner
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.utils.log import configure_logging
from scrapy.utils.misc import load_object
from scrapy.utils.reactor import install_reactor
from twisted.internet.defer import DeferredList, inlineCallbacks

import scrapy_simhash
from scrapy_simhash import PageFingerprinter, SimhashError, Verdict, names
from scrapy_simhash.signals import near_duplicate_found

REACTORS = {
    "asyncio": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    "select": "twisted.internet.selectreactor.SelectReactor",
}


class Recorder(logging.Handler):
    """Records one crawl from outside, by Scrapy's signals, so it works with any spider."""

    def __init__(self, plan: dict[str, Any], reactor: str) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(levelname)s [%(name)s] %(message)s"))
        self.result: dict[str, Any] = {
            "items": [],
            "pages": [],
            "found": [],
            "log": [],
            "stats": {},
            "error": None,
            "notes": [],
        }
        settings = Settings({"TELNETCONSOLE_ENABLED": False, **plan["settings"]})
        if reactor in REACTORS:
            settings["TWISTED_REACTOR"] = REACTORS[reactor]
        else:
            settings["TWISTED_REACTOR_ENABLED"] = False
        self.crawler = Crawler(load_object(plan["spider"]), settings)
        self.arguments: dict[str, Any] = plan["arguments"]
        connect = self.crawler.signals.connect
        connect(self.scraped, signal=signals.item_scraped)
        connect(self.received, signal=signals.response_received)
        connect(self.found, signal=near_duplicate_found)

    def emit(self, record: logging.LogRecord) -> None:
        self.result["log"].append((record.levelname, record.name, self.format(record)))

    def scraped(self, item: Any) -> None:
        values = dict(ItemAdapter(item)) if is_item(item) else {"repr": repr(item)}
        self.result["items"].append(values)

    def received(self, response: Response, request: Request) -> None:
        result = request.meta.get(names.META_RESULT, {})
        marks = {name: value for name, value in result.items() if value not in (None, [])}
        page = {"url": response.url, "status": response.status, "flags": response.flags, "marks": marks}
        self.result["pages"].append(page)

    def found(self, request: Request, response: Response, verdict: Verdict, spider: Spider) -> None:
        self.result["found"].append({"url": response.url, "original": verdict.duplicate_of})

    def finish(self, outcome: Any = None) -> None:
        error = getattr(outcome, "value", outcome)
        # Scrapy 2.13 raises a second error while it cleans up after an error of a middleware.
        if error is not None and isinstance(error.__context__, SimhashError):
            error = error.__context__
        self.result["error"] = None if error is None else str(error)
        if not self.crawler.settings.frozen:  # the crawl ended before it had stats
            return
        if self.crawler.stats is not None:
            self.result["stats"] = self.crawler.stats.get_stats()
        # The spider's own notes, if it has any.
        self.result["notes"] = getattr(self.crawler.spider, "notes", [])


class Task(NamedTuple):
    """A task for a separate process; results are written to the file *target*."""

    reactor: str
    order: str
    plans: list[dict[str, Any]]
    target: str


def serve() -> None:
    """Run the task in each line of stdin in a fork of this process, and write its exit code.

    A line has the *cwd* and *environment* of a process, the files for its *stdout* and *stderr*, and either a *task*
    or *arguments* for Python.
    """
    _preload()
    for line in sys.stdin:
        line_read = json.loads(line)
        child = os.fork()
        if not child:
            os.chdir(line_read["cwd"])
            os.environ.clear()
            os.environ.update(line_read["environment"])
            files = (
                (os.devnull, os.O_RDONLY),
                *((line_read[name], os.O_RDWR) for name in ("stdout", "stderr")),
            )
            for number, (path, flags) in enumerate(files):
                os.dup2(os.open(path, flags | os.O_APPEND | os.O_CREAT), number)
            if "task" in line_read:
                run(Task(**line_read["task"]))
            else:
                run_program(*line_read["arguments"])
            return
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def run_program(way: str, *arguments: str) -> None:
    """Run ``python -m module`` or ``python file`` with the imports of this process."""
    is_module = way == "-m"
    sys.argv = list(arguments) if is_module else [way, *arguments]
    sys.path[0] = str(Path.cwd()) if is_module else str(Path(way).parent.resolve())
    if is_module:
        run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        run_path(way, run_name="__main__")


def _preload() -> None:
    """Import the modules of a crawl, and load the kernel, which takes two thirds of the time of a short
    crawl.
    """
    settings = Settings()
    for name in ("DOWNLOADER_MIDDLEWARES_BASE", "SPIDER_MIDDLEWARES_BASE", "EXTENSIONS_BASE"):
        for component in settings[name]:
            load_object(component)
    for scheme in ("http", "https"):  # the FTP handler installs a reactor
        load_object(settings["DOWNLOAD_HANDLERS_BASE"][scheme])
    for name in ("STATS_CLASS", "LOG_FORMATTER", "DUPEFILTER_CLASS", "SCHEDULER", "SCHEDULER_PRIORITY_QUEUE"):
        load_object(settings[name])
    for package in (scrapy.commands, scrapy_simhash):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            # Without the package of an extra, its crawls are skipped. A program must not be imported before it runs.
            with suppress(ImportError):
                if not module.name.endswith("__main__"):
                    import_module(module.name)
    # The commands of other packages: scrapy-poet's import pytest.
    for command in entry_points(group="scrapy.commands"):
        command.load()
    import_module("tests.crawls.spiders")
    PageFingerprinter()
    # The forks share the memory allocated so far; the garbage collector need not scan it.
    gc.freeze()


def run(task: Task) -> None:
    reactor = task.reactor
    warnings.simplefilter("always")
    logging.captureWarnings(True)
    if reactor in REACTORS:
        install_reactor(REACTORS[reactor])
    configure_logging(install_root_handler=False)
    logging.root.setLevel(logging.DEBUG)
    recorders = [Recorder(plan, reactor) for plan in task.plans]
    if reactor in REACTORS:
        _run(recorders, task.order)
    else:
        _run_without_reactor(recorders, task.order)
    results = [recorder.result for recorder in recorders]
    Path(task.target).write_text(json.dumps(results, default=str), encoding="utf-8")


def _run(recorders: list[Recorder], order: str) -> None:
    from twisted.internet import reactor as installed  # noqa: TID251

    reactor: Any = installed
    runner = CrawlerRunner()

    def start(recorder: Recorder) -> Any:
        logging.root.addHandler(recorder)
        crawl = runner.crawl(recorder.crawler, **recorder.arguments)
        crawl.addBoth(recorder.finish)
        return crawl.addBoth(lambda _: logging.root.removeHandler(recorder))

    @inlineCallbacks
    def crawl_all() -> Generator[Any, Any, None]:
        try:
            if order == "together":
                yield DeferredList([start(recorder) for recorder in recorders])
            else:
                for recorder in recorders:
                    yield start(recorder)
        finally:
            reactor.stop()

    reactor.callWhenRunning(crawl_all)
    reactor.run()


def _run_without_reactor(recorders: list[Recorder], order: str) -> None:
    from scrapy.crawler import AsyncCrawlerRunner

    async def crawl(recorder: Recorder) -> None:
        logging.root.addHandler(recorder)
        try:
            runner = AsyncCrawlerRunner({"TWISTED_REACTOR_ENABLED": False})
            await runner.crawl(recorder.crawler, **recorder.arguments)
            recorder.finish()
        except Exception as error:
            recorder.finish(error)
        finally:
            logging.root.removeHandler(recorder)

    async def crawl_all() -> None:
        if order == "together":
            await asyncio.gather(*map(crawl, recorders))
        else:
            for recorder in recorders:
                await crawl(recorder)

    asyncio.run(crawl_all())


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        run(Task(**json.load(sys.stdin)))
