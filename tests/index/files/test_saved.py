from __future__ import annotations

import json
import os
import random
import signal
import stat
import struct
import subprocess
import sys
import tracemalloc
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_simhash.index import (
    LinearScan,
    Plan,
    ProbingIndex,
    ProbingPlan,
    SimhashIndex,
    progress,
)
from scrapy_simhash.index.files import format as file_format
from scrapy_simhash.index.files import saved as files
from scrapy_simhash.index.files import sorted_runs as sorting
from scrapy_simhash.index.files.format import (
    PREFACE_SIZE,
    DamagedIndexFile,
    IndexFile,
    IndexFileError,
    NewerIndexFile,
    NotAnIndexFile,
    preface,
)
from scrapy_simhash.index.files.mapped import MappedIndex
from scrapy_simhash.index.files.saved import load, merge, save, update
from scrapy_simhash.index.plans.blocks import Block, partition
from tests.docs.reader import DOCS, blocks
from tests.examples import examples
from tests.index.values import ALL_ONES, flipped, near_values

ROOT = Path(__file__).parents[3]
GREATEST_KEY = 2**63 - 1
TRIANGLES = Plan(3, partition(6), ((0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)))
Made = SimhashIndex | ProbingIndex | LinearScan
MAKERS: dict[str, Callable[[], Made]] = {
    "SimhashIndex": SimhashIndex,
    "SimhashIndex of equality": partial(SimhashIndex, 0, 1),
    "SimhashIndex over triangles": partial(SimhashIndex.from_plan, TRIANGLES),
    "SimhashIndex over blocks with a gap": partial(
        SimhashIndex.from_plan, Plan(1, (Block(40, 9), Block(3, 20)), ((0,), (1,)))
    ),
    "ProbingIndex": partial(ProbingIndex, 10, 5),
    "ProbingIndex with idle blocks": partial(
        ProbingIndex.from_plan, ProbingPlan(1, partition(3), (-1, 0, 0))
    ),
    "LinearScan": partial(LinearScan, 7),
}
every = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@pytest.fixture(autouse=True, scope="module")
def _many_runs_and_batches() -> Iterator[None]:
    """Have a few hundred postings go the way of millions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "RUN", 16)
        patch.setattr(files, "BATCH", 100)
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pages.simhash"


def some_postings(seed: int, count: int = 300) -> list[tuple[int, int]]:
    """Copies of a few originals, up to 12 bits away; ends of the ranges; values with many keys, keys with many."""
    draw = random.Random(seed)
    originals = [0, ALL_ONES, *(draw.getrandbits(64) for _ in range(20))]
    near = [flipped(draw.choice(originals), draw.sample(range(64), draw.randrange(13))) for _ in range(count)]
    postings = {(value, draw.randrange(count)) for value in near}
    return [*postings, *((near[0], key) for key in (GREATEST_KEY, 2**40, 2**41)), (ALL_ONES, 0), (0, 0)]


def made_of(make: Callable[[], Made], postings: Iterable[tuple[int, int]]) -> Made:
    index = make()
    for value, key in postings:
        index.add(value, key)
    return index


def names_in(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


def queries(postings: list[tuple[int, int]]) -> list[int]:
    draw = random.Random(5)
    return [flipped(value, draw.sample(range(64), draw.randrange(11))) for value, _ in postings[::4]] + [
        0,
        ALL_ONES,
    ]


# --- Saved and loaded.


@every
@pytest.mark.parametrize("searchable", [False, True])
def test_a_loaded_index_is_the_one_that_was_saved(
    make: Callable[[], Made], searchable: bool, path: Path
) -> None:
    saved = made_of(make, some_postings(1))
    save(saved, path, searchable=searchable)
    loaded = load(path)
    assert type(loaded) is type(saved)
    assert loaded.max_distance == saved.max_distance
    assert getattr(loaded, "plan", None) == getattr(saved, "plan", None)
    assert len(loaded) == len(saved)
    assert sorted(loaded) == sorted(saved)
    for query in queries(some_postings(1)):
        assert loaded.find(query) == saved.find(query)


@every
def test_a_mapped_index_finds_what_linear_scan_finds(make: Callable[[], Made], path: Path) -> None:
    postings = some_postings(2)
    index = made_of(make, postings)
    scan = made_of(partial(LinearScan, index.max_distance), postings)
    save(index, path, searchable=True)
    with MappedIndex(path) as mapped:
        assert len(mapped) == len(scan)
        assert list(mapped) == sorted(scan)
        assert mapped.max_distance == scan.max_distance
        assert mapped.plan == getattr(index, "plan", None)
        found = [mapped.find(query) for query in queries(postings)]
    assert found == [scan.find(query) for query in queries(postings)]
    assert any(found)


any_postings = st.lists(
    st.tuples(near_values(5), st.integers(0, 9) | st.integers(0, GREATEST_KEY)), max_size=60
)


@settings(max_examples=examples(60))
@given(st.sampled_from(list(MAKERS.values())), any_postings, st.lists(near_values(5), max_size=5))
def test_files_hold_any_postings(
    tmp_path_factory: pytest.TempPathFactory,
    make: Callable[[], Made],
    postings: list[tuple[int, int]],
    queries: list[int],
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.simhash"
    index = made_of(make, postings)
    scan = made_of(partial(LinearScan, index.max_distance), postings)
    save(index, path, searchable=True)
    assert sorted(load(path)) == sorted(scan)
    with MappedIndex(path) as mapped:
        for query in queries + [value for value, _ in postings]:
            assert mapped.find(query) == scan.find(query)


@settings(max_examples=examples(60))
@given(st.lists(any_postings, min_size=1, max_size=4), st.integers(1, 4))
def test_a_merged_file_is_the_union_of_its_sources(
    tmp_path_factory: pytest.TempPathFactory, many: list[list[tuple[int, int]]], files_among_them: int
) -> None:
    folder = tmp_path_factory.getbasetemp()
    sources: list[Any] = [made_of(SimhashIndex, postings) for postings in many]
    for number, source in enumerate(sources[:files_among_them]):
        save(source, folder / f"{number}.simhash")
        sources[number] = folder / f"{number}.simhash"
    union = {posting for postings in many for posting in postings}
    assert merge(sources, folder / "0.simhash", searchable=True) == len(union)
    assert sorted(load(folder / "0.simhash")) == sorted(union)
    with MappedIndex(folder / "0.simhash") as mapped:
        assert list(mapped) == sorted(union)


def test_millions_go_the_same_way_as_hundreds(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = made_of(SimhashIndex, some_postings(3))
    save(index, path, searchable=True)
    by_small_runs = path.read_bytes()
    monkeypatch.setattr(sorting, "RUN", 2**18)
    save(index, path, searchable=True)
    assert path.read_bytes() == by_small_runs


def test_a_file_depends_on_the_postings_not_on_their_order(path: Path) -> None:
    postings = some_postings(4)
    save(made_of(SimhashIndex, postings), path)
    first = path.read_bytes()
    save(made_of(SimhashIndex, reversed(postings)), path)
    assert path.read_bytes() == first


@every
def test_an_empty_index_is_saved_like_any_other(make: Callable[[], Made], path: Path) -> None:
    save(make(), path, searchable=True)
    assert list(load(path)) == []
    with MappedIndex(path) as mapped:
        assert list(mapped) == []
        assert mapped.find(0) == []


def test_a_posting_takes_sixteen_bytes_and_eight_for_each_further_table(path: Path) -> None:
    index = SimhashIndex()
    index.add_many([random.Random(6).getrandbits(64) + number for number in range(640)])
    save(index, path)
    with IndexFile(path) as file:
        assert sum(section.length for section in file.header.sections) == 640 * 16
    save(index, path, searchable=True)
    with IndexFile(path) as file:
        # One of the twenty has its key in front already.
        assert sum(section.length for section in file.header.sections) == 640 * (16 + 19 * 8)


def test_the_bytes_are_those_of_the_reference(path: Path) -> None:
    save(made_of(LinearScan, [(0x1122334455667788, 5), (7, 2**40), (7, 1)]), path)
    with IndexFile(path) as file:
        writer = file.header.writer
    columns = [
        struct.pack("<QQQ", 7, 7, 0x1122334455667788).ljust(64, b"\0"),
        struct.pack("<QQQ", 1, 2**40, 5).ljust(64, b"\0"),
    ]
    header = path.read_bytes()[PREFACE_SIZE:-128]
    start = PREFACE_SIZE + len(header)
    assert start % 64 == 0
    assert json.loads(header) == {
        "writer": writer,
        "byte_order": "little",
        "postings": 3,
        "plan": {"kind": "scan", "max_distance": 3},
        "sections": [
            {"name": "values", "offset": start, "bytes": 24, "crc32": zlib.crc32(columns[0])},
            {"name": "keys", "offset": start + 64, "bytes": 24, "crc32": zlib.crc32(columns[1])},
        ],
    }
    first = struct.pack("<8sIIQI", b"\x89SIMH\r\n\x1a", 1, len(header), start + 128, zlib.crc32(header))
    first += struct.pack("<I", zlib.crc32(first))
    assert path.read_bytes() == first + header + columns[0] + columns[1]


def test_the_header_in_the_reference_is_a_real_one(path: Path) -> None:
    (shown,) = blocks(DOCS / "reference" / "index-file.rst", "json")
    save(made_of(partial(SimhashIndex, 1, 2), [(0x0F, 30), (0xFF, 10), (0x0F, 20)]), path, searchable=True)
    size = struct.unpack_from("<I", path.read_bytes(), 12)[0]
    header, reference = (
        json.loads(path.read_bytes()[PREFACE_SIZE : PREFACE_SIZE + size]),
        json.loads(shown.text),
    )
    # Where the first section begins depends on the version that is named.
    for parsed in (header, reference):
        del parsed["writer"]
        start = parsed["sections"][0]["offset"]
        for section in parsed["sections"]:
            section["offset"] -= start
    assert header == reference


def test_a_machine_of_the_other_byte_order_reads_and_writes_the_same_numbers(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = made_of(SimhashIndex, some_postings(7))
    save(index, path, searchable=True)
    with IndexFile(path) as file:
        as_written = {name: file.column(name).tolist() for name in file.names}
    monkeypatch.setattr(file_format, "SWAPPED", not file_format.SWAPPED)
    with IndexFile(path) as file:
        turned = {name: file.column(name).tolist() for name in file.names}
    other = {
        name: [int.from_bytes(n.to_bytes(8, "big"), "little") for n in as_written[name]]
        for name in as_written
    }
    assert turned == other
    # Read by the machine that wrote it, with tables that are made from what it has written.
    save(index, path, searchable=True)
    assert sorted(load(path)) == sorted(index)
    with MappedIndex(path) as mapped:
        assert [mapped.find(value) for value, _ in index] == [index.find(value) for value, _ in index]


class Offered:
    """An index that offers its columns in the pieces given."""

    max_distance = 3
    plan = Plan.classic()

    def __init__(self, *pieces: list[tuple[int, int]], lost: int = 0) -> None:
        self.pieces = pieces
        self.lost = lost

    def __len__(self) -> int:
        return sum(map(len, self.pieces)) + self.lost

    def __iter__(self) -> Iterator[tuple[int, int]]:
        raise AssertionError("columns are faster")

    def _columns(self) -> Iterator[tuple[Any, Any]]:
        for piece in self.pieces:
            values, keys = (array("Q", [row[column] for row in piece]) for column in (0, 1))
            yield memoryview(values), keys.tobytes()


def test_an_index_may_offer_its_columns(path: Path) -> None:
    postings = sorted(set(some_postings(8)))
    save(Offered(postings[:3], [], postings[3:5], postings[5:200], postings[200:]), path)
    assert sorted(load(path)) == postings
    into = SimhashIndex()
    update(into, Offered([], postings[:50], postings[50:]))
    assert sorted(into) == postings
    save(Offered(), path)
    assert len(load(path)) == 0


def test_saving_takes_no_more_memory_for_ten_times_the_postings(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorting, "RUN", 1000)
    draw = random.Random(9)
    peaks = []
    for count in (5_000, 50_000):
        index = Offered([(draw.getrandbits(64), key) for key in range(count)])
        columns = list(index._columns())
        monkeypatch.setattr(index, "_columns", lambda columns=columns: iter(columns))
        tracemalloc.start()
        save(index, path)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]
    assert peaks[1] < 1_000_000


def test_progress_rises_to_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[float] = []
    tell = told.append
    monkeypatch.setattr(progress, "INTERVAL", 0)
    index = made_of(SimhashIndex, some_postings(10))
    runs: list[Callable[[], object]] = [
        lambda: save(index, path, progress=tell),
        lambda: save(index, path, searchable=True, progress=tell),
        lambda: load(path, progress=tell),
        lambda: merge([path, index], path, searchable=True, progress=tell),
        lambda: merge([path], path, progress=tell),
    ]
    for run in runs:
        told.clear()
        run()
        assert len(told) > 2
        assert told == sorted(set(told))
        assert told[0] > 0
        assert told[-1] == 1
    for run in (lambda: save(SimhashIndex(), path, progress=tell), lambda: load(path, progress=tell)):
        told.clear()
        run()
        assert told == [1]


# --- Merged and updated.


def test_an_update_adds_what_is_not_there_yet() -> None:
    index, other = made_of(SimhashIndex, some_postings(11)), made_of(LinearScan, some_postings(12))
    union = {*index, *other}
    update(index, other)
    assert sorted(index) == sorted(union)
    update(index, index)
    assert sorted(index) == sorted(union)


def test_a_merge_of_different_distances_needs_to_be_told_which(path: Path, tmp_path: Path) -> None:
    save(SimhashIndex(3, 6), tmp_path / "three")
    sources = [tmp_path / "three", SimhashIndex(2, 4), made_of(partial(ProbingIndex, 2, 2), [(5, 6)])]
    with pytest.raises(ValueError, match=r"max_distance must be given.*\[2, 3\]"):
        merge(sources, path)
    with pytest.raises(ValueError, match=r"one of the sources, \[2, 3\], got 4"):
        merge(sources, path, max_distance=4)
    assert names_in(tmp_path) == ["three"]
    assert merge(sources, path, max_distance=2) == 1
    merged = load(path)
    assert isinstance(merged, SimhashIndex)
    assert merged.plan == Plan.classic(2, 4)
    assert list(merged) == [(5, 6)]


def test_a_path_is_no_list_of_sources_and_no_index(tmp_path: Path) -> None:
    source = tmp_path / "source"
    save(SimhashIndex(), source)
    paths: list[Any] = [source, str(source)]
    for path in paths:
        with pytest.raises(TypeError, match="sources must be a list of files and indexes, got"):
            merge(path, tmp_path / "merged")
        with pytest.raises(TypeError, match=r"other must be an index, got .*: load\(\) it first"):
            update(SimhashIndex(), path)
    assert list(tmp_path.iterdir()) == [source]


def test_a_merge_of_nothing_is_refused(path: Path) -> None:
    with pytest.raises(ValueError, match="nothing to merge"):
        merge([], path)
    assert not path.exists()


def test_a_mapped_index_can_be_saved_and_merged(path: Path, tmp_path: Path) -> None:
    postings = some_postings(13)
    save(made_of(SimhashIndex, postings), path, searchable=True)
    with MappedIndex(path) as mapped:
        save(mapped, tmp_path / "again", searchable=True)
        merge([mapped, SimhashIndex()], tmp_path / "merged", searchable=True)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "merged").read_bytes() == path.read_bytes()


# --- Damaged, foreign, missing.


def small_file(path: Path) -> bytes:
    save(made_of(partial(SimhashIndex, 1, 2), some_postings(14, 10)), path, searchable=True)
    return path.read_bytes()


def test_a_flipped_bit_is_found_wherever_it_is(path: Path) -> None:
    whole = small_file(path)
    for place in range(len(whole)):
        bit = 1 << place % 8
        path.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
        with pytest.raises((NotAnIndexFile, DamagedIndexFile), match=str(path)):
            IndexFile(path)
        with pytest.raises(IndexFileError):
            load(path)


def test_the_message_names_the_section_that_has_changed(path: Path) -> None:
    whole = bytearray(small_file(path))
    with IndexFile(path) as file:
        sections = file.header.sections
    assert len(sections) == 3
    for section in sections:
        whole[section.offset + 9] ^= 1
        path.write_bytes(whole)
        whole[section.offset + 9] ^= 1
        with pytest.raises(
            DamagedIndexFile, match=f"damaged: its section '{section.name}' has changed. Copy it again"
        ):
            load(path)
        with pytest.raises(DamagedIndexFile):
            MappedIndex(path)
        with IndexFile(path, verify=False) as file:
            assert len(file) == len(file.column("keys"))


def test_a_file_cut_anywhere_is_found_and_the_message_says_how_much_is_missing(path: Path) -> None:
    whole = small_file(path)
    with IndexFile(path) as file:
        borders = [PREFACE_SIZE, *(section.offset for section in file.header.sections)]
    lengths = [*borders, *random.Random(15).sample(range(PREFACE_SIZE, len(whole)), 50), len(whole) - 1]
    for length in lengths:
        path.write_bytes(whole[:length])
        with pytest.raises(
            DamagedIndexFile, match=f"{len(whole) - length} of {len(whole)} bytes are missing"
        ):
            load(path, verify=False)
    for length in range(1, PREFACE_SIZE):
        path.write_bytes(whole[:length])
        with pytest.raises(DamagedIndexFile, match=f"{PREFACE_SIZE - length} bytes or more are missing"):
            load(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(DamagedIndexFile, match="1 bytes more"):
        load(path)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b"{}", "does not begin like one"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "does not begin like one"),
        (b"\x89SIMH\n\x1a" + bytes(100), "does not begin like one"),  # line ends were changed on the way
    ],
)
def test_another_file_is_told_apart(content: bytes, why: str, path: Path) -> None:
    path.write_bytes(content)
    with pytest.raises(NotAnIndexFile, match=f"not an index file: it {why}"):
        load(path)
    assert path.read_bytes() == content


def test_a_newer_format_asks_for_a_later_version(path: Path) -> None:
    whole = small_file(path)
    first = whole[:8] + struct.pack("<I", 2) + whole[12:28]
    path.write_bytes(first + struct.pack("<I", zlib.crc32(first)) + b"whatever it has")
    with pytest.raises(NewerIndexFile, match=r"has format version 2.*up to 1: install a later one"):
        load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header.pop("plan"),
        lambda header: header["plan"].update(kind="tree"),
        lambda header: header["plan"].update(max_distance="1"),
        lambda header: header["plan"].update(max_distance=65),
        lambda header: header["plan"].update(max_distance=2),  # its keys are not exact for that
        lambda header: header["plan"].update(blocks=[[0, 1.5]]),
        lambda header: header["plan"].update(keys=None),
        lambda header: header.update(postings=3),
        lambda header: header.update(sections=[]),
        lambda header: header["sections"][0].update(offset=0),
        lambda header: header["sections"][1].update(bytes=-8),
        lambda header: header["sections"][1].update(bytes=4),
        lambda header: header["sections"][1].update(name="doors"),
        lambda header: header["sections"].pop(),
        lambda header: header["sections"][2].update(crc32=None),
    ],
)
def test_a_header_that_makes_no_sense_is_damage(change: Callable[[Any], object], path: Path) -> None:
    whole = small_file(path)
    size = struct.unpack_from("<I", whole, 12)[0]
    header = json.loads(whole[PREFACE_SIZE : PREFACE_SIZE + size])
    change(header)
    text = json.dumps(header, separators=(",", ":")).encode().ljust(size)[:size]
    path.write_bytes(preface(text, len(whole)) + text + whole[PREFACE_SIZE + size :])
    with pytest.raises(DamagedIndexFile, match="its header has wrong values"):
        load(path)


def test_what_is_no_file_is_an_error_of_the_system(path: Path, tmp_path: Path) -> None:
    index = SimhashIndex()
    with pytest.raises(FileNotFoundError):
        load(path)
    with pytest.raises(OSError):
        load(tmp_path)
    with pytest.raises(OSError, match="not a regular file"):
        save(index, tmp_path)
    with pytest.raises(OSError, match="not a regular file"):
        save(index, os.devnull)
    with pytest.raises(FileNotFoundError, match=r"no such folder.*nowhere"):
        save(index, tmp_path / "nowhere" / "pages.simhash")
    assert names_in(tmp_path) == []


# --- Written as a whole or not at all.


def test_the_new_file_keeps_the_mode_of_the_old_and_the_link_to_it(path: Path, tmp_path: Path) -> None:
    save(SimhashIndex(), path)
    path.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(path)
    save(made_of(SimhashIndex, [(1, 2)]), link)
    assert link.is_symlink()
    assert list(load(path)) == [(1, 2)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_all_of_a_file_is_on_the_disk_before_it_takes_its_place_and_then_its_name(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(SimhashIndex(), path)
    before = path.read_bytes()
    synced: list[tuple[bool, bytes, bytes]] = []

    def fsync(descriptor: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        synced.append((is_folder, b"" if is_folder else os.pread(descriptor, 2**20, 0), path.read_bytes()))

    monkeypatch.setattr(os, "fsync", fsync)
    save(made_of(SimhashIndex, some_postings(24)), path)
    after = path.read_bytes()
    assert synced == [(False, after, before), (True, b"", after)]


def test_an_index_that_changes_meanwhile_is_not_saved(path: Path, tmp_path: Path) -> None:
    save(made_of(SimhashIndex, some_postings(16)), path)
    before = path.read_bytes()
    for lost in (-1, 1):
        changing = Offered(sorted(set(some_postings(17))), lost=lost)
        with pytest.raises(RuntimeError, match="changed while it was being saved"):
            save(changing, path)
        assert path.read_bytes() == before
    assert names_in(tmp_path) == [path.name]


def at_line(number: int, act: Callable[[], None]) -> tuple[Callable[..., Any], list[int]]:
    """Return a trace function that calls *act* before line *number* of the modules is run, and its counter."""
    modules = {files.__file__, file_format.__file__, sorting.__file__}
    lines = [0]

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename not in modules:
            return None
        if event == "line":
            lines[0] += 1
            if lines[0] == number:
                act()
        return trace

    return trace, lines


def saved_under(trace: Callable[..., Any], index: Made, path: Path) -> None:
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        save(index, path, searchable=True)
    finally:
        sys.settrace(before)


def interrupt() -> None:
    raise KeyboardInterrupt


# An unnamed file is open, and not yet closed by the block that uses it.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_an_interrupt_at_any_line_leaves_the_old_file_or_the_new(path: Path, tmp_path: Path) -> None:
    old, new = (made_of(partial(SimhashIndex, 1, 2), some_postings(seed, 40)) for seed in (17, 18))
    save(old, path)
    trace, lines = at_line(0, interrupt)
    saved_under(trace, new, tmp_path / "counted")
    (tmp_path / "counted").unlink()
    last = lines[0]
    outcomes = set()
    for number in [*random.Random(19).sample(range(1, last), 100), *range(last - 25, last + 1)]:
        with pytest.raises(KeyboardInterrupt):
            saved_under(at_line(number, interrupt)[0], new, path)
        assert names_in(tmp_path) == [path.name]
        loaded = sorted(load(path))
        assert loaded in (sorted(old), sorted(new))
        outcomes.add(loaded == sorted(new))
        save(old, path)
    assert outcomes == {False, True}


KILLED = """
import os, signal, sys
from functools import partial
from pathlib import Path
from scrapy_simhash.index import SimhashIndex
from scrapy_simhash.index.files import saved as files, sorted_runs as sorting
from tests.index.files.test_saved import at_line, made_of, saved_under, some_postings
sorting.RUN = 16
new = made_of(partial(SimhashIndex, 1, 2), some_postings(21, 40))
trace, lines = at_line(int(sys.argv[2]), lambda: os.kill(os.getpid(), signal.SIGKILL))
saved_under(trace, new, Path(sys.argv[1]))
print(lines[0])
"""


def in_child(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def test_a_process_killed_at_any_line_leaves_the_old_file_or_the_new(path: Path, tmp_path: Path) -> None:
    old, new = (made_of(partial(SimhashIndex, 1, 2), some_postings(seed, 40)) for seed in (20, 21))
    last = int(in_child(KILLED, tmp_path / "counted", 0).stdout)
    assert sorted(load(tmp_path / "counted")) == sorted(new)
    for number in [*random.Random(22).sample(range(1, last), 5), last - 12, last]:
        save(old, path)
        assert in_child(KILLED, path, number).returncode == -signal.SIGKILL
        assert sorted(load(path)) == sorted(new if number == last else old)
    # What it leaves besides is the file it was writing, under a name of its own.
    assert {file.suffix for file in tmp_path.iterdir()} == {"", ".simhash", ".saving"}


FULL = """
import resource, signal, sys
from scrapy_simhash.index import SimhashIndex
from scrapy_simhash.index.files.saved import save
index = SimhashIndex()
index.add_many(range(10_000))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    save(index, sys.argv[1])
except OSError:
    print("no room")
