"""Build a copy of the C extension with sanitizers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from fuzz import ROOT

SANITIZE = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g -O1"
#: Arrays have no spare room, so that reads beyond an array are detected.
TIGHT = "-DSIMHASH_TIGHT_ARRAYS"
OPTIONS = "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1"


def build(folder: Path) -> dict[str, str]:
    """Build a copy of the package in *folder*; return the environment in which Python can load it.

    Raises RuntimeError except on Linux with gcc.
    """
    compiler = shutil.which("gcc")
    if not sys.platform.startswith("linux") or compiler is None:
        raise RuntimeError("--sanitize needs Linux and gcc")
    asan = _asked(compiler, "-print-file-name=libasan.so")
    if not Path(asan).is_absolute():
        raise RuntimeError("--sanitize needs libasan, which this gcc has not")
    _copy(folder)
    environment = {
        **os.environ,
        "CC": compiler,
        "CFLAGS": f"{SANITIZE} {TIGHT}",
        "SCRAPY_SIMHASH_BUILD": "require",
    }
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(
        command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    return {
        "LD_PRELOAD": asan,
        "ASAN_OPTIONS": f"{OPTIONS}:log_path={folder / 'report'}",
        "UBSAN_OPTIONS": f"print_stacktrace=1:halt_on_error=1:log_path={folder / 'report'}",
        # Python's own allocator would hide reads beyond a string.
        "PYTHONMALLOC": "malloc",
    }


def report(folder: Path) -> str:
    """Return the report of the sanitizers; empty if there is none."""
    return "\n".join(file.read_text("utf-8", "replace") for file in sorted(folder.glob("report.*")))


def _copy(folder: Path) -> None:
    ignore = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd")
    shutil.copytree(ROOT / "scrapy_simhash", folder / "scrapy_simhash", ignore=ignore)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    # The compiler uses the last -O option, which is that of setup.py.
    setup = (ROOT / "setup.py").read_text("utf-8").replace('"-O3"', '"-O1"')
    (folder / "setup.py").write_text(setup, "utf-8")


def _asked(compiler: str, question: str) -> str:
    done = subprocess.run([compiler, question], check=True, capture_output=True, text=True)
    return done.stdout.strip()
