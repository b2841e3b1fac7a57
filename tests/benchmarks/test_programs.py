"""Each program runs with its smallest options, and prints expected results."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from scrapy import version_info

from benchmarks import ROOT, index
from benchmarks.lib.pack import Pack
from benchmarks.lib.report import document

Run = Callable[..., dict[str, Any]]
PROGRAMS = sorted(path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py"))
#: The smallest options of each program, and part of its expected output.
SMALLEST: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "index": ("--sizes 1000 --only auto scan pairs",
              lambda found: found["pairs at 1,000"]["recall"] == 1),
    "kernel": ("--example --pages 3 --repeats 1",
               lambda found: found["microseconds of a text"]["pure"]),
    "stores": ("--only claims bytes open --claims 100 --rounds 1 --pages 60 --sizes 100",
               lambda found: found["bytes a page"][1]["contents"] == 60),
    "unchanged": ("", lambda found: found["skipped"]),
    "url_rules": ("--crawls 3", lambda found: found["share of new pages"]["0.05"]["lost"] < 3),
}  # fmt: skip
#: The smallest options and the expected output of programs that start processes or servers.
SLOW: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    # With so few pages, no text is lost on the hosts with wrong 304 responses. 304 responses are checked at random:
    # seldom all of a host in one week, never all of two hosts in two weeks.
    "again": ("--pages 14 --rounds 1",
              lambda found: not found["faults"] and sum(
                  found["three weeks"][host][f"bytes, week {week}"]
                  for host in ("honest", "path etags") for week in (2, 3)) < 4),
    "engines": ("--only duckdb --pages 1000", lambda found: found["duckdb"]["recall"] > 0.9),
    "kinds": ("--only 3 --template 1 --show 1", lambda found: found["pages"] == 60 and found["sites"][0]["kept"]),
    "plugin": ("--only time --pages 20 --generated --rounds 1",
               lambda found: found["shares"]["off / on"]["median"]),
    "soak": ("--pages 240 --step 80 --checked 160", lambda found: found["steps"][-1]["pages"] == 240),
    "stores": ("--only redis --sizes 60 --claims 40 --concurrency 4",
               lambda found: len(found["60 pages in Redis"]["claims"]) == 3),
}  # fmt: skip
#: Programs that run with the small data set.
OTHERS = {"copies", "quality"}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a program in this process, and return its figures."""

    def run(name: str, options: str) -> dict[str, Any]:
        assert import_module(f"benchmarks.{name}").main([*options.split(), "--json"]) == 0
        read = capsys.readouterr()
        assert not read.err  # no progress without a terminal
        result: dict[str, Any] = json.loads(read.out)
        assert {"command", "machine", "versions"} <= result.keys()
        return result

    return run


@pytest.mark.usefixtures("no_pack")
@pytest.mark.parametrize("name", SMALLEST)
def test_an_example_program_runs(name: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    program = import_module(f"benchmarks.{name}")
    monkeypatch.setattr(program, "alone", lambda function, *given: function(*given), raising=False)
    monkeypatch.setattr(index, "FRESH", 4_000)
    options, is_done = SMALLEST[name]
    assert is_done(run(name, options))


@pytest.mark.usefixtures("no_pack")
@pytest.mark.slow("starts processes and servers")
@pytest.mark.skipif(version_info < (2, 14), reason="the download handlers are coroutines")
@pytest.mark.parametrize("name", SLOW)
def test_an_example_program_with_processes_runs(name: str, run: Run) -> None:
    pytest.importorskip({"engines": "duckdb", "stores": "redis"}.get(name, "json"))
    options, is_done = SLOW[name]
    assert is_done(run(name, options))


@pytest.mark.slow("it crawls in a process of its own")
@pytest.mark.skipif(version_info < (2, 14), reason="the download handler is a coroutine")
def test_a_crawl_of_a_pack_finds_and_drops_its_copies(pack: Pack, run: Run) -> None:
    found = run("copies", "--show 5 --orders 2")[pack.name]
    assert found["pages"] == 5
    # d1 and d2 have the same text; d4, paired with d3, is too short; d3 and d5 have the same text and no label.
    pairs = found["in one cluster"]["all"]
    assert (pairs["precision"], pairs["recall"], len(found["near pairs in two clusters"])) == (1, 0.5, 1)
    copies = found["by label"]["near"]
    assert (copies["pages"], copies["dropped"], copies["not found"]) == (2, 2, 0)
    assert found["by label"]["unlisted"]["dropped"] == len(found["pages that are dropped wrongly"]) <= 1


def test_documented_figures_are_written_by_their_commands(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    at = [["pack", "rows", 1], ["pack", "all"]]
    ours = {"value": "1", "format": ".2f", "command": "python benchmarks/a.py --all", "at": at}
    another = {**ours, "command": "python benchmarks/a.py", "at": [["missing"]]}
    file.write_text(json.dumps({"ours": ours, "another": another}), "utf-8")
    document("$ python benchmarks/a.py --all", {"pack": {"rows": [1, 0.127], "all": 2}}, file)
    written = json.loads(file.read_text("utf-8"))
    measured = written["ours"].pop("measured")
    assert date.fromisoformat(measured) > date(2020, 1, 1)
    assert written["ours"] == {**ours, "value": "0.13 / 2.00"}
    assert written["another"] == another


def test_every_program_has_a_test() -> None:
    assert set(PROGRAMS) == {*SMALLEST, *SLOW, *OTHERS}


@pytest.mark.slow("it profiles crawls")
@pytest.mark.skipif(version_info < (2, 14), reason="the download handler is a coroutine")
def test_a_page_calls_no_more_python_functions_than_the_recorded_number(run: Run) -> None:
    """Update the number when a function call is added to the processing of a page."""
    entered = run("plugin", "--only functions --generated")["a page enters"]
    # About 25 calls belong to the claim in the store.
    assert entered["new page, mark"]["functions"] <= 65
    assert entered["new page, drop_items"]["functions"] <= 65
    assert entered["dropped copy, drop_items"]["functions"] <= 112
