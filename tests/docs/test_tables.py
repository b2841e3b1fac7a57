"""The program for tables of pandas, polars and Arrow is run as it stands."""

from __future__ import annotations

from typing import Any

import pytest

from tests.docs.reader import DOCS, blocks
from tests.files.batch.test_run import OTHER, STORY, record

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
    (block,) = (one for one in blocks(DOCS / "how-to" / "pages-on-disk.rst", "python") if one.caption)
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
