"""Read from the source: who imports whom, what is public, what an import costs. Ruff sees to docstrings."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = "scrapy_simhash"
ROOT = Path(__file__).parents[1] / PACKAGE
FILES = sorted(ROOT.rglob("*.py"))


class Import(NamedTuple):
    module: str
    #: Under ``if TYPE_CHECKING``: it names a type, and is not run.
    for_types: bool
    line: int


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


def module_of(file: Path) -> str:
    path = file.relative_to(ROOT.parent).with_suffix("")
    return ".".join(path.parts if path.name != "__init__" else path.parts[:-1])


def imports_of(node: ast.AST, for_types: bool = False) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, for_types, child.lineno) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert not child.level, "imports name the package"
            module = child.module or ""
            # ``from package import part`` names a part too.
            names = [f"{module}.{alias.name}" if module == PACKAGE else module for alias in child.names]
            yield from (Import(name, for_types, child.lineno) for name in names)
        else:
            is_guard = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            yield from imports_of(child, for_types or is_guard)


def all_imports() -> Iterator[tuple[Path, Import]]:
    for file in FILES:
        for found in imports_of(tree_of(file)):
            yield file, found


def is_ours(module: str) -> bool:
    return module.split(".")[0] == PACKAGE


WINDOW = ROOT / "__init__.py"


def place(file: Path, found: Import) -> str:
    return f"{file.relative_to(ROOT.parent)}:{found.line} imports {found.module}"


def room_of(module: str) -> str:
    """Return the folder of a module, or the module itself if it is beside the folders."""
    return module.split(".")[1] if is_ours(module) else module.split(".")[0]


def test_imports_run_down_without_a_circle() -> None:
    imports: dict[str, set[str]] = {}
    for file, found in all_imports():
        # What is public is imported when it is asked for.
        if file != WINDOW and not found.for_types and is_ours(found.module):
            rooms = imports.setdefault(room_of(module_of(file)), set())
            rooms |= {room_of(found.module)} - {room_of(module_of(file))}
    below: set[str] = set().union(*imports.values()) - imports.keys()
    while above := imports.keys() - below:
        ready = {room for room in above if imports[room] <= below}
        circle = {room: sorted(imports[room] - below) for room in above}
        assert ready, f"these import each other in a circle: {circle}"
        below |= ready


def test_each_room_imports_only_those_above_it_on_the_page_of_the_architecture() -> None:
    page = (ROOT.parent / "docs" / "architecture.rst").read_text("utf-8")
    rooms = re.findall(r"^    \* - ``(\w+)/``$", page, flags=re.MULTILINE)
    assert sorted(rooms) == sorted(folder.parent.name for folder in ROOT.glob("*/__init__.py"))
    wrong = [
        place(file, found)
        for file, found in all_imports()
        if not found.for_types
        and (room := file.relative_to(ROOT).parts[0]) in rooms
        and room_of(f"{found.module}.") in rooms[rooms.index(room) + 1 :]
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("room", "others"),
    [("page", {"lxml", "w3lib", "xxhash", "jieba", "scrapy_simhash"}), ("index", {"scrapy_simhash"})],
)
def test_what_reads_and_searches_needs_no_other_packages(room: str, others: set[str]) -> None:
    found = {
        found.module.split(".")[0]
        for file, found in all_imports()
        if room_of(f"{module_of(file)}.") == room and not found.for_types
    }
    assert found - set(sys.stdlib_module_names) <= others


def test_only_the_edge_imports_scrapy() -> None:
    rooms = {
        room_of(module_of(file))
        for file, found in all_imports()
        if file != WINDOW and not found.for_types and found.module.split(".")[0] == "scrapy"
    }
    assert rooms == {"cli", "crawl", "crawling", "encoding", "observers"}


def test_a_crawl_imports_an_observer_only_when_it_makes_it() -> None:
    wrong = [
        f"{file.relative_to(ROOT.parent)}:{node.lineno}"
        for file in (ROOT / "crawl").rglob("*.py")
        for node in tree_of(file).body
        if isinstance(node, ast.ImportFrom) and room_of(f"{node.module}.") in {"observers", "view"}
    ]
    assert wrong == []


# --- What is public.


def in_shop_order(names: list[str]) -> list[str]:
    """Sort as ruff does: CONSTANTS, Classes, functions."""
    return sorted(names, key=lambda name: (0 if name.isupper() else 1 if name[0].isupper() else 2, name))


# The kernel's shows nothing: it chooses, at import, what runs. The first of all has a window of its own.
PACKAGES = [
    file
    for file in FILES
    if file.name == "__init__.py" and any(isinstance(node, ast.ImportFrom) for node in tree_of(file).body)
    if module_of(file) != f"{PACKAGE}.kernel" and file != WINDOW
]


@pytest.mark.parametrize("file", PACKAGES, ids=module_of)
def test_a_package_shows_exactly_what_it_imports_in_order(file: Path) -> None:
    imported = [
        alias.asname or alias.name
        for node in tree_of(file).body
        if isinstance(node, ast.ImportFrom) and node.module != "__future__"
        for alias in node.names
    ]
    shown = importlib.import_module(module_of(file)).__all__
    assert shown == in_shop_order([name for name in imported if not name.startswith("_")])


@pytest.mark.parametrize("file", PACKAGES, ids=module_of)
def test_a_package_does_no_work(file: Path) -> None:
    kinds = {type(node) for node in tree_of(file).body}
    assert kinds <= {ast.Expr, ast.ImportFrom, ast.Assign}


def test_the_shop_window_knows_where_everything_is_and_imports_nothing_of_it_by_itself() -> None:
    guarded = [node for node in tree_of(WINDOW).body if isinstance(node, ast.If)]
    assert [ast.unparse(node.test) for node in guarded] == ["TYPE_CHECKING"]
    for_types = {
        alias.name: (node.module or "").removeprefix(f"{PACKAGE}.")
        for node in guarded[0].body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    package = importlib.import_module(PACKAGE)
    assert for_types == package._HOMES
    assert package.__all__ == in_shop_order(list(package._HOMES))
    assert not [
        found for found in imports_of(tree_of(WINDOW)) if is_ours(found.module) and not found.for_types
    ]
    assert set(dir(package)) > set(package.__all__)
    with pytest.raises(AttributeError, match="module 'scrapy_simhash' has no attribute 'Adon'"):
        _ = package.Adon


def test_everything_in_the_shop_window_is_there() -> None:
    package = importlib.import_module(PACKAGE)
    assert [name for name in package.__all__ if not hasattr(package, name)] == []
    assert all(part.isdigit() for part in package.__version__.split(".")[:2])


# --- What an import costs.

PROBE = """
import json, sys, warnings
# What others do when they are imported is theirs.
import itemadapter, lxml.html, scrapy, scrapy.http, scrapy.spidermiddlewares.base, w3lib.encoding, xxhash
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import scrapy_simhash
    light = sorted(sys.modules)
    # These two are for the HTTP cache, which is an SQLite file.
    cache = {"PageStorage", "SimhashRecrawlMiddleware"}
    every = [getattr(scrapy_simhash, name) for name in scrapy_simhash.__all__ if name not in cache]
print(json.dumps({
    "warnings": [str(warning.message) for warning in caught],
    "opened": [name for name in opened if "stopwords" in name or "suffix" in name],
    "light": light,
    "modules": sorted(sys.modules),
}))
"""


def test_an_import_is_silent_and_reads_no_lists() -> None:
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, check=True, cwd=ROOT.parent)
    found = json.loads(done.stdout)
    assert found["warnings"] == []
    assert [name for name in found["opened"] if not name.endswith((".py", ".pyc"))] == []
    assert [name for name in found["light"] if name.startswith(PACKAGE)] == [PACKAGE]
    assert "scrapy_simhash.detector" in found["modules"]
    assert not {"twisted.internet.reactor", "tldextract", "sqlite3", "redis"} & set(found["modules"])
