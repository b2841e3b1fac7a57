"""The command in its own process, with real files, pipes and signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest

from tests.docs.reader import PACKAGE

COMMAND = (sys.executable, "-m", "scrapy_simhash")
#: Without a buffer, argparse ignores text that it cannot print.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="a thing of POSIX")
linux_only = pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")

#: The example in the documentation, the same fingerprint without bit 0, and three numbers that a float cannot
#: represent.
INPUT = b"""\
5456993838078482869
5457064206285785525
18446744073709551615
5456993838078482868

18446744073709551614
9007199254740993
18446744073709551614
"""
PAIRS = [
    [5456993838078482868, 5456993838078482869],
    [5456993838078482869, 5457064206285785525],
    [18446744073709551614, 18446744073709551614],
    [18446744073709551614, 18446744073709551615],
]


def run(*arguments: str | Path, read: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run the command with *read* as standard input."""
    return subprocess.run(
        [*COMMAND, *arguments], input=read, capture_output=True, check=False, env=ENVIRONMENT, timeout=60
    )


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- Inputs and outputs.


def test_pairs_are_written_between_pipes_in_the_format_of_simhash_cpp() -> None:
    done = run("find", *"--distance 3 --output -".split(), read=INPUT)
    assert (done.returncode, done.stderr) == (0, b"")
    assert sorted(map(json.loads, done.stdout.splitlines())) == PAIRS
    # Byte for byte: a space after the comma, and a line feed after every array, including the last.
    assert b"[18446744073709551614, 18446744073709551615]\n" in done.stdout
    assert done.stdout.endswith(b"]\n")


def test_an_output_may_replace_its_input(tmp_path: Path) -> None:
    both = tmp_path / "hashes.txt"
    both.write_bytes(INPUT)
    done = run("find", both, "--output", both)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert sorted(map(json.loads, both.read_bytes().splitlines())) == PAIRS
    assert names(tmp_path) == ["hashes.txt"]


# --- Failures: status 1, and a message of one sentence.


@linux_only
def test_a_full_disk_is_logged_once(tmp_path: Path) -> None:
    pytest.importorskip("shtab")
    (tmp_path / "hashes.txt").write_bytes(INPUT)
    arguments = ["find", str(tmp_path / "hashes.txt")]
    done = run(*arguments, "--output", "/dev/full")
    assert done.stderr == b"scrapy-simhash: cannot write /dev/full: No space left on device\n"
    assert done.returncode == 1
    with Path("/dev/full").open("wb") as full:
        for further in (["--help"], ["--completion", "bash"]):
            process = started(*further, stdout=full.fileno())
            _, complained = process.communicate(timeout=60)
            assert complained == b"scrapy-simhash: cannot write standard output: No space left on device\n"
            assert process.returncode == 1


# --- Interrupts, and closed pipes.


#: Starts a program with the default signal handlers, even if this process ignores signals.
AS_IN_A_TERMINAL = """
import os, signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""


def started(
    *arguments: str | Path, stdin: int = subprocess.PIPE, stdout: int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", AS_IN_A_TERMINAL, *COMMAND, *arguments],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )


@posix_only
@pytest.mark.parametrize(("number", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_during_a_run_leaves_only_the_old_output(tmp_path: Path, number: str, status: int) -> None:
    (tmp_path / "pairs").write_bytes(b"old")
    with started("find", "--output", tmp_path / "pairs") as process:
        assert process.stdin is not None
        # More than a pipe holds: after all of it was written, the command is reading and waits for more.
        process.stdin.write(b"12345\n" * 200_000)
        process.stdin.flush()
        assert len(names(tmp_path)) == 2
        process.send_signal(getattr(signal, number))
        said, complained = process.communicate(timeout=60)
    assert (process.returncode, said, complained) == (status, b"", b"")
    assert (names(tmp_path), (tmp_path / "pairs").read_bytes()) == (["pairs"], b"old")


#: Hashes with twelve thousand pairs two bits apart: more than a pipe and the buffers at both ends hold.
CROWD = b"".join(b"%d\n" % (1 << first | 1 << second) for first, second in combinations(range(30), 2))


@posix_only
@pytest.mark.parametrize(
    "arguments",
    [["find"], ["--help"], ["find", "--output", "/dev/stdout"]],
)
def test_a_closed_pipe_causes_no_error_message(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "hashes.txt").write_bytes(CROWD)
    reading, writing = os.pipe()
    os.close(reading)
    with (tmp_path / "hashes.txt").open("rb") as hashes:
        process = started(*arguments, stdin=hashes.fileno(), stdout=writing)
        os.close(writing)
        _, complained = process.communicate(timeout=60)
    assert (process.returncode, complained) == (141, b"")


# --- Help, and the cost of a start.


#: Prints the modules that the command imports for its help, without those of the package's ``__init__.py``.
LIGHT = """
import contextlib, io, sys, types
before = set(sys.modules)
package = types.ModuleType("scrapy_simhash")
package.__path__, package.__version__ = [sys.argv[1]], "1"
sys.modules["scrapy_simhash"] = package
from scrapy_simhash.cli.main import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main(["--help"])
print(*(sys.modules.keys() - before))
"""


def test_the_help_imports_neither_the_index_nor_any_library() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", LIGHT, PACKAGE], capture_output=True, check=True, encoding="utf-8"
    )
    imported = set(done.stdout.split())
    assert {name for name in imported if name.startswith("scrapy_simhash.")} == {
        "scrapy_simhash.cli.main",
        "scrapy_simhash.cli",
        "scrapy_simhash.cli.streams",
        "scrapy_simhash.display",
        "scrapy_simhash.exceptions",
        "scrapy_simhash.files",
        "scrapy_simhash.files.replacement",
    }
    assert {name.partition(".")[0] for name in imported} <= {"scrapy_simhash", *sys.stdlib_module_names}
