"""The program, run for real on small indexes, with another library that is a stand-in."""

import json
import os
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from benchmarks import hamming
from benchmarks.lib import hamming_peers, hamming_runs
from benchmarks.lib.fingerprints import DISTANCE, PLANTED_EVERY, draw
from scrapy_simhash import kernel
from scrapy_simhash.index import SimhashIndex


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is spawned, so that what a test replaces is replaced, and there are fewer fresh fingerprints."""
    monkeypatch.setattr(hamming_runs, "alone", lambda measure, run, size: measure(run, size))
    monkeypatch.setattr(hamming_runs, "FRESH", 4_000)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert hamming.main(["--sizes", "1000", *arguments]) == 0
    read = capsys.readouterr()
    assert not read.err  # it is quiet where nobody watches
    return read.out


@pytest.mark.usefixtures("in_this_process")
def test_every_run_has_its_figures_and_misses_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    result = json.loads(run(capsys, "--json"))
    assert [one["run"] for one in result["results"]] == list(hamming.MEASURES)
    assert {"machine", "versions", "command"} < result.keys()
    assert not result["left_out"]
    assert not result["missing"]
    by_run = {one["run"]: one for one in result["results"]}
    for name in hamming_runs.PLANS:
        one = by_run[name]
        assert one["found"] == 1
        assert min(one["batch"], one["growing"], one["single"], one["nbytes"], one["max"]) > 0
        assert one["p999"] <= one["max"]
        assert one["bytes"] == max(one["nbytes"], one["resident"])
    pairs = by_run["pairs"]
    assert pairs["found_of_index"] == pairs["found_of_values"] == pairs["planted"] == 10
    assert {"auto", "4x16", "6x21", "20x32"} <= by_run["recall"]["plans"].keys()
    assert by_run["recall"]["recall"] == 1
    assert {one["figure"] for one in result["figures"]} == {figure.name for figure in hamming.FIGURES}


def test_pure_is_measured_without_the_kernel_in_a_process_of_its_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(kernel.VARIABLE, "auto")
    (one,) = json.loads(run(capsys, "--only", "pure", "--json"))["results"]
    assert one["kernel"] == "pure"
    assert os.environ[kernel.VARIABLE] == "auto"
    assert one["found"] == 1


def test_what_is_wanted_is_reached_or_not() -> None:
    results = [
        {"run": "auto", "size": 100_000, "batch": 0.35, "single": 0.7},
        {"run": "auto", "size": 5_000, "batch": 0.1},
        {"run": "pure", "size": 1_000_000, "single": 20.1},
        {"run": "recall", "size": 1_000_000, "recall": 0.999},
        {"run": "recall", "size": 10_000_000, "recall": 1.0},
    ]
    rows = hamming.figures(results)
    assert [(one["size"], one["measured"], one["reached"]) for one in rows] == [
        (100_000, 0.35, True),
        (5_000, 0.1, None),
        (100_000, 0.7, False),
        (1_000_000, 20.1, False),
        (1_000_000, 0.999, False),
        (10_000_000, 1.0, True),
    ]
    lines = hamming._figures_as_text(rows).splitlines()
    assert lines[1].split()[-7:] == ["100,000", "0.350", "µs", "<=", "0.35", "µs", "reached"]
    assert lines[2].split()[-5:] == ["5,000", "0.100", "µs", "-", "-"]
    assert lines[5].split()[-6:] == ["1,000,000", "0.999", ">=", "1", "not", "reached"]


class Forgetful(SimhashIndex):
    """An index that does not find what it was not asked for exactly."""

    def find(self, value: Any) -> Any:
        return [match for match in super().find(value) if match.distance == 0]


@pytest.mark.usefixtures("in_this_process")
def test_a_plan_that_misses_has_a_lower_recall(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def every_plan() -> Iterator[tuple[str, SimhashIndex]]:
        yield "sound", SimhashIndex()
        yield "forgetful", Forgetful()

    monkeypatch.setattr(hamming_runs, "every_plan", every_plan)
    (one,) = json.loads(run(capsys, "--only", "recall", "--json"))["results"]
    assert one["plans"]["sound"] == {"planted": 1, "scanned": 1}
    # Of the scanned ones half have nothing to be found.
    assert one["plans"]["forgetful"] == {"planted": 0, "scanned": 0.5}
    assert one["recall"] == 0


@pytest.mark.usefixtures("in_this_process")
def test_a_run_that_fails_costs_its_own_figures_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hamming_runs, "every_plan", lambda: 1 // 0)
    assert hamming.main(["--sizes", "1000", "--only", "recall", "pairs"]) == 1
    out, err = capsys.readouterr()
    assert "recall at 1,000 FAILED: ZeroDivisionError: integer division or modulo by zero" in out
    assert err.startswith("Traceback")
    assert "PAIRS at 1,000: 10 planted, 10 found in " in out


def test_what_does_not_fit_is_left_out_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hamming, "available_bytes", lambda: 10**9)
    assert hamming.obstacle("lean", 1_000_000) is None
    assert hamming.obstacle("classic", 10_000_000) == "it may take 5.0 GB of memory, 1.0 are free"
    assert hamming.obstacle("pure", 1_000_001) == "it is made up to 1,000,000"
    monkeypatch.setattr(hamming, "available_bytes", lambda: None)
    assert hamming.obstacle("classic", 10_000_000) is None


def test_too_small_a_size_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit:
        hamming.main(["--sizes", "999"])
    assert exit.value.code == 2
    assert "a size must be at least 1,000, got 999" in capsys.readouterr().err


@pytest.mark.usefixtures("in_this_process")
def test_missing_peers_are_named_and_the_rest_is_measured(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(hamming_peers, "import_module", refuse)
    lines = run(capsys, "--only", "pairs", "--peers").splitlines()
    assert [line for line in lines if line.startswith("PAIRS at 1,000: 10 planted, 10 found in ")]
    assert {line.split()[0] for line in lines if " is missing: ModuleNotFoundError" in line} == {
        "faiss",
        "gaoya",
        "pynear",
        "simhash",
    }


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(("reach", "recall"), [(3, 1), (0, 0)])
def test_a_peer_is_asked_and_told_in_its_own_way(
    reach: int, recall: float, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module: Any = ModuleType("simhash")
    made: list[Any] = []

    class Simhash:
        def __init__(self, value: int) -> None:
            self.value = value

    class Index:
        def __init__(self, objs: list[Any], k: int) -> None:
            assert (objs, k) == ([], DISTANCE)
            self.index = SimhashIndex()
            made.append(self)

        def add(self, obj_id: str, simhash: Simhash) -> None:
            self.index.add(simhash.value, int(obj_id))

        def get_near_dups(self, simhash: Simhash) -> list[str]:
            return [str(match.key) for match in self.index.find(simhash.value) if match.distance <= reach]

    module.Simhash, module.SimhashIndex = Simhash, Index
    monkeypatch.setitem(sys.modules, "simhash", module)
    monkeypatch.setattr(hamming_peers, "version", lambda distribution: "1.0")
    (one,) = json.loads(run(capsys, "--only", "simhash", "--json"))["results"]
    assert one["version"] == "simhash 1.0"
    assert one["recall"] == recall
    assert min(one["query"], one["insert"], one["build"]) > 0
    assert len(made[0].index) == 5_000


def test_what_is_drawn_is_the_same_in_every_run() -> None:
    assert draw(1_000, 40) == draw(1_000, 40)
    assert draw(1_000, 40).values != draw(1_000, 40, seed=1).values


def test_what_is_planted_is_near_an_earlier_one_that_is_not() -> None:
    drawn = draw(10_050, 400)
    assert (len(drawn.values), len(drawn.originals), len(drawn.planted)) == (10_050, 100, 20)
    for number, original in enumerate(drawn.originals, 1):
        position = number * PLANTED_EVERY - 1
        assert original < position
        assert 1 <= (drawn.values[position] ^ drawn.values[original]).bit_count() <= DISTANCE
    for at, original in drawn.planted.items():
        assert 1 <= (drawn.fresh[at] ^ drawn.values[original]).bit_count() <= DISTANCE
    assert len(set(drawn.originals)) == len(drawn.originals)
    assert all(original % 100 != 99 for original in [*drawn.originals, *drawn.planted.values()])
