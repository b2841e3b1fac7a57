"""A truth file: JSON with a page or a group a line, so that a change shows as a line."""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any


def line(value: Any) -> str:
    """Return *value* as one line of JSON."""
    return json.dumps(value, ensure_ascii=False)


def sparse(page: Any) -> dict[str, Any]:
    """Return the fields of the dataclass *page* that have not their default value."""
    return {
        field.name: value for field in fields(page) if (value := getattr(page, field.name)) != field.default
    }


def check_or_write(path: Path, make: Callable[[], str], module: str, arguments: list[str] | None) -> bool:
    """Compare the file at *path* with the text that *make* returns, or write that; return whether they are equal now.

    *arguments* are those of the command ``python -m <module>``, None for the process's own.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=f"Check or write {path.name}.")
    parser.add_argument("--write", action="store_true", help="write the file instead of checking it")
    write: bool = parser.parse_args(arguments).write
    text = make()
    if write:
        path.write_text(text, encoding="utf-8")
    elif path.read_text(encoding="utf-8") != text:
        print(
            f"{path.name} is not what the site says now; look at the content, then run with --write",
            file=sys.stderr,
        )
        return False
    return True
