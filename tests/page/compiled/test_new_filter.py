"""The page notes/filters.rst, followed: a filter is added in page/text/main_text.py alone, and compiled again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.reader import blocks

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "notes" / "filters.rst"
MAIN_TEXT = Path("scrapy_simhash", "page", "text", "main_text.py")


def changes() -> list[tuple[str, str]]:
    """Return what the diff on the page replaces, and by what, hunk by hunk."""
    (diff,) = blocks(PAGE, "diff")
    hunks = []
    for hunk in re.split(r"^@@ .+ @@\n", diff.text, flags=re.MULTILINE)[1:]:
        lines = [line or " " for line in hunk.splitlines()]
        old, new = ("".join(f"{line[1:]}\n" for line in lines if line[0] in kinds) for kinds in (" -", " +"))
        hunks.append((old, new))
    return hunks


@pytest.mark.slow("it builds the kernel")
def test_the_steps_of_the_page_lead_to_a_filter_that_is_compiled_too(tmp_path: Path) -> None:
    ignore = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd")
    shutil.copytree(ROOT / "scrapy_simhash", tmp_path / "scrapy_simhash", ignore=ignore)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / name)
    (test,) = (block for block in blocks(PAGE, "python") if block.caption)
    (tmp_path / "test_button.py").write_text(test.text, "utf-8")

    # Step 2: it fails. There is no kernel yet, so that both halves read with Python.
    assert "2 failed" in run_test(tmp_path, SCRAPY_SIMHASH_KERNEL="pure")

    # Step 3.
    source = (tmp_path / MAIN_TEXT).read_text("utf-8")
    for old, new in changes():
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    (tmp_path / MAIN_TEXT).write_text(source, "utf-8")

    # Step 4: what "make kernel" runs.
    run(tmp_path, "setup.py", "-q", "build_ext", "--inplace", SCRAPY_SIMHASH_BUILD="require")
    assert "2 passed" in run_test(tmp_path, SCRAPY_SIMHASH_KERNEL="native")


def run_test(folder: Path, **environment: str) -> str:
    options = ("-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(folder))
    return run(folder, "-m", "pytest", *options, "test_button.py", may_fail=True, **environment)


def run(folder: Path, *arguments: str, may_fail: bool = False, **environment: str) -> str:
    """Run Python in *folder*, where it finds the copy; return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(folder), **environment}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert may_fail or done.returncode == 0, done.stderr
    return done.stdout + done.stderr
