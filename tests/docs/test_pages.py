"""The pages hold together: paths lead to files, no page is forgotten, the README stays short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.reader import DOCS, PACKAGE, ROOT, TEXTS

#: What a reader makes, what a command makes, and how our stats begin.
MADE = ("archive/", "myproject/", "out/", ".venv/", "simhash/")


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_paths_lead_to_files(page: Path) -> None:
    text = page.read_text("utf-8")
    links = re.findall(r"\]\(([^)#\s]+)", text) if page.suffix == ".md" else []
    for link in links:
        assert "://" in link or (page.parent / link).exists(), link
    homes = (ROOT, PACKAGE, ROOT / "example_project")
    for path in re.findall(r"(?<!`)`{1,2}((?:[\w.-]+/)+(?:[\w-]+\.\w+)?)`{1,2}(?!`)", text):
        assert path.startswith(MADE) or any((home / path).exists() for home in homes), path


def test_every_page_is_in_the_sidebar() -> None:
    index = "".join((DOCS / name).read_text("utf-8") for name in ("index.rst", "formats.rst"))
    for page in DOCS.rglob("*.rst"):
        name = page.relative_to(DOCS).with_suffix("").as_posix()
        assert name == "index" or re.search(rf"^    {name}$", index, flags=re.MULTILINE), name
