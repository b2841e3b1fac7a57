"""dedup, fingerprint, text and compare: damaged inputs, and the same results as in Python."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from scrapy import version_info

from scrapy_simhash import PageFingerprinter
from tests.cli.conftest import Places
from tests.cli.example_files import FERRY, html
from tests.commands import Cli
from tests.crawls.site import Answer, serve
from tests.files.batch.test_run import OTHER, STORY, record
from tests.golden.texts import TEXTS

# --- dedup.


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Four pages, the second a copy of the first, the fourth equal to the third; and an invalid line."""
    path = tmp_path / "small.jsonl"
    records = [record("a", STORY), record("b", STORY), record("c", OTHER), record("c", OTHER)]
    lines = [json.dumps({"url": one.url, "html": one.page, "id": at}) for at, one in enumerate(records)]
    path.write_text("\n".join([lines[0], "oops", *lines[1:]]) + "\n", "utf-8")
    return path


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_pages_are_written_unchanged_and_all_outputs_are_consistent(
    small: Path, tmp_path: Path, cli: Cli
) -> None:
    out, clusters, report = (tmp_path / name for name in ("out.jsonl", "clusters.jsonl", "report.jsonl"))
    status, said, errors = cli.ended(
        "dedup", small, "-o", out, "--clusters", clusters, "--report", report, "--json"
    )
    assert (status, json.loads(said)["kept"]) == (0, 2)
    counts = "records: 5, kept: 2, near-duplicates: 1, repeated: 1, broken: 1\n"
    assert errors == f"warning: {small}:2: not JSON\n{counts}"
    given = small.read_text("utf-8").splitlines()
    assert out.read_text("utf-8").splitlines() == [given[0], given[3]]
    urls = ["https://example.com/a", "https://example.com/b"]
    assert lines_of(clusters) == [{"cluster": 0, "members": urls, "preferred": urls[0]}]
    assert [line["status"] for line in lines_of(report)] == ["new", "near_duplicate", "new", "revisit"]
    assert "is a near-duplicate of" in cli("report", report, "--url", urls[1])
    assert "Pairs of pages" in cli("tune", report)
    # Without an output, each dropped page is shown with its original.
    c = "https://example.com/c"
    assert cli.ended("dedup", small)[1] == f"{urls[1]} -> {urls[0]}\n{c} -> {c}\n"


def test_pages_are_compared_with_a_store_without_changing_it(
    small: Path, tmp_path: Path, cli: Cli, places: Places
) -> None:
    store, first = places.new(), tmp_path / "first.jsonl"
    given = [line for line in small.read_text("utf-8").splitlines() if line != "oops"]
    first.write_text(given[0] + "\n", "utf-8")
    cli("import", store, first)
    for processes in (1, 2):
        options = ["--against", store, "--processes", processes, "-o", "-"]
        found = [json.loads(line) for line in cli.ended("dedup", small, *options, "--mark")[1].splitlines()]
        marks = [(one["simhash_kept"], one["simhash_status"], one["simhash_duplicate_of"]) for one in found]
        assert marks == [
            (False, "revisit", None),
            (False, "near_duplicate", "https://example.com/a"),
            (True, "new", None),
            (False, "revisit", None),
        ]
    assert cli.json("info", store)["pages"] == 1
    assert cli.ended("dedup", small, "--against", store, "--clusters", "-")[1] == ""


def test_the_readable_part_of_a_truncated_file_is_written_and_the_status_is_1(
    small: Path, tmp_path: Path, cli: Cli
) -> None:
    cut, out = tmp_path / "cut.jsonl", tmp_path / "out.jsonl"
    cut.write_bytes(small.read_bytes()[:-40])
    status, said, errors = cli.ended("dedup", cut, "-o", out, "--processes", 2)
    assert (status, said) == (1, "")
    assert [line["id"] for line in lines_of(out)] == [0, 2]
    assert "warning: a file could not be read to the end" in errors


@pytest.mark.skipif(version_info < (2, 19), reason="Scrapy before 2.19 detects no encoding")
def test_copies_without_a_declared_encoding_are_found_as_in_a_crawl(tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    for name, encodings in (("ru", ("cp1251", "koi8-r")), ("ja", ("shift_jis", "euc_jp"))):
        page = f"<title>1</title><h1>5</h1><p>{TEXTS[name]}</p>"
        (folder / f"{name}-0.html").write_text(f"<meta charset=utf-8>{page}", "utf-8")
        for encoding in encodings:
            (folder / f"{name}-{encoding}.html").write_bytes(page.encode(encoding))
    status, _, errors = cli.ended("dedup", folder, "-o", os.devnull)
    assert (status, errors) == (0, "records: 6, kept: 2, near-duplicates: 4\n")


# --- fingerprint.


@pytest.mark.parametrize("scheme", ["web", "moz", "tests.page.schemes.own.LONG"])
def test_fingerprints_are_the_same_as_in_python(scheme: str, small: Path, tmp_path: Path, cli: Cli) -> None:
    fingerprinter = PageFingerprinter(scheme=scheme)
    given = [json.loads(line) for line in small.read_text("utf-8").splitlines() if line != "oops"]
    expected = [fingerprinter.read(page["html"], url=page["url"]).fingerprint for page in given]
    options = [small, "-s", f"SIMHASH_SCHEME={scheme}"]
    found = [json.loads(line) for line in cli.ended("fingerprint", *options)[1].splitlines()]
    assert [line["fingerprint"] for line in found] == [one and one.hex for one in expected]
    hashes = cli.ended("fingerprint", *options, "--hashes")[1]
    assert hashes.splitlines() == [f"0x{one.hex}" for one in expected if one]
    if scheme == "web":
        (tmp_path / "hashes.txt").write_text(hashes, "ascii")
        values = [one.value for one in expected if one]
        assert json.loads(cli("find", tmp_path / "hashes.txt", "--clusters").splitlines()[0]) in (
            [values[0]] * 2,
            [values[2]] * 2,
        )
    status, _, errors = cli.ended("dedup", *options)
    assert ("must have at most 64 bits" in errors) is scheme.endswith("LONG") is (status == 2)


# --- compare.

FIRST = f"{FERRY} it go."


def test_a_url_is_fetched_and_decoded_by_its_content_type_header(tmp_path: Path, cli: Cli) -> None:
    body = html(f"{FIRST} Fähre.")
    (tmp_path / "a.html").write_text(body, "utf-8")
    with serve({"/ferry": Answer(body.encode("latin-1"), content_type="text/html; charset=latin-1")}) as site:
        found = cli.json("compare", site.url("/ferry"), tmp_path / "a.html")
        assert (found["is_same_text"], found["pages"][0]["page"]) == (True, site.url("/ferry"))
        message = f"cannot fetch {site.url('/none')}: HTTP Error 404: Not Found"
        assert cli.fails("compare", site.url("/none"), site.url("/none")) == (1, message)
