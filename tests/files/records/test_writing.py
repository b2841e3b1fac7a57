"""Writers: written records are read back unchanged; outputs are complete or absent."""

from __future__ import annotations

import json
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_simhash.exceptions import FileError, KindError
from scrapy_simhash.files.records import Broken, Record, open_writer, read
from tests.examples import examples
from tests.files.records.pages import FERRY, LONG, PILOT, URL, endings

MARKS: dict[str, type] = {
    "simhash_status": str,
    "simhash_distance": int,
    "simhash_similarity": float,
    "simhash_kept": bool,
}
VALUES: dict[str, Any] = {
    "simhash_status": "near_duplicate",
    "simhash_distance": 3,
    "simhash_similarity": None,
    "simhash_kept": True,
}


ENDINGS = [".jsonl", ".csv", *([".warc"] if find_spec("warcio") else [])]
PACKED = [f"{ending}{compression}" for ending, compression in product(ENDINGS, endings())]
ENDINGS += [".parquet"] if find_spec("pyarrow") else []


def write(path: Path | str, records: list[Record], marks: bool = False) -> None:
    with open_writer(path, MARKS if marks else None) as writer:
        for record in records:
            writer.write(record, VALUES if marks else None)


def again(path: Path | str) -> list[Record]:
    records = list(read([path]))
    assert [one for one in records if isinstance(one, Broken)] == []
    return [one for one in records if isinstance(one, Record)]


def said(record: Record) -> tuple[str, str, bool]:
    """Return the parts of a record that every format stores: URL, page as text, and whether it is plain text."""
    page = record.page if isinstance(record.page, str) else record.page.decode("utf-8-sig")
    return record.url, page, record.is_text


NAMES = st.text("abcdefghijklmnopqrstuvwxyzäжあ0123456789-_", min_size=1, max_size=9)
# Without lone surrogates, and without carriage returns, which survive in JSON but not in a page.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\r\ufeff"), max_size=60)


def made(name: str, text: str, seen: int, is_bytes: bool) -> Record:
    page = f"<p>{text}"
    return Record(
        f"https://example.com/{name}",
        page.encode() if is_bytes else page,
        "made:1",
        content_type="text/html; charset=utf-8",
        seen=seen,
    )


RECORDS = st.lists(
    st.builds(made, NAMES, TEXTS, st.integers(0, 2**33), st.booleans()),
    min_size=1,
    max_size=5,
    unique_by=lambda record: record.url.lower(),
)


@pytest.mark.parametrize("ending", [*ENDINGS, *PACKED])
@settings(max_examples=examples(10), deadline=None)
@given(RECORDS, st.booleans())
def test_written_records_are_read_back(ending: str, records: list[Record], marks: bool) -> None:
    with TemporaryDirectory() as folder:
        write(f"{folder}/out{ending}", records, marks)
        found = again(f"{folder}/out{ending}")
        names = [path.name for path in Path(folder).iterdir()]
    assert [said(one) for one in found] == [said(one) for one in records]
    assert [one.seen for one in found] == [one.seen for one in records]
    assert names == [f"out{ending}"]


def test_a_row_of_parquet_keeps_its_types(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    rows = pa.table(
        {
            "url": pa.array([f"{URL}/{at}" for at in range(200)]),
            "html": pa.array([FERRY] * 200, pa.large_string()),
            "price": pa.array([None, 1] * 100, pa.int16()),
            "at": pa.array([at * 10**9 + 7_007 for at in range(200)], pa.timestamp("ns")),
            "tags": pa.array([["a"], []] * 100),
        }
    )
    pq.write_table(rows, tmp_path / "in.parquet")
    write(tmp_path / "out.parquet", again(tmp_path / "in.parquet")[::2])
    assert pq.read_table(tmp_path / "out.parquet").equals(rows.take(list(range(0, 200, 2))))
    write(tmp_path / "marked.parquet", again(tmp_path / "in.parquet"), marks=True)
    marked = pq.read_table(tmp_path / "marked.parquet")
    assert [(field.name, str(field.type)) for field in marked.schema][5:] == [
        ("simhash_status", "string"),
        ("simhash_distance", "int64"),
        ("simhash_similarity", "double"),
        ("simhash_kept", "bool"),
    ]
    assert marked["simhash_similarity"].null_count == 200
    # Also values in JSON Lines for which JSON has no type.
    write(tmp_path / "out.jsonl", again(tmp_path / "in.parquet")[:1])
    assert json.loads((tmp_path / "out.jsonl").read_text("utf-8"))["at"] == "1970-01-01T00:00:00.000007"


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_record_of_an_archive_is_unchanged_and_its_result_follows_it(ending: str, tmp_path: Path) -> None:
    pytest.importorskip("warcio")
    made = [
        Record(f"{URL}/1", PILOT, "made:1", content_type="text/html; charset=koi8-r", content_language="ru"),
        Record(f"{URL}/2", "Said.", "made:2", is_text=True, seen=1_790_000_000),
    ]
    first, second, marked = (tmp_path / f"{name}.warc{ending}" for name in ("a", "b", "c"))
    write(first, made)
    write(second, again(first))
    assert first.read_bytes() == second.read_bytes()
    write(marked, again(first), marks=True)
    assert [(one.url, one.page, one.content_language) for one in again(marked)] == [
        (f"{URL}/1", PILOT, "ru"),
        (f"{URL}/2", "Said.", None),
    ]
    records = read([marked])
    list(records)
    assert not records.passed_over


def page(url: str) -> Record:
    return Record(url, f"<p>{url}", "made:1")


# --- Other file systems.


def test_an_output_in_another_file_system_appears_when_complete() -> None:
    system = pytest.importorskip("fsspec").filesystem("memory")
    system.store.clear()
    write("memory://out/pages.jsonl.gz", [page(URL)])
    assert [one.url for one in again("memory://out")] == [URL]

    def half() -> None:
        with open_writer("memory://out/half.jsonl") as writer:
            writer.write(page(URL))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    assert list(system.store) == ["/out/pages.jsonl.gz"]
    system.store.clear()
    with pytest.raises(KindError, match="Protocol not known: nonsense"):
        write("nonsense://out.jsonl", [])


# --- Complete or absent.


@pytest.mark.parametrize("ending", [*ENDINGS, *PACKED])
def test_an_exception_leaves_no_file(ending: str, tmp_path: Path) -> None:
    def half() -> None:
        with open_writer(f"{tmp_path}/out{ending}") as writer:
            writer.write(Record(URL, FERRY * 1_000, "made:1"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_logged(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full")
    for record in (page(URL), Record(URL, LONG, "made:1")):
        with pytest.raises(FileError, match=r"^cannot write /dev/full: No space left on device$"):
            write(full, [record] * 3)
