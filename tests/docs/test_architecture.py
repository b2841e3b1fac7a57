"""The pictures in docs/architecture.rst are drawn here from the files and their imports, and compared."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import wrap

import pytest

from tests.docs.reader import DOCS, PACKAGE, blocks

PAGE = DOCS / "architecture.rst"


def drawn_files() -> set[str]:
    """Return the paths in the picture of the layout, folders with a slash at their end."""
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


def test_the_layout_shows_every_folder_and_module_and_no_other() -> None:
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


def test_the_files_to_read_first_are_ten() -> None:
    page = PAGE.read_text("utf-8").partition(":name: read-first\n")[2]
    table = page[: page.index("\n\n.. _")]
    files = [line.split("``")[1] for line in table.splitlines() if line.startswith("    * - ``")]
    assert len(files) == 10
    assert [file for file in files if not (PACKAGE / file).is_file()] == []


# --- Who imports whom.

#: The parts that a picture shows, each with what it imports: other parts, and other packages.
Imports = dict[str, tuple[set[str], set[str]]]


def part_of(names: Sequence[str]) -> str:
    """Return the part that a module belongs to: a folder, a module beside the folders, or a folder in page/."""
    return "/".join(names[:2]) if names[0] == "page" else names[0]


def parts() -> Imports:
    """Return what each part of the package imports."""
    found: Imports = {}
    for path in PACKAGE.rglob("*.py"):
        names = path.relative_to(PACKAGE).with_suffix("").parts
        # The public names are imported when they are asked for.
        if names in {("__init__",), ("page", "__init__")}:
            continue
        ours, others = found.setdefault(part_of(names), (set(), set()))
        for module in imported(path):
            package, _, rest = module.partition(".")
            if package == "scrapy_simhash":
                ours |= {part_of(rest.split("."))} - {part_of(names)}
            elif package not in sys.stdlib_module_names:
                others.add(package)
    return found


def modules_of_crawl() -> Imports:
    """Return what each module in crawl/ imports of the others there."""
    found: Imports = {}
    for path in (PACKAGE / "crawl").glob("[!_]*.py"):
        ours = {name for name in imported(path) if name.startswith("scrapy_simhash.crawl.")}
        found[path.stem] = ({name.split(".")[2] for name in ours} - {path.stem}, set())
    return found


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


def levels(found: Imports) -> dict[str, int]:
    """Return the level of each part: 0 if it imports no other, else one above the highest that it imports."""
    level: dict[str, int] = {}
    while len(level) < len(found):
        ready = {part for part, (ours, _) in found.items() if part not in level and ours <= level.keys()}
        assert ready, f"these import each other in a circle: {sorted(found.keys() - level.keys())}"
        level |= {part: max((level[other] + 1 for other in found[part][0]), default=0) for part in ready}
    return level


def picture(found: Imports) -> str:
    """Draw who imports whom: the highest level first, then by name."""
    level = levels(found)
    width = max(map(len, found)) + 2
    lines = [f"level  {'part':<{width}}imports"]
    for part in sorted(found, key=lambda part: (-level[part], part)):
        ours, others = found[part]
        names = [*sorted(ours), *(f"({name})" for name in sorted(others))]
        first, *more = wrap(" ".join(names), 76, break_on_hyphens=False) or ["-"]
        lines.append(f"{level[part]:5}  {part:<{width}}{first}")
        lines += [" " * (width + 7) + line for line in more]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("name", "find"), [("imports", parts), ("imports-of-crawl", modules_of_crawl)])
def test_the_picture_shows_who_imports_whom(name: str, find: Callable[[], Imports]) -> None:
    right = picture(find())
    text = PAGE.read_text("utf-8")
    assert f":name: {name}\n" in text
    drawn = next(block.text for block in blocks(PAGE, "text") if block.name == name)
    assert drawn == right, f"if these imports are meant to be, docs/architecture.rst must show:\n\n{right}"


def test_a_circle_of_imports_is_refused() -> None:
    with pytest.raises(AssertionError, match=r"in a circle: \['page', 'rule'\]"):
        picture({"page": ({"rule"}, set()), "rule": ({"page"}, set()), "config": (set(), set())})
