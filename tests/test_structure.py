"""The import contract, read from the source, and the cost of importing the package."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "scrapy_simhash"
ROOT = Path(__file__).parents[1] / PACKAGE
WINDOW = ROOT / "__init__.py"
#: Rooms in order: each imports only earlier ones, and the modules beside the rooms.
ROOMS = ("kernel", "page", "index", "judge", "store", "files", "crawl", "observers", "view", "cli")
#: Third-party packages that a room may import.
ALONE = {"page": {"lxml", "w3lib", "xxhash", "jieba"}, "index": {"numpy"}}
#: The modules that import Scrapy.
EDGE = {"cli", "crawl", "crawling", "encoding", "observers", "view"}


def room_of(module: str) -> str:
    """Return the folder of a module of the package, or the module itself if it is in no folder; for others
    the package.
    """
    parts = f"{module}.".split(".")
    return parts[1] if parts[0] == PACKAGE else parts[0]


def imports() -> Iterator[tuple[str, str]]:
    """Yield room and imported module for each import except lazy imports and those for type checking."""
    for file in sorted(ROOT.rglob("*.py")):
        if file == WINDOW:
            continue
        waiting: list[ast.AST] = [ast.parse(file.read_text("utf-8"))]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert not node.level, f"{file}: use absolute imports"
                # ``from package import part`` can import a module, too.
                is_window = node.module == PACKAGE
                names = [f"{PACKAGE}.{one.name}" for one in node.names] if is_window else [node.module or ""]
            else:
                if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
                    waiting += ast.iter_child_nodes(node)
                continue
            yield from ((room_of(".".join((PACKAGE, *file.relative_to(ROOT).with_suffix("").parts))), name)
                        for name in names)  # fmt: skip


IMPORTS = set(imports())


def test_imports_between_folders_point_down_and_all_folders_are_listed() -> None:
    assert sorted(ROOMS) == sorted(folder.parent.name for folder in ROOT.glob("*/__init__.py"))
    above = {room: ROOMS[place + 1 :] for place, room in enumerate(ROOMS)}
    assert {(room, name) for room, name in IMPORTS if room_of(name) in above.get(room, ())} == set()


def test_rooms_do_not_import_each_other_in_a_circle() -> None:
    known: dict[str, set[str]] = {}
    for room, name in IMPORTS:
        known.setdefault(room, set())
        if name.startswith(PACKAGE) and room_of(name) != room:
            known[room].add(room_of(name))
    below = set().union(*known.values()) - known.keys()
    while waiting := known.keys() - below:
        ready = {room for room in waiting if known[room] <= below}
        assert ready, f"a circle: { {room: sorted(known[room] - below) for room in waiting} }"
        below |= ready


def test_third_party_packages_are_imported_only_where_allowed() -> None:
    for room, packages in ALONE.items():
        others = {name.split(".")[0] for by, name in IMPORTS if by == room and not name.startswith(PACKAGE)}
        assert others - set(sys.stdlib_module_names) <= packages
    assert {room for room, name in IMPORTS if name.split(".")[0] == "scrapy"} <= EDGE


def test_all_public_names_exist() -> None:
    package = importlib.import_module(PACKAGE)
    assert package.__all__
    assert [name for name in package.__all__ if not hasattr(package, name)] == []


PROBE = """
import json, sys, warnings
# Imports of dependencies do not count.
import itemadapter, lxml.html, scrapy, scrapy.http, scrapy.spidermiddlewares.base, w3lib.encoding, xxhash
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import scrapy_simhash
    light = sorted(sys.modules)
    # These are for the HTTP cache, which is an SQLite file.
    cache = {"PageStorage", "RecrawlPolicy", "SimhashRecrawlMiddleware"}
    every = [getattr(scrapy_simhash, name) for name in scrapy_simhash.__all__ if name not in cache]
print(json.dumps({
    "warnings": [str(warning.message) for warning in caught],
    "opened": [name for name in opened if "stopwords" in name or "suffix" in name],
    "light": light,
    "modules": sorted(sys.modules),
}))
"""


def test_importing_the_package_prints_nothing_and_reads_no_lists() -> None:
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, check=True, cwd=ROOT.parent)
    found = json.loads(done.stdout)
    assert found["warnings"] == []
    assert [name for name in found["opened"] if not name.endswith((".py", ".pyc"))] == []
    assert [name for name in found["light"] if name.startswith(PACKAGE)] == [PACKAGE]
    assert "scrapy_simhash.detector" in found["modules"]
    assert not {"twisted.internet.reactor", "tldextract", "sqlite3", "redis"} & set(found["modules"])
