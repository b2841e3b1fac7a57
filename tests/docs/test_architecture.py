"""The picture and the table of docs/architecture.rst are those of the files."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

from tests.docs.reader import DOCS, PACKAGE, blocks

PAGE = DOCS / "architecture.rst"


def drawn_files() -> set[str]:
    """Return the paths in the picture, folders with a slash at their end."""
    (layout,) = (block for block in blocks(PAGE, "text") if block.text.startswith("scrapy_simhash/"))
    paths = set()
    folders: list[tuple[int, str]] = []
    for line in layout.text.splitlines()[1:]:
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        name = line.split()[0]
        folders = [(depth, folder) for depth, folder in folders if depth < indent]
        path = "".join(folder for _, folder in folders) + name
        assert path not in paths, f"{path} is drawn twice"
        paths.add(path)
        if name.endswith("/"):
            folders.append((indent, name))
    return paths


def test_the_picture_shows_every_folder_and_module_and_no_other() -> None:
    folders = {path for path in PACKAGE.rglob("*") if path.is_dir() and path.name != "__pycache__"}
    # A folder's own __init__ is the folder.
    modules = {
        path
        for path in PACKAGE.rglob("*.py*")
        if path.suffix in {".py", ".pyx"} and path.name != "__init__.py"
    }
    there = {f"{path.relative_to(PACKAGE).as_posix()}/" for path in folders}
    there |= {path.relative_to(PACKAGE).as_posix() for path in modules}
    assert drawn_files() == there | {"__init__.py"}


def table_of_imports() -> dict[str, tuple[set[str], set[str]]]:
    text = PAGE.read_text("utf-8")
    table = text[text.index(":name: imports") :]
    rows = re.findall(r"^ +\* - (.*)\n +- ?(.*)\n +- ?(.*)$", table, flags=re.MULTILINE)
    told = {}
    for modules, ours, others in rows[1:]:
        for module in modules.split(", "):
            told[module] = ({*filter(None, ours.split(", "))}, {*filter(None, others.split(", "))})
    return told


def test_the_table_shows_what_each_part_imports() -> None:
    found: dict[str, tuple[set[str], set[str]]] = {}
    for path in PACKAGE.rglob("*.py"):
        part = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if part == "__init__":  # the shop window imports what it shows
            continue
        ours, others = found.setdefault(part, (set(), set()))
        for module in imported(path):
            package, _, rest = module.partition(".")
            if package == "scrapy_simhash":
                ours |= {rest.partition(".")[0]} - {part}
            elif package not in sys.stdlib_module_names:
                others.add(package)
    assert table_of_imports() == found


def imported(path: Path) -> set[str]:
    """Return the modules that *path* imports when it runs: not those for type checkers only."""
    modules = set()
    waiting: list[ast.AST] = [ast.parse(path.read_text("utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "scrapy_simhash":
            modules |= {f"scrapy_simhash.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(str(node.module))
        waiting += ast.iter_child_nodes(node)
    return modules
