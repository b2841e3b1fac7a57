"""What the benchmarks print alike: where they ran, how far they are, tables."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import scrapy_simhash
from scrapy_simhash import kernel
from scrapy_simhash.fingerprinter import SCHEME

_T = TypeVar("_T")


def environment(program: str, arguments: Sequence[str]) -> dict[str, str]:
    """Return what belongs beside every figure: the command, the machine, the versions."""
    return {
        "command": " ".join(["python", f"benchmarks/{Path(program).name}", *arguments]),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {platform.system()}",
        "versions": f"Python {platform.python_version()}, Scrapy {version('scrapy')}, lxml {version('lxml')},"
        f" scrapy-simhash {scrapy_simhash.__version__} (scheme {SCHEME}, kernel {kernel.NAME})",
    }


def opening(result: Mapping[str, Any]) -> str:
    """Return the lines above the figures: what environment() returned, with ``seconds`` where *result* has them."""
    took = f"  # {result['seconds']:.0f} s" if "seconds" in result else ""
    return f"{result['versions']}\n{result['machine']}\n$ {result['command']}{took}"


def progress(text: str) -> None:
    """Show *text* in place of the progress shown before; on a terminal's standard error only."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def counted(items: Iterable[_T], total: int, what: str) -> Iterator[_T]:
    """Yield *items*, and show every 50th time how many of *total* have come."""
    for number, item in enumerate(items, 1):
        if number % 50 == 0:
            progress(f"{number:,} of {total:,} {what} ...")
        yield item
    progress("")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""Return *rows* under *heads* in columns, the first one to the left, the others to the right.

    >>> print(table(["", "pages"], [["all", "1,200"], ["short", "7"]]))
           pages
    all    1,200
    short      7
    """
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        ).rstrip()
        for row in [heads, *rows]
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
