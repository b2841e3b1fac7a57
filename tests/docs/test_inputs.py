"""Commands and programs of the pages about kinds of input run as they stand, on pages of that kind."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.cli.main import main
from scrapy_simhash.files.records import Record, open_writer
from tests.crawls.site import article
from tests.docs.reader import DOCS, blocks
from tests.files.batch.test_run import OTHER, STORY, record

PAGE = DOCS / "how-to" / "stored-pages.rst"
URLS = ["https://example.com/news/a", "https://example.com/news/a-print", "https://example.com/news/b"]
PAGES = [article(1), article(1, before="<nav><a href='/'>Print this page</a></nav>"), article(2)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the same pages in each kind of input."""
    monkeypatch.chdir(tmp_path)
    for name in ("crawl.warc.gz", "pages.parquet", "pages.jsonl"):
        if name == "pages.parquet":
            pytest.importorskip("pyarrow")
        with open_writer(name) as writer:
            for url, page in zip(URLS, PAGES, strict=True):
                writer.write(Record(url, page, "made:1"))
    for url, page in zip(URLS, PAGES, strict=True):
        path = tmp_path / "archive" / url.removeprefix("https://")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, "utf-8")
    return tmp_path


@pytest.mark.parametrize("name", ["crawl.warc.gz", "pages.parquet", "archive"])
def test_every_command_of_the_page_runs_and_drops_the_copy(
    name: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shown = "".join(block.text for block in blocks(PAGE, "console"))
    commands = re.findall(r"^\$ scrapy-simhash (.*)$", shown, flags=re.MULTILINE)
    named = [command for command in commands if name in shlex.split(command)]
    assert named
    for command in named:
        assert main(shlex.split(command)) == 0, command
        said = capfd.readouterr()
        if command.startswith("dedup"):
            assert said.err.startswith("records: 3, kept: 2, near-duplicates: 1"), command
            if "--clusters -" in command:
                assert json.loads(said.out.splitlines()[0])["members"] == URLS[:2]
        else:
            assert said.out.startswith("pages: 3, new: 2, near-duplicates: 1, ")


# --- Tables of pandas, polars and Arrow.


RECORDS = [record("a", STORY), record("b", STORY), record("c", OTHER)]
#: The last row has no page.
COLUMNS = {
    "url": [*(each.url for each in RECORDS), "https://example.com/none"],
    "html": [*(each.page for each in RECORDS), None],
    "id": [1, 2, 3, 4],
}


@pytest.fixture(scope="module")
def program() -> dict[str, Any]:
    for package in ("pandas", "polars", "pyarrow"):
        pytest.importorskip(package)
    (block,) = (one for one in blocks(PAGE, "python") if one.caption)
    names: dict[str, Any] = {}
    exec(compile(block.text, str(block.caption), "exec"), names)
    return names


def test_a_frame_of_pandas_loses_the_rows_that_repeat_others(program: dict[str, Any]) -> None:
    frame = program["pandas"].DataFrame(COLUMNS)
    for page in (None, float("nan")):
        frame.loc[3, "html"] = page
        assert program["unique_pandas"](frame.set_index("url", drop=False))["id"].tolist() == [1, 3]


def test_a_frame_of_polars_gets_the_verdicts(program: dict[str, Any]) -> None:
    marked = program["marked_polars"](program["polars"].DataFrame(COLUMNS))
    assert marked["simhash_kept"].to_list() == [True, False, True]
    assert marked["simhash_duplicate_of"].to_list() == [None, RECORDS[0].url, None]


def test_a_table_of_arrow_loses_the_rows_that_repeat_others(program: dict[str, Any]) -> None:
    unique = program["unique_arrow"](program["pyarrow"].table(COLUMNS))
    assert unique["id"].to_pylist() == [1, 3]
