"""Count the instructions of a process with ``valgrind --tool=callgrind``, to within 1 % even on a busy machine."""

from __future__ import annotations

import gc
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import ROOT

#: Replaces figures if valgrind is not installed.
NOT_COUNTED = "they cannot be counted here: valgrind is not installed"


def can_count() -> bool:
    """Return whether valgrind is installed."""
    return shutil.which("valgrind") is not None


class Instructions:
    """Makes callgrind, which runs this process, count from the second quarter of a crawl until it is about to end.

    So the start of the process is not counted. Objects that exist by then are hidden from Python's garbage collector
    (``gc.freeze``). Otherwise, in a measurement of only sixty pages, one full collection of all objects that Scrapy
    has loaded would count as a tenth of the parse, although it happens once in thousands of pages.
    """

    @staticmethod
    def counted(of: int) -> tuple[int, int]:
        """Return the numbers of the pages after which counting starts and ends."""
        return of // 4, of - 3

    def met(self, number: int, of: int) -> None:
        """Start or stop counting after this number of pages."""
        first, last = self.counted(of)
        if number == first:
            gc.collect()
            gc.freeze()
            self._switch("on")
        elif number == last:
            # Free the trees of all pages here, so that the time of the last collection does not matter.
            gc.collect()
            self._switch("off")

    def _switch(self, state: str) -> None:
        command = ["callgrind_control", "-i", state, str(os.getpid())]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        if "OK" not in done.stdout:
            raise RuntimeError(f"callgrind does not answer: {done.stdout}")


def instructions_of(module: str, given: Any, pages: int) -> float:
    """Run *module* with ``--child`` and a pickle of *given*; return the thousands of instructions per page.

    The module uses `Instructions` to count *pages* pages. Raises RuntimeError if none are counted. Takes minutes.
    """
    first, last = Instructions.counted(pages)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "given")
        file.write_bytes(pickle.dumps(given))
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={os.devnull}"]
        command += [sys.executable, "-m", module, "--child", str(file)]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or found is None:
        raise RuntimeError(f"no instructions were counted: {done.stderr[-2000:]}")
    return int(found[1]) / (last - first) / 1000
