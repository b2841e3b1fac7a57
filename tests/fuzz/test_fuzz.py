"""Both fuzzers: of pages (``fuzz/run.py``) and of the lives of an index (``fuzz/index.py``)."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Barrier, get_ident

import pytest

from fuzz import ROOT, generate, live, lives, worker
from fuzz.case import KINDS, Case
from fuzz.compare import differences
from fuzz.input import Input
from fuzz.life import Act, Life, PlanAsWritten
from fuzz.reduce import reduced
from fuzz.subject import SUBJECTS
from scrapy_simhash import kernel
from scrapy_simhash.index.index import HammingIndex
from scrapy_simhash.page.compiled import CompiledReader, compiled_reader
from scrapy_simhash.page.reading import Reading

needs_the_kernel = pytest.mark.skipif(compiled_reader() is None, reason=f"pure Python runs: {kernel.REASON}")

FOUR_BY_SIXTEEN = PlanAsWritten([16] * 4, [[0], [1], [2], [3]])
FOREVER = 10**12


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "fuzz" / program), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
    )


# --- The commands.


@pytest.mark.slow("it takes three seconds on any machine, and `make fuzz` does the same for longer")
@needs_the_kernel
@pytest.mark.parametrize("program", ["run.py", "index.py"])
def test_three_seconds_of_fuzzing_find_nothing(program: str, tmp_path: Path) -> None:
    done = run(program, "--seconds", "3", "--json", "--out", str(tmp_path))
    assert (done.stderr, done.returncode) == ("", 0), done.stdout
    result = json.loads(done.stdout)
    assert result["found"] == []
    assert result["cases"] >= result["covered"] > 0
    assert list(tmp_path.iterdir()) == []


@needs_the_kernel
@pytest.mark.parametrize(
    ("program", "case", "said"),
    [
        ("run.py", Case("html", "<p>one two three"), "1 cases, 1 of them read by the kernel, 0 differences"),
        (
            "index.py",
            Life(3, ((2, None), (FOREVER, FOUR_BY_SIXTEEN)), (Act(0, "add", 5, 1), Act(1, "find", 4))),
            "1 lives, 1 of them short and lived by a scan too, 0 differences",
        ),
    ],
    ids=["page", "life"],
)
def test_a_reproducer_is_tried_again(program: str, case: Input, said: str, tmp_path: Path) -> None:
    done = run(program, "--replay", str(case.keep(tmp_path, "difference")), "--out", str(tmp_path))
    assert (done.stdout[: len(said)], done.returncode) == (said, 0)


# --- What they find.


@needs_the_kernel
def test_a_planted_difference_of_a_page_is_found_and_made_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = CompiledReader.read

    def mistaken(self: CompiledReader, root: object, *given: object) -> Reading | None:
        found = read(self, root, *given)  # type: ignore[arg-type]
        if found is None or found.fingerprint is None or len(root) < 2:  # type: ignore[arg-type]
            return found
        fingerprint = found.fingerprint
        return found._replace(fingerprint=replace(fingerprint, features=fingerprint.features + 1))

    monkeypatch.setattr(CompiledReader, "read", mistaken)
    monkeypatch.setattr(worker, "REDUCTION", 1.0)
    monkeypatch.setattr(worker, "ENOUGH", 1)
    (finding,) = worker.fuzz(random.Random(1), 20, tmp_path).found
    assert " features, sketch " in finding.lines[0]
    assert differences(Case.read(Path(finding.file))) == finding.lines
    assert [file.name for file in tmp_path.iterdir()] == [Path(finding.file).name]


@needs_the_kernel
def test_a_planted_difference_of_an_index_is_found_and_made_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = HammingIndex.find

    def mistaken(self: HammingIndex, value: int) -> object:
        found = find(self, value)
        is_native = kernel.hamming is not None and isinstance(self.core, kernel.hamming.Postings)
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


@needs_the_kernel
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_threads_and_forks_read_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, parent = get_ident(), os.getpid()
    threads: set[int] = set()
    all_at_once = Barrier(3, timeout=60)

    def noted(case: Case) -> list[str]:
        # In a fork there is one thread, which tells nothing but its status.
        if os.getpid() != parent:
            return ["another process"]
        threads.add(get_ident())
        all_at_once.wait()
        return []

    monkeypatch.setattr(worker, "FORKED_EVERY", 1)
    monkeypatch.setattr(worker, "ENOUGH", 2)
    run = worker.fuzz(random.Random(1), 20, tmp_path, SUBJECTS["pages"]._replace(differences=noted), 3)
    assert (run.cases, len(run.found)) == (6, 2)
    assert run.found[0].lines[0].startswith("in a fork: status ")
    assert here not in threads
    assert len(threads) == 3


@needs_the_kernel
def test_an_error_of_the_kernel_and_a_broken_invariant_are_differences(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*given: object) -> None:
        raise AssertionError("buckets overlap")

    monkeypatch.setattr(CompiledReader, "read_texts", fail)
    monkeypatch.setattr(HammingIndex, "_check", fail)
    assert "AssertionError: buckets overlap" in differences(Case("text", "one two three"))[0]
    life = Life(3, ((FOREVER, FOUR_BY_SIXTEEN),), (Act(0, "add", 5, 1),))
    assert live.differences(life) == ["after call 0, add: AssertionError: buckets overlap"]


def test_a_case_is_made_as_small_as_what_it_shows() -> None:
    text = Case("text", "a long text with an x in it, and with more behind it")
    assert reduced(text, lambda smaller: "x" in smaller.content).content == "x"
    tree = Case("tree", "\n".join("abcdefgh"))
    assert reduced(tree, lambda smaller: {"b", "g"} <= set(smaller.content)).content == "b\ng"
    life = Life(3, ((FOREVER, None),), tuple(Act(0, "add_many", value) for value in range(50)))
    short = reduced(life, lambda smaller: {3, 40} <= {act.value for act in smaller.acts})
    assert list(short.calls()) == [("add_many", [3, 40], None)]


# --- What they try.


@pytest.mark.parametrize("make", [generate.case, lives.life])
def test_the_same_seed_makes_the_same_cases(make: Callable[[random.Random], Input]) -> None:
    first, second = random.Random(7), random.Random(7)
    assert [make(first) for _ in range(20)] == [make(second) for _ in range(20)]


def test_cases_of_every_kind_become_pages() -> None:
    dice = random.Random(2)
    cases = [generate.case(dice) for _ in range(150)]
    assert {case.kind for case in cases} == set(KINDS)
    pages = [case for case in cases if case.kind != "text"]
    assert sum(case.root() is not None for case in pages) > 0.9 * len(pages)


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


@pytest.mark.parametrize(
    "case",
    [
        Case("text", "\x00\ud800\U0010ffff\u2028é", "de", 3, True),
        Life(
            3,
            ((5, None), (10, PlanAsWritten([32, 32], None, [1, 1])), (FOREVER, FOUR_BY_SIXTEEN)),
            (
                Act(0, "add_many", 2**64 - 1),
                Act(0, "add_many", -1),
                Act(1, "add", True, None),
                Act(2, "pairs"),
            ),
            scan=1,
            starved=10,
            seed=4,
        ),
    ],
    ids=["page", "life"],
)
def test_a_case_is_written_and_read_as_it_is(case: Case | Life, tmp_path: Path) -> None:
    case.write(tmp_path / "case.json")
    assert type(case).read(tmp_path / "case.json") == case
    assert (tmp_path / "case.json").read_bytes().isascii()


def test_seeds_are_the_example_site_and_the_corpus() -> None:
    assert len(generate.seeds()) > 100
    assert any("Chandler" in seed for seed in generate.seeds())
