"""The output of ``scrapy-simhash compare`` for each pair: for a terminal, and as JSON."""

from __future__ import annotations

import json
import os
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from scrapy_simhash.cli.main import main
from tests.golden.pairs import PAIRS

FOLDER = Path(__file__).with_name("explanations")


def made() -> dict[str, str]:
    """Return the texts of the files by name. A JSON file has a line for each key."""
    found, here = {}, Path.cwd()
    with TemporaryDirectory() as folder:
        # The output names the files.
        os.chdir(folder)
        try:
            for name, pair in PAIRS.items():
                Path("a.html").write_text(pair.a, "utf-8")
                Path("b.html").write_text(pair.b, "utf-8")
                found[f"{name}.txt"] = _said("compare", "a.html", "b.html")
                facts = json.loads(_said("compare", "a.html", "b.html", "--json")).items()
                lines = (
                    f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in facts
                )
                found[f"{name}.json"] = "{\n" + ",\n".join(lines) + "\n}\n"
        finally:
            os.chdir(here)
    return found


def committed() -> dict[str, str]:
    """Return the committed texts by name."""
    return {path.name: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.*"))}


def write(made: dict[str, str]) -> None:
    """Replace the files."""
    FOLDER.mkdir(exist_ok=True)
    for name in committed().keys() - made.keys():
        (FOLDER / name).unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, "utf-8", newline="\n")


def changes() -> list[str]:
    """Return the names of the files that differ."""
    held, found = committed(), made()
    return sorted(name for name in held.keys() | found.keys() if held.get(name) != found.get(name))


def _said(*arguments: str) -> str:
    said = StringIO()
    with redirect_stdout(said):
        status = main(arguments)
    if status:
        raise RuntimeError(f"{arguments[0]} ended with {status}")
    return said.getvalue()
