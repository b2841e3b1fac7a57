"""The program for several processes is run as it stands, by each implementation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scrapy_simhash import kernel
from tests.docs.reader import DOCS, blocks
from tests.golden.texts import TEXTS


@pytest.mark.parametrize("wanted", ["pure", "native"])
def test_pages_are_read_by_a_pool_and_compared_by_one_process(
    wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if wanted == "native" and kernel.hamming is None:
        pytest.skip(f"pure Python runs: {kernel.REASON}")
    monkeypatch.setenv(kernel.VARIABLE, wanted)
    (block,) = (one for one in blocks(DOCS / "how-to" / "without-scrapy.rst", "python") if one.caption)
    assert 'get_context("spawn")' in block.text
    program, pages = tmp_path / block.caption, tmp_path / "pages"
    program.write_text(block.text, "utf-8")
    pages.mkdir()
    for name, text in {"a": TEXTS["en"], "b": TEXTS["de"], "c": f"{TEXTS['en']}<p>Printed."}.items():
        (pages / f"{name}.html").write_text(f"<main><p>{text}", "utf-8")
    done = subprocess.run(
        [sys.executable, str(program), str(pages)],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    a, b, c = (str(pages / f"{name}.html") for name in "abc")
    assert [line.strip() for line in done.stdout.splitlines()] == [
        f"{a} is new",
        f"{b} is new",
        f"{c} repeats {a}",
    ]
