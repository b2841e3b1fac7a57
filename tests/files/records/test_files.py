"""Files and folders: formats by file extension, the URLs of pages, compression, other file systems."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from scrapy_simhash.exceptions import FileError, KindError
from scrapy_simhash.files.records import Broken, read, reading
from scrapy_simhash.files.records.opening import STEP
from tests.files.records.pages import FERRY, endings, found, packed, pages, reasons

LINE = b'{"url": "https://example.com/line", "html": "<p>In a line."}\n'
PICTURE = b"\x89PNG\r\n\x1a\n\x00\x00"


def tree(folder: Path, files: dict[str, bytes | str]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


# --- Formats.


def test_the_extension_of_a_name_is_the_format_unless_a_format_is_given(tmp_path: Path) -> None:
    array = b"[" + LINE.strip() + b"]"
    tree(
        tmp_path,
        {"a.JSONL": LINE, "b.json": array, "c": LINE, "d.html": LINE, "e.csv": "url,html\na:b,<p>\n"},
    )
    for name in ("a.JSONL", "b.json"):
        assert [url for url, _ in pages(tmp_path / name)] == ["https://example.com/line"]
    assert pages(tmp_path / "d.html") == [((tmp_path / "d.html").as_uri(), LINE)]
    assert len(pages(tmp_path / "e.csv")) == 1
    for name in ("c", "d.html"):
        assert len(list(read([tmp_path / name], kind="jsonl"))) == 1
    with pytest.raises(KindError, match="the format must be one of jsonl, json, csv"):
        read([tmp_path / "c"], kind="zip")


def test_a_single_path_or_a_table_is_not_a_list_of_inputs() -> None:
    inputs: Any
    for inputs in ("pages.jsonl", Path("pages.jsonl"), type("DataFrame", (), {"columns": ["url"]})()):
        with pytest.raises(TypeError, match="the inputs must be a list of paths or streams, got a "):
            read(inputs)


# --- Folders and URLs.


def test_a_folder_is_read_in_order_of_names_and_other_files_are_skipped(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "b/one.html": "<p>1",
            "a/two": FERRY,
            "z.htm": "3",
            "lines.jsonl": LINE,
            "boat.png": PICTURE,
            "boat.html": PICTURE,
            "feed.xml": "<?xml version='1.0'?><rss>",
            "style.css": "p {}",
            "answer.json": '[{"price": 7}]',
            "wide": "<html>Лоцман".encode("utf-16"),
            "example.com/about": "<!DOCTYPE html>",
            "example.com/index.html?add-to-cart=1": "<p>",
            "example.com/notes": "Said without a tag",
            ".hidden.html": "<p>",
            ".git/page.html": "<p>",
            "empty": "",
        },
    )
    records = read([tmp_path])
    assert [one.place.removeprefix(f"{tmp_path}/") for one in records] == [
        "lines.jsonl:1",
        "wide",
        "z.htm",
        "a/two",
        "b/one.html",
        "example.com/about",
        "example.com/index.html?add-to-cart=1",
    ]
    assert records.passed_over == {"not HTML": 7}
    urls = [url for url, _ in pages(tmp_path / "example.com")]
    assert urls == ["https://example.com/about", "https://example.com/?add-to-cart=1"]


@pytest.mark.parametrize("name", ["page.html", "page.html.gz"])
def test_a_page_that_is_too_large_before_or_after_decompression_is_not_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LIMIT", 100_000)
    page = b"<p>" + b"x" * 3_000_000
    (tmp_path / name).write_bytes(packed(".gz", page) if name.endswith("gz") else page)
    (broken,) = found(tmp_path / name)
    assert isinstance(broken, Broken)


# --- Compression.


@pytest.mark.parametrize("ending", endings())
def test_a_file_is_decompressed_by_its_extension(ending: str, tmp_path: Path) -> None:
    for name, content, url in (
        (f"lines.jsonl{ending}", LINE, "https://example.com/line"),
        (f"page.html{ending}", b"no tag", (tmp_path / f"page.html{ending}").as_uri()),
    ):
        (tmp_path / name).write_bytes(packed(ending, content))
        assert [found_url for found_url, _ in pages(tmp_path / name)] == [url]
    # Two concatenated streams count as one.
    (tmp_path / f"two.jsonl{ending}").write_bytes(packed(ending, LINE) * 2)
    assert len(pages(tmp_path / f"two.jsonl{ending}")) == 2
    (tmp_path / f"none.jsonl{ending}").write_bytes(LINE)
    (reason,) = reasons(tmp_path / f"none.jsonl{ending}")
    assert reason.startswith(f" the {ending[1:]} data is damaged: ")


@pytest.mark.parametrize("ending", endings())
def test_compressed_data_is_read_up_to_a_damaged_part(ending: str, tmp_path: Path) -> None:
    noise = Random(3)
    # bz2 has blocks of 900 kB; the first one must be complete.
    number = 14_000 if ending == ".bz2" else 3_000
    lines = b"".join(LINE[:-3] + noise.randbytes(30).hex().encode() + b'"}\n' for _ in range(number))
    whole = packed(ending, lines)
    path = tmp_path / f"lines.jsonl{ending}"
    path.write_bytes(whole[: len(whole) * 2 // 3])
    records = found(path)
    assert len(records) > 500
    name = ending[1:]
    assert [one for one in records if isinstance(one, Broken)] == [
        Broken(str(path), f"the {name} data ends too early", is_rest=True)
    ]
    damaged = bytearray(whole)
    for at in range(len(whole) * 3 // 4, len(whole) * 3 // 4 + 200):
        damaged[at] ^= 0x5A
    path.write_bytes(damaged)
    assert any(name in reason or "JSON" in reason for reason in reasons(path))


@pytest.mark.parametrize(
    ("name", "modules"),
    [
        ("pages.jsonl.zst", ["compression.zstd", "backports.zstd"]),
        ("pages.parquet", ["pyarrow", "pyarrow.parquet"]),
        ("pages.warc", ["warcio.archiveiterator"]),
        ("memory://pages.jsonl", ["fsspec"]),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    name: str, modules: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    path = name if "://" in name else str(tmp_path / name)
    if "://" not in name:
        Path(path).write_bytes(b"\x28\xb5\x2f\xfd" + bytes(STEP))
    with pytest.raises(KindError, match=rf" needs {modules[-1]}: pip install 'scrapy-simhash\[files\]'$"):
        found(path)


# --- Other file systems.


@pytest.fixture
def memory() -> Any:
    """An empty fsspec file system in memory."""
    system = pytest.importorskip("fsspec").filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


def test_files_folders_and_patterns_of_another_file_system_are_read(memory: Any) -> None:
    memory.pipe("/saved/example.com/a.html", FERRY.encode())
    memory.pipe("/saved/lines.jsonl.gz", packed(".gz", LINE))
    memory.pipe("/saved/boat.png", PICTURE)
    assert pages("memory://saved/lines.jsonl.gz") == [("https://example.com/line", "<p>In a line.")]
    assert pages("memory://saved") == [
        ("https://example.com/a.html", FERRY.encode()),
        ("https://example.com/line", "<p>In a line."),
    ]
    assert len(pages("memory://saved/*.gz")) == 1
    with pytest.raises(FileError, match=r"^cannot read memory://none.jsonl: No such file or directory$"):
        read(["memory://none.jsonl"])
    with pytest.raises(KindError, match=r"^cannot read nonsense://a.jsonl: Protocol not known: nonsense"):
        read(["nonsense://a.jsonl"])