"""


# Not enough for the runs, for the keys, for the whole file.
@pytest.mark.parametrize("room", [1_000, 70_000, 160_100])
def test_a_full_disk_is_an_error_and_leaves_the_old_file(room: int, path: Path, tmp_path: Path) -> None:
    save(made_of(SimhashIndex, [(1, 2)]), path)
    done = in_child(FULL, path, room)
    assert (done.returncode, done.stdout, done.stderr) == (0, "no room\n", "")
    assert list(load(path)) == [(1, 2)]
    assert names_in(tmp_path) == [path.name]


# --- Searched in the file.


def test_a_file_without_tables_is_not_searched(path: Path) -> None:
    save(SimhashIndex(), path)
    with pytest.raises(
        IndexFileError, match=r"no tables to search \(19 are missing\): save it with searchable=True"
    ):
        MappedIndex(path)


def test_a_mapped_index_stays_what_it_was_when_its_file_is_replaced(path: Path) -> None:
    postings = some_postings(23)
    index = made_of(SimhashIndex, postings)
    save(index, path, searchable=True)
    with MappedIndex(path) as mapped:
        save(SimhashIndex(), path, searchable=True)
        assert [mapped.find(value) for value, _ in postings] == [index.find(value) for value, _ in postings]
    assert len(load(path)) == 0


def test_a_closed_index_says_so_and_may_be_closed_again(path: Path) -> None:
    save(made_of(SimhashIndex, [(1, 2)]), path, searchable=True)
    mapped = MappedIndex(path)
    mapped.close()
    mapped.close()
    for use in (
        mapped.__iter__,
        mapped._columns,
        partial(mapped.find, 1),
        partial(mapped.__contains__, (1, 2)),
    ):
        with pytest.raises(ValueError, match=rf"the index in {path} is closed"):
            use()
    assert len(mapped) == 1


def test_a_mapped_index_knows_its_postings_and_checks_what_it_is_asked(path: Path) -> None:
    save(made_of(SimhashIndex, [(1, 2), (1, 5), (3, 2)]), path, searchable=True)
    with MappedIndex(path) as mapped:
        assert (1, 2) in mapped
        assert (1, 5) in mapped
        assert (3, 5) not in mapped
        assert (2, 2) not in mapped
        with pytest.raises(ValueError, match="value must be from 0"):
            mapped.find(2**64)
        with pytest.raises(TypeError, match="key must be an integer"):
            assert (1, None) in mapped  # type: ignore[operator]
