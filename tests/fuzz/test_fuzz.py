from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from threading import Barrier, get_ident

import pytest

from fuzz import ROOT, generate, worker
from fuzz.case import KINDS, Case
from fuzz.compare import differences
from fuzz.reduce import reduced
from fuzz.subject import SUBJECTS
from scrapy_simhash import kernel
from scrapy_simhash.page.compiled import CompiledReader, compiled_reader
from scrapy_simhash.page.reading import Reading

needs_the_kernel = pytest.mark.skipif(compiled_reader() is None, reason=f"pure Python runs: {kernel.REASON}")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "fuzz" / "run.py"), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
    )


# --- The command.


@pytest.mark.slow("it takes three seconds on any machine, and `make fuzz` does the same for longer")
@needs_the_kernel
def test_three_seconds_of_fuzzing_find_nothing(tmp_path: Path) -> None:
    done = run("--seconds", "3", "--json", "--out", str(tmp_path))
    assert (done.stderr, done.returncode) == ("", 0), done.stdout
    result = json.loads(done.stdout)
    assert result["found"] == []
    assert result["cases"] >= result["covered"] > 0
    assert list(tmp_path.iterdir()) == []


@needs_the_kernel
def test_a_reproducer_is_read_again(tmp_path: Path) -> None:
    file = Case("html", "<p>one two three").keep(tmp_path, "difference")
    done = run("--replay", str(file), "--out", str(tmp_path))
    assert done.stdout.startswith("1 cases, 1 of them read by the kernel, 0 differences")
    assert done.returncode == 0


# --- What it finds.


@needs_the_kernel
def test_a_planted_difference_is_found_and_made_small(
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
    kept = Case.read(Path(finding.file))
    assert differences(kept) == finding.lines
    assert [file.name for file in tmp_path.iterdir()] == [Path(finding.file).name]


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
def test_an_error_of_the_kernel_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(CompiledReader, "read_texts", fail)
    assert "MemoryError: no room" in differences(Case("text", "one two three"))[0]


def test_a_case_is_made_as_small_as_what_it_shows() -> None:
    case = Case("text", "a long text with an x in it, and with more behind it")
    assert reduced(case, lambda smaller: "x" in smaller.content).content == "x"
    tree = Case("tree", "\n".join("abcdefgh"))
    assert reduced(tree, lambda smaller: {"b", "g"} <= set(smaller.content)).content == "b\ng"


# --- What it reads.


def test_the_same_seed_makes_the_same_cases() -> None:
    first, second = random.Random(7), random.Random(7)
    assert [generate.case(first) for _ in range(20)] == [generate.case(second) for _ in range(20)]


def test_cases_of_every_kind_become_pages() -> None:
    dice = random.Random(2)
    cases = [generate.case(dice) for _ in range(150)]
    assert {case.kind for case in cases} == set(KINDS)
    pages = [case for case in cases if case.kind != "text"]
    assert sum(case.root() is not None for case in pages) > 0.9 * len(pages)


def test_a_case_is_written_and_read_as_it_is(tmp_path: Path) -> None:
    case = Case("text", "\x00\ud800\U0010ffff\u2028é", "de", 3, True)
    case.write(tmp_path / "case.json")
    assert Case.read(tmp_path / "case.json") == case
    assert (tmp_path / "case.json").read_bytes().isascii()


def test_seeds_are_the_example_site_and_the_corpus() -> None:
    assert len(generate.seeds()) > 100
    assert any("Chandler" in seed for seed in generate.seeds())
