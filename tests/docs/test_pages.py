"""What pages name is there, and the numbers that they say in words are those of the code."""

from __future__ import annotations

import json
import re
from datetime import date
from functools import cache
from math import comb
from pathlib import Path

import pytest

from scrapy_simhash import Config, __version__
from scrapy_simhash.crawl.downloader_middleware import BUDGET
from scrapy_simhash.crawl.items.fields import LARGEST
from scrapy_simhash.crawl.reader import THREAD_SIZE
from scrapy_simhash.index.index import ROW_LIMIT
from scrapy_simhash.index.plans import plan_for, probes_of
from scrapy_simhash.judge.hints.markup import (
    MAX_IN_BODY,
    MAX_IN_HEAD,
    MAX_LINK_CHARACTERS,
    MAX_LINKS,
)
from scrapy_simhash.judge.hints.page_kind import MAX_NODES
from scrapy_simhash.judge.hints.urls import MAX_ADDRESS
from scrapy_simhash.page.structured import MAX_ELEMENTS, MAX_ITEMS, MAX_SCRIPT, MAX_SCRIPTS, MAX_THINGS
from scrapy_simhash.store.candidates import BLOCKS
from tests.docs.reader import DOCS, PACKAGE, PAGES, README, ROOT, TEXTS, sections, words

HOW_IT_WORKS = DOCS / "concepts" / "how-it-works.rst"
#: What a reader makes, what a command makes, and how our stats begin.
MADE = ("archive/", "myproject/", "out/", ".venv/", "simhash/")


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_paths_lead_to_files(page: Path) -> None:
    text = page.read_text("utf-8")
    links = re.findall(r"\]\(([^)#\s]+)", text) if page.suffix == ".md" else []
    for link in links:
        assert "://" in link or (page.parent / link).exists(), link
    homes = (ROOT, PACKAGE, ROOT / "example_project")
    for path in re.findall(r"(?<!`)`{1,2}((?:[\w.-]+/)+(?:[\w-]+\.\w+)?)`{1,2}(?!`)", text):
        assert path.startswith(MADE) or any((home / path).exists() for home in homes), path


def test_the_rule_is_told_with_its_defaults() -> None:
    config = Config()
    told = words(sections(HOW_IT_WORKS)["The rule"])
    for setting in (
        f"``SIMHASH_MAX_DISTANCE`` bits, {config.distance} by default",
        f"in common: {config.min_similarity} by default",
    ):
        assert setting in told
    told = words(sections(HOW_IT_WORKS)["The classic rule"])
    config = Config(rule="classic")
    assert f"``SIMHASH_MAX_DISTANCE`` bits, {config.distance} by default" in told
    assert f"{BLOCKS} blocks, so {comb(BLOCKS, config.distance)} tables" in told


def test_the_size_of_a_sketch_and_of_a_scanned_scope_are_told() -> None:
    sketch = "a *MinHash sketch* with the words of its *title key* and its *facts*: 129 to 256 bytes"
    assert sketch in words(HOW_IT_WORKS.read_text("utf-8"))
    for_each_probe, _, _ = ROW_LIMIT
    scanned = for_each_probe * probes_of(plan_for(Config().distance, "auto"))
    told = words((DOCS / "how-to" / "sites.rst").read_text("utf-8"))
    assert f"up to {round(scanned, -3):,} pages" in told


def test_the_limits_of_hostile_pages_are_those_of_the_code() -> None:
    page = (DOCS / "how-to" / "sites.rst").read_text("utf-8")
    table = page.partition(":name: limits-of-a-page")[2].partition("The stat")[0]
    told = [int(number.replace(",", "")) for number in re.findall(r"\* - ([\d,]+)\n", table)]
    assert told == [
        Config().maxsize,
        THREAD_SIZE,
        MAX_IN_HEAD,
        MAX_LINKS,
        MAX_LINK_CHARACTERS,
        MAX_ADDRESS,
        MAX_IN_BODY,
        MAX_NODES,
        MAX_SCRIPT,
        MAX_SCRIPTS,
        MAX_THINGS,
        MAX_ELEMENTS,
        MAX_ITEMS,
        LARGEST,
    ]
    assert f"more than {BUDGET * 1000:.0f} ms of the event loop" in words(page)


ROW = re.compile(r"^    \* - (.+)\n      - (.+)\n      - (.+)$", re.MULTILINE)
MECHANISMS = ROOT / "notes" / "mechanisms.rst"
ROWS = [row for row in ROW.findall(MECHANISMS.read_text("utf-8")) if row[0] != "mechanism"]


@cache
def known() -> set[str]:
    """Return all words of the sources, and the names of the files."""
    files = [*PACKAGE.rglob("*.py"), *(ROOT / "benchmarks" / "methods").glob("*.py")]
    texts = [path.read_text("utf-8") for path in files]
    return {path.name for path in files}.union(*(re.findall(r"[\w-]+", text) for text in texts))


def named_in(cell: str) -> set[str]:
    """Return what a cell names: of a command its verb, of a call what is called, of a setting its field."""
    found = set()
    for literal in re.findall(r"``(.+?)``", cell):
        name = re.split(r"[(=]", literal.removeprefix("scrapy-simhash ").strip('"'))[0]
        if name.startswith("SIMHASH_"):
            name = name.removeprefix("SIMHASH_").lower()
        found |= {name} if name.endswith(".py") else set(name.split("."))
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_a_row_of_mechanisms_names_is_there(row: tuple[str, str, str]) -> None:
    assert len(ROWS) > 45
    assert named_in(row[2]) - known() == set()


FIGURES = json.loads((DOCS / "figures.json").read_text("utf-8"))


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_its_command_and_its_date_and_is_used(name: str) -> None:
    figure = FIGURES[name]
    assert set(figure) == {"value", "command", "measured", "at", "format"}
    program, *_ = figure["command"].removeprefix("python ").split()
    assert (ROOT / program).is_file()
    assert date.fromisoformat(figure["measured"])
    assert any(f"|{name}|" in page.read_text("utf-8") for page in PAGES)


def test_the_readme_states_the_figures_of_the_file() -> None:
    readme = words(README.read_text("utf-8"))
    crawls = [FIGURES[f"{source}-crawl"]["value"].split(" / ") for source in ("docs", "manuals", "sites")]
    precisions, recalls = ([float(pair[side]) for pair in crawls] for side in (0, 1))
    told = (
        f"a precision of {min(precisions):.4f} to {max(precisions):.4f} and a recall of {min(recalls):.3f} to"
        f" {max(recalls):.3f}"
    )
    assert re.sub(r"\b0(?=\.)", "", told) in readme
    assert f"{FIGURES['bytes-new']['value']} bytes of memory" in readme


def test_a_fragment_is_named_after_its_change_and_its_kind() -> None:
    for path in (ROOT / "changelog.d").iterdir():
        if path.name != "README.md":
            assert re.fullmatch(r"[a-z0-9-]+\.(added|changed|fixed|removed)\.md", path.name), path.name


def test_the_changes_begin_with_this_version() -> None:
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGES.md").read_text("utf-8"), flags=re.MULTILINE)
    assert headings[0] == __version__
