"""Completion scripts that shtab generates from the parsers: their contents, and a run in bash."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scrapy_simhash.cli.main import SHELLS, VERBS, main


def test_without_shtab_the_error_names_the_package(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["--completion", "bash"]) == 2
    message = "scrapy-simhash: --completion needs shtab: pip install 'scrapy-simhash[cli]'\n"
    assert capsys.readouterr() == ("", message)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_each_shell_has_all_verbs_and_their_options(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("shtab")
    assert main(["--completion", shell]) == 0
    script = capsys.readouterr().out
    for word in (*VERBS, "distance", "two-pass", "preferred"):
        assert word in script
    if shutil.which(shell) is not None:
        (tmp_path / "completions").write_text(script, "utf-8")
        assert subprocess.run([shell, "-n", str(tmp_path / "completions")], check=False).returncode == 0
