"""What the benchmarks print alike: where they ran, how far they are, tables."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import scrapy_simhash
from scrapy_simhash import kernel
from scrapy_simhash.fingerprinter import SCHEME


def environment(program: str, arguments: Sequence[str]) -> dict[str, str]:
    """Return what belongs beside every figure: the command, the machine, the versions."""
    return {
        "command": " ".join(["python", f"benchmarks/{Path(program).name}", *arguments]),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {platform.system()}",
        "versions": f"Python {platform.python_version()}, Scrapy {version('scrapy')}, lxml {version('lxml')},"
        f" scrapy-simhash {scrapy_simhash.__version__} (scheme {SCHEME}, kernel {kernel.NAME})",
    }


def progress(text: str) -> None:
    """Show *text* in place of the progress shown before; on a terminal's standard error only."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""Return *rows* under *head* in columns, the first one to the left, the others to the right.

    >>> print(table(["", "pages"], [["all", "1,200"], ["short", "7"]]))
           pages
    all    1,200
    short      7
    """
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        ).rstrip()
        for row in [head, *rows]
    )


def share(value: float | None) -> str:
    """Return a share as it is printed, ``-`` for None.

    >>> share(0.8054), share(None)
    ('0.805', '-')
    """
    return "-" if value is None else f"{value:.3f}"


def _processor() -> str:
    """Return the processor's name where the system tells, otherwise its architecture."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text("utf-8").splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]} ({platform.machine()})" if names else platform.machine()
