"""The fuzzers find planted errors; ``make fuzz`` runs them."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from fuzz import calls, run
from fuzz.case import Case
from scrapy_simhash import kernel
from scrapy_simhash.page.compiled import CompiledReader, compiled_reader
from scrapy_simhash.page.reading import Reading

pytestmark = pytest.mark.skipif(compiled_reader() is None, reason=f"pure Python runs: {kernel.REASON}")


def test_a_planted_difference_of_a_page_is_found_and_minimised(
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
    monkeypatch.setattr(run, "ENOUGH", 1)
    pages = run.SUBJECTS["pages"]
    (finding,) = run.fuzz(pages, random.Random(1), 20, tmp_path)["found"]
    assert " features, sketch " in finding["lines"][0]
    assert pages.differences(Case.read(Path(finding["file"]).read_text("ascii"))) == finding["lines"]


def test_a_crash_by_wrong_calls_is_reported_and_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Relative paths, as users write them.
    monkeypatch.chdir(tmp_path)
    file, out = Path("crash.json"), Path("out")
    file.write_text(Case("script", "5.find(1)\n__import__('os').abort()").written(), "ascii")
    assert run.main(["objects", "--replay", str(file), "--out", str(out)]) == run.DIFFERS
    assert "did not survive an input, 1 findings (seed 0)" in capsys.readouterr().out
    assert len(list(out.glob("crash-*.json"))) == 1


def test_scripts_of_wrong_calls_only_raise_exceptions() -> None:
    dice = random.Random(1)
    assert [line for _ in range(30) for line in calls.differences(calls.script(dice))] == []
    planted = Case("script", "raise SystemError(5)")
    assert calls.differences(planted) == ["raise SystemError(5): SystemError(5)"]
