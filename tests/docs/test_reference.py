"""The reference describes exactly what the code has."""

from __future__ import annotations

import re
from ast import literal_eval
from pathlib import Path

import pytest

import scrapy_simhash
from scrapy_simhash import Reason, Status, Verdict, names
from scrapy_simhash.config import DEFAULTS, setting_name, setting_names
from scrapy_simhash.crawl.marks import ASKED
from scrapy_simhash.files.batch.page import MARKS
from scrapy_simhash.judge.policy import Protection
from scrapy_simhash.observers.changes import Change
from tests.docs.reader import DOCS, ROOT, TEXTS, entries

REFERENCE = DOCS / "reference"
RESULTS = REFERENCE / "results.rst"
META = {names.META, names.META_RESULT}
STATS = {value for name, value in vars(names).items() if name.startswith("STAT_")}
#: Reasons of revisits.
REVISITS = {
    *(Reason.UNCHANGED, Reason.SMALL_CHANGE),
    *(Reason.CHANGED, Reason.NOW_NEAR_DUPLICATE),
}


def values_of(prefix: str) -> set[str]:
    return {value.rpartition("/")[2] for name, value in vars(names).items() if name.startswith(prefix)}


#: Reasons for skipping a page that are counted.
SKIPPED = set(Reason) - REVISITS - {Reason.NO_CALLBACK, Reason.STORE}
PROTECTED = {reason.value for reason in Protection}
#: Stats with a variable part: its name and values.
SEVERAL = {
    names.STAT_SKIPPED: ("reason", {reason.value for reason in SKIPPED}),
    names.STAT_REVISITS: ("reason", {reason.value for reason in REVISITS}),
    names.STAT_PROTECTED: ("reason", PROTECTED),
    names.STAT_CHANGES: ("change", {change.value for change in Change}),
    names.STAT_DROPPED: ("what", {"pages", "items", "requests"}),
    names.STAT_WAITING: ("what", {"items", "dropped", "delivered", "requests", "beyond_limit"}),
    names.STAT_BY_LEARNING: ("status", {"new", "near_duplicates"}),
    names.STAT_ITEMS: ("status", values_of("ITEMS_")),
    names.STAT_ERRORS: ("where", values_of("ERRORS_")),
}
#: Stats that also have a sum.
SUMS = {names.STAT_REVISITS}
#: Environment variables of tests and benchmarks.
ENVIRONMENT = {"SIMHASH_EVAL_PACK"}


def named(pattern: str, text: str) -> set[str]:
    return {match[0] for match in re.finditer(pattern, text)}


def test_every_setting_has_an_entry_with_its_default_in_the_order_of_the_table() -> None:
    text = (REFERENCE / "settings.rst").read_text("utf-8")
    found = re.findall(r"^(SIMHASH_\w+)\n-{3,}\n+:Default: ``(.+)``$", text, flags=re.MULTILINE)
    assert [(name, literal_eval(value)) for name, value in found] == [
        (setting_name(name), value) for name, value in DEFAULTS.items()
    ]


def test_the_entries_are_exactly_the_meta_keys() -> None:
    page = RESULTS
    titles = re.findall(r"^``(\w+)``\n---", page.read_text("utf-8"), flags=re.MULTILINE)
    assert titles == [names.META, names.META_RESULT]
    result = [*Verdict(Status.NEW).to_dict(), "action", "dropped_as", "protected", "change"]
    values = {value.value for values in (Status, Reason, Protection) for value in values}
    documented = {name: text for name, text in entries(page).items() if name not in META and "/" not in name}
    assert list(documented)[: len({*ASKED, *result})] == [*dict.fromkeys([*ASKED, *result])]
    assert set(documented) == {*ASKED, *result} | values
    assert all(documented.values())


def test_the_entries_are_exactly_the_stats() -> None:
    documented = {name: text for name, text in entries(RESULTS).items() if "/" in name}
    several = {f"{stat}/<{what}>" for stat, (what, _) in SEVERAL.items()}
    assert set(documented) == STATS - set(SEVERAL) | several | SUMS
    assert all(documented.values())
    assert len(documented) <= 32


def test_the_api_page_has_exactly_the_public_names() -> None:
    text = (REFERENCE / "python.rst").read_text("utf-8")
    shown = re.findall(r"^\.\. auto(?!module)\w+:: scrapy_simhash\.(\w+)$", text, flags=re.MULTILINE)
    assert sorted(shown) == sorted(scrapy_simhash.__all__)


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_all_settings_stats_and_meta_keys_in_the_docs_exist(page: Path) -> None:
    lines = page.read_text("utf-8").splitlines()
    # Messages about unknown settings, and tables of removed settings, are exceptions.
    is_change = page.suffix == ".md" and page.parent.name in ("changelog.d", ROOT.name)
    said = (line for line in lines if "did you mean" not in line)
    text = "\n".join(line for line in said if not (is_change and line.startswith("| ")))
    assert named(r"\bSIMHASH_[A-Z_]*[A-Z]", text) <= set(setting_names()) | ENVIRONMENT
    assert named(r"(?<![\w./-])simhash/[a-z_]+(?:/[a-z0-9_]+)?", text) <= STATS | {
        f"{stat}/{value}" for stat, (_, values) in SEVERAL.items() for value in values
    }
    assert named(r"(?<![\w./-])simhash_[a-z_]+", text) <= META | set(MARKS)
