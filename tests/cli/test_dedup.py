"""dedup and fingerprint as they are called: what they write, what is left when they end early."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from scrapy import version_info

from scrapy_simhash import PageFingerprinter
from scrapy_simhash.cli.main import main
from scrapy_simhash.files.records import Broken, Record, open_writer, read
from tests.cli.conftest import Cli, Places
from tests.cli.test_main import posix_only
from tests.files.batch.pages import records_of
from tests.files.batch.test_run import OTHER, STORY, record


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def write_pages(path: Path, number: int, seed: int = 0) -> Path:
    lines = [
        "broken"
        if isinstance(each, Broken)
        else json.dumps({"url": each.url, "html": each.page, "place": each.place})
        for each in records_of(number, seed, broken=0.01)
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.jsonl"
    records = [record("a", STORY), record("b", STORY), record("c", OTHER), record("c", OTHER)]
    lines = [
        json.dumps({"url": each.url, "html": each.page, "id": number}) for number, each in enumerate(records)
    ]
    path.write_text("\n".join([lines[0], "oops", *lines[1:]]) + "\n", "utf-8")
    return path


def test_unique_pages_are_written_as_they_came_and_the_rest_is_counted(
    small: Path, tmp_path: Path, cli: Cli
) -> None:
    out, clusters, broken = (tmp_path / name for name in ("out.jsonl", "clusters.jsonl", "broken.jsonl"))
    arguments = ["dedup", str(small), "-o", str(out), "--clusters", str(clusters), "--broken", str(broken)]
    status, said, warned = cli.ended(*arguments)
    assert (status, said) == (0, "")
    assert warned == (
        f"warning: {small}:2: not JSON\nrecords: 5, kept: 2, near-duplicates: 1, repeated: 1, broken: 1\n"
    )
    given = small.read_text("utf-8").splitlines()
    assert out.read_text("utf-8").splitlines() == [given[0], given[3]]
    (cluster,) = lines_of(clusters)
    assert cluster == {
        "cluster": 0,
        "preferred": "https://example.com/a",
        "members": ["https://example.com/a", "https://example.com/b"],
    }
    assert lines_of(broken) == [{"place": f"{small}:2", "reason": "not JSON"}]
    assert {path.name for path in tmp_path.iterdir()} == {small.name, out.name, clusters.name, broken.name}


#: What has more than can be read, and how many pages are read of it.
CUT = {"warc.gz": 30, "warc": 30, "jsonl.gz": 30, "jsonl": 30, "parquet": 0}


def cut(folder: Path, kind: str) -> Path:
    """Return a file that ends in the middle."""
    whole, path = folder / f"whole.{kind}", folder / f"cut.{kind}"
    with open_writer(whole) as writer:
        for number in range(60):
            # Noise, so that it is not compressed in one step.
            text = f"<p>{Random(number).randbytes(20_000).hex()}</p>"
            writer.write(Record(f"https://example.com/{number}", f"<html>{STORY}{text}</html>", "page"))
    path.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    return path


@pytest.mark.parametrize("kind", CUT)
@pytest.mark.parametrize("processes", ["1", "2"])
def test_of_a_file_that_is_cut_what_was_read_is_written_and_the_status_tells(
    kind: str, processes: str, tmp_path: Path, cli: Cli
) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    out = tmp_path / f"out.{kind}"
    out.write_bytes(b"of yesterday")
    broken = tmp_path / "broken.jsonl"
    words = ["dedup", str(cut(tmp_path, kind)), "-o", str(out), "--mark", "--processes", processes]
    status, said, warned = cli.ended(*words, "--broken", broken)
    assert status == 1
    assert len(lines_of(broken)) == 1
    if CUT[kind]:
        assert abs(len(list(read([out]))) - CUT[kind]) <= 2
        assert warned.splitlines()[-2].startswith("warning: a file could not be read to its end")
        assert warned.splitlines()[-1].startswith("records: ")
    else:
        assert out.read_bytes() == b"of yesterday"
        assert said == ""
        assert warned.splitlines()[-1] == "scrapy-simhash: no page could be read"


@pytest.mark.parametrize("verb", ["dedup", "fingerprint", "dedup --against {}", "import {}"])
def test_if_no_page_can_be_read_nothing_is_written_and_the_status_is_1(
    verb: str, tmp_path: Path, small: Path, cli: Cli
) -> None:
    pages, out, store = tmp_path / "pages.jsonl", tmp_path / "out.jsonl", str(tmp_path / "store.sqlite")
    pages.write_bytes(b'{"url": "https://example.com/", "html": "\xff"}\n' * 20)
    out.write_bytes(b"of yesterday")
    assert cli.ended("import", store, small)[0] == 0
    words = [*verb.format(store).split(), pages]
    status, _, told = cli.ended(*words, *(["-o", out] if words[0] != "import" else []))
    assert (status, told.splitlines()[-1][:37]) == (1, "scrapy-simhash: no page could be read")
    assert out.read_bytes() == b"of yesterday"


def test_pages_go_to_standard_output_and_the_counts_to_standard_error(small: Path, cli: Cli) -> None:
    _, said, told = cli.ended("dedup", small)
    assert [json.loads(line)["id"] for line in said.splitlines()] == [0, 2]
    assert told.endswith("records: 5, kept: 2, near-duplicates: 1, repeated: 1, broken: 1\n")
    counts = json.loads(cli.ended("dedup", small, "--json", "-o", os.devnull)[2].splitlines()[-1])
    assert (counts["records"], counts["passed_over"]) == (5, 0)


def test_what_lacks_a_field_is_named_with_its_line_once_however_often_it_is_read(
    small: Path, tmp_path: Path, cli: Cli
) -> None:
    with small.open("a", encoding="utf-8") as file:
        file.write('{"url": "https://example.com/d"}\n')
    broken = tmp_path / "broken.jsonl"
    cli.ended("dedup", small, "--broken", broken, "--copies")
    assert sorted((line["place"], line["reason"]) for line in lines_of(broken)) == [
        (f"{small}:2", "not JSON"),
        (f"{small}:6", "no HTML and no text"),
    ]


@pytest.mark.parametrize("keep", ["first", "longest", "preferred"])
def test_pages_that_are_not_compared_are_in_no_cluster(keep: str, tmp_path: Path, cli: Cli) -> None:
    pages = tmp_path / "short.jsonl"
    lines = ({"url": f"https://example.com/{word}", "html": f"<p>{word}"} for word in ("one", "two"))
    pages.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert cli.ended("dedup", pages, "--keep", keep, "--clusters", "-")[1] == ""


def test_groups_go_to_standard_output_in_the_place_of_the_pages(small: Path, cli: Cli) -> None:
    (cluster,) = map(json.loads, cli.ended("dedup", small, "--clusters", "-")[1].splitlines())
    assert cluster["members"] == ["https://example.com/a", "https://example.com/b"]
    assert cli.fails("dedup", small, "--clusters", "-", "-o", "-") == (
        2,
        "--output and --clusters are both standard output: give one of them a file",
    )


@pytest.mark.parametrize("options", [[], ["--mark"], ["--keep", "preferred"], ["--protect"]], ids=str)
def test_kept_pages_say_how_many_they_stand_for(options: list[str], tmp_path: Path, cli: Cli) -> None:
    path = write_pages(tmp_path / "pages.jsonl", 400)
    _, said, told = cli.ended("dedup", path, "--copies", "--json", *options)
    counts, found = json.loads(told.splitlines()[-1]), [json.loads(line) for line in said.splitlines()]
    copies = [each["simhash_copies"] for each in found if each["simhash_copies"] is not None]
    assert len(copies) == counts["kept"]
    assert sum(copies) == counts["records"] - counts["broken"]
    assert min(copies) == 1 < max(copies)
    plain = json.loads(cli.ended("dedup", path, "--json", "-o", os.devnull, *options[:2])[2].splitlines()[-1])
    assert plain["kept"] == counts["kept"]


def test_an_output_of_no_known_kind_is_refused_before_anything_is_read(
    small: Path, tmp_path: Path, cli: Cli
) -> None:
    status, complaint = cli.fails("dedup", small, "-o", tmp_path / "out.zip")
    assert (status, "the name of an output must end in one of" in complaint) == (2, True)
    status, complaint = cli.fails("dedup", small, "-o", tmp_path / "none" / "out.jsonl")
    assert (status, complaint.startswith("cannot write ")) == (1, True)
    assert [path.name for path in tmp_path.iterdir()] == [small.name]


def test_an_input_gets_its_kind_from_the_format(small: Path, tmp_path: Path, cli: Cli) -> None:
    named = small.rename(tmp_path / "small.txt")
    status, complaint = cli.fails("dedup", named)
    assert (status, "--format must say the kind" in complaint) == (2, True)
    assert len(cli.ended("dedup", named, "--format", "jsonl")[1].splitlines()) == 2


def test_a_report_of_the_run_is_one_for_report_and_tune(small: Path, tmp_path: Path, cli: Cli) -> None:
    report = tmp_path / "report.jsonl"
    cli.ended("dedup", small, "--report", report, "-o", os.devnull)
    assert [line["status"] for line in lines_of(report)] == ["new", "near_duplicate", "new", "revisit"]
    assert "is a near-duplicate of" in cli("report", report, "--url", "https://example.com/b")
    counts = cli.json("report", report)
    assert (counts["pages"], counts["clusters"]) == (4, 1)
    assert "Pairs of pages" in cli("tune", report)
    assert cli.fails("dedup", small, "-o", report, "--report", report)[0] == 2


@posix_only
def test_a_terminal_shows_each_copy_and_its_original_in_the_place_of_pages(small: Path) -> None:
    import pty

    reader, terminal = pty.openpty()
    command = [sys.executable, "-m", "scrapy_simhash", "dedup", str(small)]
    with subprocess.Popen(command, stdout=terminal, stderr=subprocess.PIPE, text=True) as process:
        os.close(terminal)
        _, counts = process.communicate()
    said = os.read(reader, 10_000).decode().splitlines()
    os.close(reader)
    assert said == [
        "https://example.com/b -> https://example.com/a",
        "https://example.com/c -> https://example.com/c",
    ]
    assert counts.splitlines()[-1].startswith("records: 5, kept: 2")


@posix_only
def test_a_run_that_is_killed_leaves_the_old_output_as_it_was(tmp_path: Path) -> None:
    write_pages(tmp_path / "pages.jsonl", 1_500)
    (tmp_path / "out.jsonl").write_bytes(b"of yesterday")
    command = [sys.executable, "-m", "scrapy_simhash", "dedup", "pages.jsonl", "-o", "out.jsonl"]
    with subprocess.Popen(command, cwd=tmp_path) as process:
        while not list(tmp_path.glob(".*.writing")):
            assert process.poll() is None
        process.kill()
    assert (tmp_path / "out.jsonl").read_bytes() == b"of yesterday"


def test_a_missing_extra_is_named(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    for module in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    status, complaint = cli.fails("dedup", small, "-o", tmp_path / "out.parquet")
    assert (status, "pip install 'scrapy-simhash[files]'" in complaint) == (2, True)


def test_fingerprints_are_those_of_python_and_what_searches_read(
    small: Path, tmp_path: Path, cli: Cli
) -> None:
    fingerprinter = PageFingerprinter()
    out, hashes = tmp_path / "fingerprints.jsonl", tmp_path / "hashes.txt"
    assert main(["fingerprint", str(small), "-o", str(out)]) == 0
    assert main(["fingerprint", str(small), "-o", str(hashes), "--hashes"]) == 0
    given = [json.loads(line) for line in small.read_text("utf-8").splitlines() if line != "oops"]
    expected = [fingerprinter.read(page["html"], url=page["url"]).fingerprint for page in given]
    assert [line["fingerprint"] for line in lines_of(out)] == [each and each.hex for each in expected]
    assert [line["sketch"] for line in lines_of(out)] == [each and each.sketch.hex() for each in expected]
    assert hashes.read_text("ascii").splitlines() == [f"0x{each.hex}" for each in expected if each]
    cli("find", "--clusters", hashes)


@pytest.mark.parametrize("scheme", ["moz", "tests.page.schemes.own.LONG"])
def test_fingerprints_are_made_by_any_scheme(scheme: str, small: Path, tmp_path: Path, cli: Cli) -> None:
    fingerprinter = PageFingerprinter(scheme=scheme)
    given = [json.loads(line) for line in small.read_text("utf-8").splitlines() if line != "oops"]
    expected = [fingerprinter.read(page["html"], url=page["url"]).fingerprint for page in given]
    for option in (["--scheme", scheme], ["--set", f"SIMHASH_SCHEME={scheme}"]):
        out = tmp_path / "fingerprints.jsonl"
        assert main(["fingerprint", str(small), "-o", str(out), *option]) == 0
        assert [line["fingerprint"] for line in lines_of(out)] == [each and each.hex for each in expected]
    is_long = scheme.endswith("LONG")
    status, _, complaint = cli.ended("dedup", small, "--set", f"SIMHASH_SCHEME={scheme}")
    assert status == 2 * is_long
    assert ("must make fingerprints of at most 64 bits" in complaint) is is_long


def test_pages_are_compared_with_a_store_that_stays_as_it_was_and_with_each_other(
    small: Path, tmp_path: Path, cli: Cli, places: Places
) -> None:
    store = places.new()
    clean = tmp_path / "clean.jsonl"
    given = [line for line in small.read_text("utf-8").splitlines() if line != "oops"]
    clean.write_text(given[0] + "\n", "utf-8")
    cli("import", store, clean)
    for processes in ("1", "2"):
        options = ["--against", store, "--processes", processes]
        _, said, _ = cli.ended("dedup", small, *options, "--mark")
        found = [json.loads(line) for line in said.splitlines()]
        assert [
            (each["simhash_kept"], each["simhash_status"], each["simhash_duplicate_of"]) for each in found
        ] == [
            (False, "revisit", None),
            (False, "near_duplicate", "https://example.com/a"),
            (True, "new", None),
            (False, "revisit", None),
        ]
        _, said, _ = cli.ended("dedup", small, *options)
        assert said == given[2] + "\n"
    assert cli.json("info", store)["pages"] == 1
    _, said, _ = cli.ended("dedup", small, "--against", store, "--clusters", "-")
    assert said == "", "the pages of the store are none of these"


RUSSIAN = (
    "Библиотека на берегу открывается каждую субботу в десять часов утра. Читатель может взять пять книг на месяц,"
    " и никто не спрашивает его о деньгах. Осенью здесь читают вслух старые сказки, а зимой топят печь дровами."
)
JAPANESE = (
    "図書館は毎週土曜日の午前十時に開き、読者は五冊の本を一か月のあいだ借りることができます。秋には古い話を声に出して読み、"
    "冬には薪でストーブをたきます。町の人々はここで手紙を書いたり、地図を見たりします。"
)


@pytest.mark.skipif(version_info < (2, 19), reason="Scrapy before 2.19 detects no encoding")
def test_copies_that_declare_no_encoding_are_found_as_in_a_crawl(tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    for name, text, encodings in (
        ("ru", RUSSIAN, ("cp1251", "koi8-r")),
        ("ja", JAPANESE, ("shift_jis", "euc_jp")),
    ):
        page = f"<title>1</title><h1>5</h1><p>{text}</p>"
        (folder / f"{name}-0.html").write_text(f"<meta charset=utf-8>{page}", "utf-8")
        for encoding in encodings:
            (folder / f"{name}-{encoding}.html").write_bytes(page.encode(encoding))
    out = tmp_path / "out.jsonl"
    status, _, warned = cli.ended("dedup", str(folder), "-o", str(out))
    assert status == 0
    assert warned == "records: 6, kept: 2, near-duplicates: 4\n"
    assert {Path(line["url"]).name for line in lines_of(out)} == {"ru-0.html", "ja-0.html"}
