"""Shared by all benchmarks: arguments, environment, progress, and output as tables or JSON."""

from __future__ import annotations

import json
import os
import platform
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import reduce
from importlib.metadata import version
from operator import getitem
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import scrapy_simhash
from benchmarks import ROOT
from scrapy_simhash import kernel
from scrapy_simhash.fingerprinter import SCHEME

_T = TypeVar("_T")
#: Max words that are shown of a list, such as the list of faults.
SHOWN = 20
#: Figures in the documentation: value, command, and place of the value in the command's JSON.
DOCUMENTED = ROOT / "docs" / "figures.json"


def arguments_of(doc: str | None) -> ArgumentParser:
    """Return a parser with the first line of a program's *doc*, and ``--json`` and ``--docs`` of show()."""
    parser = ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument(
        "--docs", dest="json", action="store_const", const=DOCUMENTED,
        help="print JSON, and write the figures that the documentation states into docs/figures.json",
    )  # fmt: skip
    return parser


def show(program: str, options: Namespace, given: Sequence[str] | None, figures: Mapping[str, Any]) -> int:
    """Print *figures* as tables or as JSON; return 1 if there are any ``faults``, otherwise 0."""
    progress("")
    result = {**environment(program, sys.argv[1:] if given is None else given), **figures}
    if options.json == DOCUMENTED:
        document(result["command"].replace(" --docs", ""), figures)
    if options.json:
        print(json.dumps(result, indent=2, ensure_ascii=False, default=str))
    else:
        print("\n\n".join(["\n".join(result.pop(name) for name in ("versions", "machine", "command")),
                           *tables(result)]))  # fmt: skip
    return int(bool(figures.get("faults")))


def document(command: str, figures: Mapping[str, Any], file: Path = DOCUMENTED) -> None:
    """Write the values that *command* measures into *file*, with today's date."""
    known = json.loads(file.read_text("utf-8"))
    for figure in known.values():
        if f"$ {figure['command']}" == command:
            values = [reduce(getitem, path, figures) for path in figure["at"]]
            figure["value"] = " / ".join(format(value, figure["format"]) for value in values)
            figure["measured"] = f"{date.today()}"
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(figure)}" for name, figure in known.items())
    file.write_text(f"{{\n{lines}\n}}\n", "utf-8")


def environment(program: str, given: Sequence[str]) -> dict[str, str]:
    """Return the command, the machine and the versions."""
    return {
        "command": " ".join(["$ python", f"benchmarks/{Path(program).name}", *given]),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {platform.system()}",
        "versions": f"Python {platform.python_version()}, Scrapy {version('scrapy')}, lxml {version('lxml')},"
        f" scrapy-simhash {scrapy_simhash.__version__} (scheme {SCHEME}, kernel {kernel.NAME})",
    }


def tables(figures: Mapping[str, Any], title: str = "") -> Iterator[str]:
    """Yield *figures* as tables, with their keys as headings of rows and columns.

    >>> print(*tables({"pages": 1200, "runs": [{"ms": 1.25, "found": None}], "ways": {"a": {"ms": 3}}}), sep="; ")
    pages: 1,200; runs
    ms     found
    1.250      -; ways  ms
    a      3
    """
    plain = [f"{name}: {cell(value)}" for name, value in figures.items() if not _is_nested(value)]
    if plain:
        yield "\n".join([*([title] if title else []), *plain])
    for name, value in figures.items():
        path = f"{title}, {name}" if title else name
        if isinstance(value, Mapping) and value:
            rows = list(value.values())
            if all(isinstance(row, Mapping) and not any(map(_is_nested, row.values())) for row in rows):
                heads = list(dict.fromkeys(head for row in rows for head in row))
                yield table(
                    [path, *heads],
                    [[str(of), *(cell(row.get(head, "")) for head in heads)] for of, row in value.items()],
                )
            else:
                yield from tables(value, path)
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            heads = list(dict.fromkeys(head for row in value for head in row))
            yield f"{path}\n" + table(heads, [[cell(row.get(head, "")) for head in heads] for row in value])
        elif isinstance(value, list) and value:
            yield "\n".join([f"{path}: {len(value):,}", *(f"  {one}" for one in value[:SHOWN])])


def _is_nested(value: object) -> bool:
    return isinstance(value, Mapping | list) and bool(value)


def cell(value: object) -> str:
    """Return a figure as text; numbers with a fraction have at least three digits.

    >>> [cell(value) for value in (0.8054, 0.00123, 12.345, 4321.6, 1_000_000, None, "web", {})]
    ['0.805', '0.00123', '12.3', '4,322', '1,000,000', '-', 'web', '0']
    """
    if isinstance(value, float):
        if 0 < abs(value) < 0.1:
            return f"{value:.3g}"
        return f"{value:,.{3 if abs(value) < 10 else 1 if abs(value) < 1_000 else 0}f}"
    if value is None:
        return "-"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value) if not isinstance(value, Mapping | list) else "0"


def spread_of(values: Sequence[float]) -> dict[str, float]:
    """Return the median, the minimum and the maximum of *values*."""
    return {"median": median(values), "least": min(values), "greatest": max(values)}


def progress(text: str) -> None:
    """Show *text* instead of the last progress; only if standard error is a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def counted(items: Iterable[_T], total: int, what: str) -> Iterator[_T]:
    """Yield *items*, and after every 50 items show the number so far, and *total*."""
    for number, item in enumerate(items, 1):
        if number % 50 == 0:
            progress(f"{number:,} of {total:,} {what} ...")
        yield item
    progress("")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""Return *rows* under *heads*, with the first column aligned left and the others right.

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


def _processor() -> str:
    """Return the name of the processor if it is known, otherwise its architecture."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text("utf-8").splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]} ({platform.machine()})" if names else platform.machine()
