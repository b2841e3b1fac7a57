"""The picture and the tables of docs/architecture.rst are those of the files."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

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


#: What the package is made of, each row with what it imports: of this project, and of others where that is told.
Rows = dict[str, tuple[set[str], set[str]]]


def table(name: str) -> Rows:
    """Return a table of imports, in its order."""
    text = PAGE.read_text("utf-8")
    start = text.index(f":name: {name}\n")
    end = re.compile(r"^\S", flags=re.MULTILINE).search(text, start)
    assert end is not None
    rows = re.findall(
        r"^ +\* - (.*)\n +- ?(.*)\n(?: +- ?(.*)\n)?", text[start : end.start()], flags=re.MULTILINE
    )
    told: Rows = {}
    for modules, ours, others in rows[1:]:
        for module in modules.split(", "):
            told[module] = ({*filter(None, ours.split(", "))}, {*filter(None, others.split(", "))})
    return told


def part_of(names: Sequence[str]) -> str:
    """Return the part that a module belongs to: a folder, a module beside the folders, or a folder in page/."""
    return "/".join(names[:2]) if names[0] == "page" else names[0]


def parts() -> Rows:
    """Return what each part of the package imports."""
    found: Rows = {}
    for path in PACKAGE.rglob("*.py"):
        names = path.relative_to(PACKAGE).with_suffix("").parts
        if names in {("__init__",), ("page", "__init__")}:  # the shop window imports what it shows
            continue
        ours, others = found.setdefault(part_of(names), (set(), set()))
        for module in imported(path):
            package, _, rest = module.partition(".")
            if package == "scrapy_simhash":
                ours |= {part_of(rest.split("."))} - {part_of(names)}
            elif package not in sys.stdlib_module_names:
                others.add(package)
    return found


def modules_of_crawl() -> Rows:
    """Return what each module in crawl/ imports of the others."""
    found: Rows = {}
    for path in (PACKAGE / "crawl").glob("[!_]*.py"):
        ours = {name for name in imported(path) if name.startswith("scrapy_simhash.crawl.")}
        found[path.stem] = ({name.split(".")[2] for name in ours} - {path.stem}, set())
    return found


@pytest.mark.parametrize(("name", "find"), [("imports", parts), ("imports-of-crawl", modules_of_crawl)])
def test_the_tables_show_what_imports_what(name: str, find: Callable[[], Rows]) -> None:
    assert table(name) == find()


@pytest.mark.parametrize("name", ["imports", "imports-of-crawl"])
def test_each_row_imports_only_what_stands_below_it(name: str) -> None:
    above: set[str] = set()
    for module, (ours, _) in table(name).items():
        above.add(module)
        assert not ours & above, f"{module} imports what stands above it: nothing flows back"


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
        elif isinstance(node, ast.ImportFrom) and node.module in {"scrapy_simhash", "scrapy_simhash.crawl"}:
            modules |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(str(node.module))
        waiting += ast.iter_child_nodes(node)
    return modules
