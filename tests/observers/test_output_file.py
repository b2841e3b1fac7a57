"""The file that a setting names, and a check that nothing else writes to it."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scrapy_simhash import SettingError
from scrapy_simhash.observers.output_file import output_path, path_of
from tests.stand_in import stand_in

SPIDER = SimpleNamespace(name="news", edition=7)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("report.jsonl", "report.jsonl"),
        ("out/%(name)s.jsonl", "out/news.jsonl"),
        ("%(edition)s-%(name)s", "7-news"),
        ("100%%-%(name)s", "100%-news"),
        ("%%(name)s", "%(name)s"),
    ],
)
def test_a_path_has_the_placeholders_of_feeds(template: str, expected: str) -> None:
    assert path_of(template, SPIDER, "SIMHASH_REPORT").as_posix() == expected


def test_the_time_of_a_path_has_no_colons() -> None:
    path = path_of("%(name)s/%(time)s.jsonl", SPIDER, "SIMHASH_REPORT").as_posix()
    assert re.fullmatch(r"news/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\+00-00\.jsonl", path)


@pytest.mark.parametrize("template", ["%(nmae)s", "%s", "100%", "%(name)d", "%(name)", "%(na me)s"])
def test_any_other_place_is_refused(template: str) -> None:
    message = (
        "SIMHASH_REPORT must not contain % except in %%, %(time)s, and %(...)s with an attribute of the spider,"
        f" got {template!r}"
    )
    with pytest.raises(SettingError, match=f"^{re.escape(message)}$"):
        path_of(template, SPIDER, "SIMHASH_REPORT")


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    assert path_of("~/report.jsonl", SPIDER, "SIMHASH_REPORT") == tmp_path / "report.jsonl"


@pytest.mark.parametrize("other", ["FEEDS", "-o", "LOG_FILE", "SIMHASH_REPORT", "SIMHASH_CHANGES"])
@pytest.mark.parametrize("setting", ["SIMHASH_REPORT", "SIMHASH_CHANGES"])
def test_a_file_to_which_the_crawl_already_writes_is_refused(
    other: str, setting: str, tmp_path: Path
) -> None:
    path, link = tmp_path / "stand-in.jsonl", tmp_path / "link.jsonl"
    path.write_text("of yesterday\n")
    link.symlink_to(path)
    crawler = stand_in()
    feed: dict[str, Any] = {"format": "jsonlines"}
    values: dict[str, Any] = {
        "FEEDS": {str(tmp_path / "%(name)s.jsonl"): feed},
        "-o": {path.as_uri(): feed},
    }
    crawler.settings.set("FEEDS" if other == "-o" else other, values.get(other, str(path)))
    if setting == other:
        assert output_path(str(link), crawler, setting) == link
        return
    with pytest.raises(SettingError, match=f"^{setting} must be a separate file: "):
        output_path(str(link), crawler, setting)


def test_several_outputs_may_write_to_a_terminal() -> None:
    crawler = stand_in()
    crawler.settings.set("LOG_FILE", "/dev/null")
    assert output_path("/dev/null", crawler, "SIMHASH_REPORT") == Path("/dev/null")
