"""Documented names exist, and documented numbers agree with the code."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest

from tests.docs.reader import DOCS, PACKAGE, PAGES, ROOT, TEXTS

#: Folders that readers or commands make, and the prefix of the plugin's stats.
MADE = ("archive/", "myproject/", "out/", ".venv/", "simhash/")


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_paths_lead_to_existing_files(page: Path) -> None:
    text = page.read_text("utf-8")
    links = re.findall(r"\]\(([^)#\s]+)", text) if page.suffix == ".md" else []
    for link in links:
        assert "://" in link or (page.parent / link).exists(), link
    homes = (ROOT, PACKAGE, ROOT / "example_project")
    for path in re.findall(r"(?<!`)`{1,2}((?:[\w.-]+/)+(?:[\w-]+\.\w+)?)`{1,2}(?!`)", text):
        assert path.startswith(MADE) or any((home / path).exists() for home in homes), path


FIGURES = json.loads((DOCS / "figures.json").read_text("utf-8"))


@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_is_used_and_has_a_command_and_a_date(name: str) -> None:
    figure = FIGURES[name]
    assert set(figure) == {"value", "command", "measured", "at", "format"}
    program, *_ = figure["command"].removeprefix("python ").split()
    assert (ROOT / program).is_file()
    assert date.fromisoformat(figure["measured"])
    assert any(f"|{name}|" in page.read_text("utf-8") for page in PAGES)
