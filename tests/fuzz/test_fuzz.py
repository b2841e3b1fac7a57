"""The fuzzers of pages (``fuzz/run.py``), the lives of an index (``index.py``) and wrong calls (``objects.py``)."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fuzz import ROOT, calls, live, lives, worker
from fuzz.case import Case
from fuzz.compare import differences
from fuzz.input import Input
from fuzz.life import Act, Life
from fuzz.subject import SUBJECTS
from scrapy_simhash import kernel
from scrapy_simhash.index import SimhashIndex
from scrapy_simhash.index.plans import classic
from scrapy_simhash.page.compiled import CompiledReader, compiled_reader
from scrapy_simhash.page.reading import Reading

needs_the_kernel = pytest.mark.skipif(compiled_reader() is None, reason=f"pure Python runs: {kernel.REASON}")

FOUR_BY_SIXTEEN = tuple(classic(3, 4))


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
            Life(3, FOUR_BY_SIXTEEN, 2, (Act(0, "add", 5, 1), Act(1, "find", 4))),
            "1 lives, 1 of them with all the memory they want, 0 differences",
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
    find = SimhashIndex.find

    def mistaken(self: SimhashIndex, value: int) -> object:
        found = find(self, value)
        is_native = kernel.hamming is not None and isinstance(self.core, kernel.hamming.Postings)
        return found[:-1] if is_native and len(self) > 1 else found

    monkeypatch.setattr(SimhashIndex, "find", mistaken)
    monkeypatch.setattr(worker, "REDUCTION", 2.0)
    monkeypatch.setattr(worker, "ENOUGH", 1)
    (finding,) = worker.fuzz(random.Random(1), 60, tmp_path, SUBJECTS["index"]).found
    assert "find: the C extension has " in finding.lines[0]
    kept = Life.read(Path(finding.file))
    assert live.differences(kept) == finding.lines
    # Two that are stored, and the search.
    assert len(kept.acts) == 3


@needs_the_kernel
def test_a_crash_by_wrong_calls_is_shown_with_its_calls(tmp_path: Path) -> None:
    file = tmp_path / "crash.json"
    file.write_text(json.dumps(["5.find(1)", "__import__('os').abort()", "Postings0.add(1, 2)"]), "ascii")
    done = run("objects.py", "--replay", str(file), "--out", str(tmp_path))
    assert done.returncode == 1
    assert "(seed 0)" in done.stdout
    assert "__import__('os').abort()" in done.stdout
    assert "Postings0.add(1, 2)" not in done.stdout, "it is made short"


@needs_the_kernel
def test_scripts_of_wrong_calls_raise_exceptions_only() -> None:
    dice = random.Random(1)
    scripts = [calls.script(dice) for _ in range(30)]
    assert [line for script in scripts for line in calls.differences(script)] == []
    assert calls.differences(calls.Script(("raise SystemError(5)",))) == [
        "raise SystemError(5): SystemError(5)"
    ]


# --- What they try.


def test_plans_of_every_kind_are_lived_and_every_call_is_made() -> None:
    dice = random.Random(3)
    made = [lives.life(dice, is_short_of_memory=True) for _ in range(150)]
    assert {max((radius for _, radius in life.plan), default=-1) for life in made} > {-1, 0, 1, 2}
    made_calls = {act.call for life in made for act in life.acts}
    assert made_calls == {
        *(
            "add",
            "add_many",
            "discard",
            "find",
            "find_many",
            "find_or_add",
            "in",
            "iterate",
            "nearest",
            "pairs",
        )
    }
    assert len({life.starved for life in made}) > 2
