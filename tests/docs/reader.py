"""Read the documentation for the tests: pages and their code blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "scrapy_simhash"
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = sorted(path for path in DOCS.rglob("*.rst") if "_build" not in path.parts)
#: For developers, not part of the site.
NOTES = sorted((ROOT / "notes").glob("*.rst"))
#: All pages for users.
TEXTS = [
    *PAGES,
    *NOTES,
    README,
    ROOT / "CHANGES.md",
    ROOT / "example_project" / "README.md",
    *sorted((ROOT / "changelog.d").glob("*.md")),
]

_RST_BLOCK = re.compile(r"( *)\.\. code-block:: (\w+)\n")
_OPTION = re.compile(r" *:(\w+): (.+)")
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A code block: its place, language, caption, text, and the name that the page uses for it."""

    page: Path
    line: int
    language: str
    caption: str
    text: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path, *languages: str) -> list[Block]:
    """Return the code blocks of *page* in order, only those in *languages* if given."""
    found = _rst_blocks(page) if page.suffix == ".rst" else _markdown_blocks(page)
    return [block for block in found if not languages or block.language in languages]


def all_blocks(*languages: str) -> list[Block]:
    """Return the code blocks of README, docs and notes."""
    return [block for page in [README, *PAGES, *NOTES] for block in blocks(page, *languages)]


def words(text: str) -> str:
    """Return *text* with white space collapsed, because sentences may be wrapped anywhere."""
    return " ".join(text.split())


def entries(page: Path) -> dict[str, str]:
    """Return the indented text below each line that is only a ``literal``."""
    found: dict[str, list[str]] = {}
    body: list[str] = []
    for line in page.read_text("utf-8").splitlines():
        if match := re.fullmatch(r"``([^`]+)``", line):
            body = found[match[1]] = []
        elif line.startswith(" "):
            body.append(line.strip())
        elif line:
            body = []
    return {name: words(" ".join(lines)) for name, lines in found.items()}


def sections(page: Path) -> dict[str, str]:
    """Return the text below each heading that is underlined with dashes."""
    parts = re.split(r"^(.+)\n-{3,}\n", page.read_text("utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _rst_blocks(page: Path) -> Iterator[Block]:
    lines = page.read_text("utf-8").splitlines(keepends=True)
    for number, line in enumerate(lines):
        match = _RST_BLOCK.fullmatch(line)
        if match is None:
            continue
        indent = len(match[1])
        body = []
        for following in lines[number + 1 :]:
            if following.strip() and len(following) - len(following.lstrip()) <= indent:
                break
            body.append(following)
        options = 0
        while body[options].strip().startswith(":"):
            options += 1
        named = {found[1]: found[2] for option in body[:options] if (found := _OPTION.match(option))}
        text = dedent("".join(body[options:])).strip("\n") + "\n"
        yield Block(page, number + 1, match[2], named.get("caption", ""), text, named.get("name", ""))


def _markdown_blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for match in _FENCE.finditer(text):
        yield Block(page, text.count("\n", 0, match.start()) + 1, match[1], "", match[2])
