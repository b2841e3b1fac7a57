from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_simhash.index import (
    IndexFileError,
    LinearScan,
    Plan,
    ProbingIndex,
    ProbingPlan,
    SimhashIndex,
    load,
    save,
)
from scrapy_simhash.index.plans import Block, partition
from tests.examples import examples
from tests.index.values import near_values

Made = SimhashIndex | ProbingIndex | LinearScan
MAKERS: dict[str, Callable[[], Made]] = {
    "SimhashIndex": SimhashIndex,
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


def plan_of(index: Made) -> Plan | ProbingPlan | None:
    return None if isinstance(index, LinearScan) else index.plan


@every
@settings(max_examples=examples(20))
@given(values=st.lists(near_values(3), max_size=20), keys=st.randoms(use_true_random=False))
def test_what_was_saved_is_loaded_as_the_same_index(
    make: Callable[[], Made],
    values: list[int],
    keys: random.Random,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    index = make()
    index.add_many(values, [keys.getrandbits(63) for _ in values])
    path = tmp_path_factory.mktemp("saved") / "index"
    save(index, path)
    loaded = load(path)
    assert (type(loaded), plan_of(loaded), loaded.max_distance) == (
        type(index),
        plan_of(index),
        index.max_distance,
    )
    assert sorted(loaded) == sorted(index)
    assert [loaded.find(value) for value in values] == [index.find(value) for value in values]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    index = SimhashIndex()
    index.add_many([5, 2**40, 2**63])
    save(index, tmp_path / "saved")
    return tmp_path / "saved"


@pytest.mark.parametrize("place", range(0, 400, 7))
def test_a_byte_that_changed_is_noticed(saved: Path, place: int) -> None:
    data = bytearray(saved.read_bytes())
    data[place % len(data)] ^= 0x20
    saved.write_bytes(data)
    with pytest.raises(IndexFileError, match="saved"):
        load(saved)


@pytest.mark.parametrize("length", [0, 1, 100, -1])
def test_a_file_that_was_cut_is_refused(saved: Path, length: int) -> None:
    saved.write_bytes(saved.read_bytes()[:length])
    with pytest.raises(IndexFileError, match=r"saved is (damaged|not a file of an index)"):
        load(saved)


def test_a_later_version_is_named(saved: Path) -> None:
    saved.write_bytes(saved.read_bytes().replace(b'"version": 2', b'"version": 3'))
    with pytest.raises(IndexFileError, match="has version 3, and this release reads 2"):
        load(saved)


def test_a_file_that_cannot_be_written_leaves_the_old_one(saved: Path) -> None:
    before = saved.read_bytes()
    index = SimhashIndex()
    index.add_many(range(9))
    saved.parent.joinpath("file").touch()
    with pytest.raises(OSError, match="cannot write"):
        save(index, saved.parent / "file" / "saved")
    save(index, saved)
    assert saved.read_bytes() != before
    assert [path.name for path in saved.parent.iterdir() if path.name.startswith(".")] == []


def test_a_file_that_is_missing_is_an_oserror(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing")
