"""The lines of a change feed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit


class Change(NamedTuple):
    """A change that a crawl must report."""

    path: str
    change: str
    previous: str | None = None


def feed_lines(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of the feed ``changes.jsonl`` in *folder*."""
    file = folder / "changes.jsonl"
    return [json.loads(line) for line in file.read_text("ascii").splitlines()] if file.exists() else []


def change_of(line: dict[str, Any]) -> Change:
    """Return the change in a line of the feed."""
    previous = line["previous_url"]
    return Change(urlsplit(line["url"]).path, line["change"], previous and urlsplit(previous).path)
