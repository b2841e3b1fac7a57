"""Each mutant of a room has one change and compiles."""

from __future__ import annotations

import ast
import random

import pytest

from tests.mutants import PACKAGE, ROOMS, ROOT, mutants


@pytest.mark.parametrize("room", ROOMS)
def test_a_mutant_has_one_change_and_compiles(room: str) -> None:
    files, tests = ROOMS[room]
    assert all(list(ROOT.glob(name)) for name in tests)
    made = list(mutants(ROOT, files, 20, random.Random(1)))
    assert len(made) == 20
    for path, text, shown in made:
        assert text != path.read_bytes()
        assert shown.startswith(path.relative_to(ROOT / PACKAGE).as_posix())
        if path.suffix == ".py":
            ast.parse(text)


def test_the_rooms_are_the_folders_of_the_package() -> None:
    folders = {path.parent.name for path in (ROOT / PACKAGE).glob("*/__init__.py")}
    assert {*ROOMS} == {*folders, "root"}
