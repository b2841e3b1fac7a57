"""A program that is killed while it claims pages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def killed(program: str, place: str, pages: int = 1_200) -> int:
    """Run *program* on the store at *place* and kill it after *pages*; return how many it had claimed.

    The program prints the number of each page it has claimed.
    """
    command = [sys.executable, "-c", program, place]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="ascii") as process:
        assert process.stdout is not None
        seen = 0
        for line in process.stdout:
            seen = int(line)
            if seen == pages:
                process.kill()
                break
        # And what it has written before it was killed.
        return max([seen, *map(int, process.stdout.read().split("\n")[:-1])])
