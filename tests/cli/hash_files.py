"""Hashes in a file, one a line, and what a command finds in it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from scrapy_simhash.cli.main import main


def written(path: Path, hashes: Iterable[int], form: str = "{}") -> Path:
    """Write *hashes* to *path*, each in a *form*, and return it."""
    path.write_text("".join(f"{form.format(value)}\n" for value in hashes), "ascii")
    return path


def found(command: str, hashes: Path, *arguments: str) -> str:
    """Return what *command* writes of the *hashes*."""
    place = hashes.with_name("found")
    assert main([command, "--input", str(hashes), "--output", str(place), *arguments]) == 0
    return place.read_bytes().decode("ascii")
