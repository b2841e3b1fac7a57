from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz import ROOT, live, lives, worker
from fuzz.life import Act, Life, PlanAsWritten
from fuzz.reduce import reduced
from fuzz.subject import SUBJECTS
from scrapy_simhash import kernel
from scrapy_simhash.index.index import HammingIndex

needs_the_kernel = pytest.mark.skipif(kernel.hamming is None, reason=f"pure Python runs: {kernel.REASON}")

FOUR_BY_SIXTEEN = PlanAsWritten([16] * 4, [[0], [1], [2], [3]])


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "fuzz" / "index.py"), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
    )


# --- The command.


@pytest.mark.slow("it takes three seconds on any machine, and `make fuzz` does the same for longer")
@needs_the_kernel
def test_three_seconds_of_lives_find_nothing(tmp_path: Path) -> None:
    done = run("--seconds", "3", "--json", "--out", str(tmp_path))
    assert (done.stderr, done.returncode) == ("", 0), done.stdout
    result = json.loads(done.stdout)
    assert result["found"] == []
    assert result["cases"] >= result["covered"] > 0
    assert list(tmp_path.iterdir()) == []


@needs_the_kernel
def test_a_reproducer_is_lived_again(tmp_path: Path) -> None:
    life = Life(3, ((2, None), (10**12, FOUR_BY_SIXTEEN)), (Act(0, "add", 5, 1), Act(1, "find", 4)))
    done = run("--replay", str(life.keep(tmp_path, "difference")), "--out", str(tmp_path))
    assert done.stdout.startswith("1 lives, 1 of them short and lived by a scan too, 0 differences")
    assert done.returncode == 0


# --- What it finds.


@needs_the_kernel
def test_a_planted_difference_is_found_and_made_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = HammingIndex.find

    def mistaken(self: HammingIndex, value: int) -> object:
        found = find(self, value)
        is_native = kernel.hamming is not None and isinstance(self._core, kernel.hamming.Postings)
        return found[:-1] if is_native and len(self) > 1 else found

    monkeypatch.setattr(HammingIndex, "find", mistaken)
    monkeypatch.setattr(worker, "REDUCTION", 2.0)
    monkeypatch.setattr(worker, "ENOUGH", 1)
    (finding,) = worker.fuzz(random.Random(1), 60, tmp_path, SUBJECTS["index"]).found
    assert "find: the kernel has " in finding.lines[0]
    kept = Life.read(Path(finding.file))
    assert live.differences(kept) == finding.lines
    # Two that are stored, and the search.
    assert len(kept.acts) == 3
    assert [file.name for file in tmp_path.iterdir()] == [Path(finding.file).name]


@needs_the_kernel
def test_a_broken_invariant_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: HammingIndex) -> None:
        raise AssertionError("buckets overlap")

    monkeypatch.setattr(HammingIndex, "_check", fail)
    life = Life(3, ((10**12, FOUR_BY_SIXTEEN),), (Act(0, "add", 5, 1),))
    assert live.differences(life) == ["after call 0, add: AssertionError: buckets overlap"]


def test_a_life_is_made_as_short_as_what_it_shows() -> None:
    life = Life(3, ((10**12, None),), tuple(Act(0, "add_many", value) for value in range(50)))
    small = reduced(life, lambda smaller: {3, 40} <= {act.value for act in smaller.acts})
    assert list(small.calls()) == [("add_many", [3, 40], None)]


# --- What is lived.


def test_the_same_seed_makes_the_same_lives() -> None:
    first, second = random.Random(7), random.Random(7)
    assert [lives.life(first) for _ in range(10)] == [lives.life(second) for _ in range(10)]


def test_plans_of_every_kind_are_exact_and_every_call_is_made() -> None:
    dice = random.Random(3)
    made = [lives.life(dice, is_short_of_memory=True) for _ in range(150)]
    plans = [plan for life in made for _, plan in life.plans()]
    assert {type(plan).__name__ for plan in plans} == {"Plan", "ProbingPlan", "NoneType"}
    calls = {act.call for life in made for act in life.acts}
    assert calls == {"discard", "in", "iterate", "nearest", "pairs"} | {
        call + many for call in ("add", "find", "find_or_add") for many in ("", "_many")
    }
    assert {life.scan for life in made} == {0, 1, 2, 3}
    assert len({life.starved for life in made}) > 2


def test_a_life_is_written_and_read_as_it_is(tmp_path: Path) -> None:
    steps = ((5, None), (10, PlanAsWritten([32, 32], None, [1, 1])), (10**12, FOUR_BY_SIXTEEN))
    acts = (Act(0, "add_many", 2**64 - 1), Act(0, "add_many", -1), Act(1, "add", True, None), Act(2, "pairs"))
    life = Life(3, steps, acts, scan=1, starved=10, seed=4)
    life.write(tmp_path / "life.json")
    assert Life.read(tmp_path / "life.json") == life
    assert len((tmp_path / "life.json").read_text("ascii").splitlines()) == len(acts) + 3
