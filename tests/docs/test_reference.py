"""What the code has, the reference pages describe, and the other way round."""

from __future__ import annotations

import ast
import re
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

import pytest

import scrapy_simhash
from scrapy_simhash import Config, Reason, Status, exceptions, names
from scrapy_simhash.config import PREFIX, setting_names
from scrapy_simhash.judge.policy import Exemption
from scrapy_simhash.observers.changes import Change
from scrapy_simhash.observers.floods import Kind
from tests.docs.reader import DOCS, ROOT, TEXTS, entries, sections

REFERENCE = DOCS / "reference"
META = {value for name, value in vars(names).items() if name.startswith("META_") and name != "META_OUT"}
FIELDS = {value for name, value in vars(names).items() if name.startswith("FIELD_")}
STATS = {value for name, value in vars(names).items() if name.startswith("STAT_")}
#: How a page has fared that was seen before.
FATES = {
    *(Reason.UNCHANGED, Reason.DELIVERED, Reason.SMALL_CHANGE),
    *(Reason.CHANGED, Reason.NOW_NEAR_DUPLICATE),
}
#: Why a page may be skipped, if it is counted.
SKIPPED = set(Reason) - FATES - {Reason.NO_CALLBACK, Reason.STORE}
EXEMPTIONS = {reason.value for reason in Exemption}
BY_REASON = {
    names.STAT_SKIPPED: {f"{names.STAT_SKIPPED}/{reason.value}" for reason in SKIPPED},
    names.STAT_REVISITS: {f"{names.STAT_REVISITS}/{reason.value}" for reason in FATES},
    names.STAT_EXEMPTED: {f"{names.STAT_EXEMPTED}/{reason}" for reason in EXEMPTIONS},
    names.STAT_FLOODS: {f"{names.STAT_FLOODS}/{kind.value}" for kind in Kind},
    names.STAT_CHANGES: {f"{names.STAT_CHANGES}/{change.value}" for change in Change},
}
BY_WHAT = {names.STAT_FLOODS: "kind", names.STAT_CHANGES: "change"}
#: Functions of SQL.
SQL = {"simhash_distance", "simhash_near"}
#: Begins with SIMHASH_ and is read by tests and benchmarks, not by a crawl.
ENVIRONMENT = {"SIMHASH_EVAL_PACK"}


def named(pattern: str, text: str) -> set[str]:
    return {match[0] for match in re.finditer(pattern, text)}


def test_every_setting_has_an_entry_and_there_is_no_other() -> None:
    assert sorted(sections(REFERENCE / "settings.rst")) == list(setting_names())


def test_the_overview_has_every_setting_with_its_default_in_the_order_of_the_entries() -> None:
    text = (REFERENCE / "settings.rst").read_text("utf-8")
    overview = text[: text.index("SIMHASH_ENABLED\n---")]
    rows = re.findall(r"^    \* - ``(\w+)``\n      - ``(.+)``\n      - (.+)$", overview, flags=re.MULTILINE)
    defaults = {PREFIX + field.name.upper(): field.default for field in fields(Config)}
    assert {name: ast.literal_eval(default) for name, default, _ in rows} == defaults
    assert [name for name, _, _ in rows] == list(sections(REFERENCE / "settings.rst"))


@pytest.mark.parametrize("field", fields(Config), ids=lambda field: field.name)
def test_the_entry_of_a_setting_names_type_default_unit_and_effect_and_shows_an_example(
    field: Field[Any],
) -> None:
    setting = PREFIX + field.name.upper()
    entry = sections(REFERENCE / "settings.rst")[setting]
    told = dict(re.findall(r"^:(\w+): (.+)$", entry, flags=re.MULTILINE))
    assert list(told) == ["Type", "Default", "Unit", "Effect"]
    assert ast.literal_eval(told["Default"].strip("`")) == field.default
    assert told["Type"] == str(field.type).replace(" | ", " or ")
    assert f"\n    {setting} = " in entry


def test_every_meta_key_has_an_entry_and_there_is_no_other() -> None:
    documented = entries(REFERENCE / "meta.rst")
    values = {value.value for values in (Status, Reason, Exemption) for value in values}
    assert set(documented) == META | values
    assert all(documented.values())


def test_every_stat_has_an_entry_and_there_is_no_other() -> None:
    documented = entries(REFERENCE / "stats.rst")
    by_reason = {f"{stat}/<{BY_WHAT.get(stat, 'reason')}>" for stat in BY_REASON}
    # Of some there is no sum.
    assert set(documented) - by_reason == STATS - set(BY_REASON) | {names.STAT_REVISITS}
    assert by_reason <= set(documented)
    assert all(documented.values())


@pytest.mark.parametrize("stat", BY_REASON)
def test_the_stats_by_reason_are_those_of_the_reasons_that_are_counted(stat: str) -> None:
    entry = entries(REFERENCE / "stats.rst")[f"{stat}/<{BY_WHAT.get(stat, 'reason')}>"]
    assert named(rf"{stat}/\w+", entry) == BY_REASON[stat]


def test_the_tree_of_errors_is_drawn_as_it_is() -> None:
    page = sections(REFERENCE / "signals-and-exceptions.rst")["Exceptions"]
    drawn = re.findall(r"^ +[\u2500-\u257f ]*(\w+) {2,}\S", page, flags=re.MULTILINE)
    errors = [
        error
        for error in vars(exceptions).values()
        if isinstance(error, type) and issubclass(error, Exception)
    ]
    raised = [
        scrapy_simhash.NearDuplicate,
        scrapy_simhash.NearDuplicateItem,
        scrapy_simhash.NearDuplicatePageItem,
        scrapy_simhash.RequestNotDue,
        scrapy_simhash.RequestSkipped,
        scrapy_simhash.UnchangedPageItem,
    ]
    assert sorted(drawn) == sorted(error.__name__ for error in [*errors, *raised])


def test_the_flag_is_described() -> None:
    described = sections(REFERENCE / "log-and-flags.rst")["The flag"]
    for flag in (names.FLAG, names.FLAG_NOT_MODIFIED, names.FLAG_NOT_DUE):
        assert f"``{flag}``" in described


def test_every_public_name_is_in_the_api_and_there_is_no_other() -> None:
    text = (REFERENCE / "python.rst").read_text("utf-8")
    shown = re.findall(r"^\.\. auto(?!module)\w+:: scrapy_simhash\.(\w+)$", text, flags=re.MULTILINE)
    assert sorted(shown) == sorted(scrapy_simhash.__all__)


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_no_setting_stat_or_meta_key_that_does_not_exist(page: Path) -> None:
    lines = page.read_text("utf-8").splitlines()
    # The message about a setting that there is not shows one.
    text = "\n".join(line for line in lines if "did you mean" not in line)
    assert named(r"\bSIMHASH_[A-Z_]*[A-Z]", text) <= set(setting_names()) | ENVIRONMENT
    assert named(r"(?<![\w./-])simhash/[a-z_]+(?:/[a-z0-9_]+)?", text) <= STATS.union(*BY_REASON.values())
    assert named(r"(?<![\w./-])simhash_[a-z_]+", text) <= META | FIELDS | SQL
