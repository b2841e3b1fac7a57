"""A store and an export that are committed, as text: today's commands and crawls must read them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.cli.example_files import write_example_files
from tests.crawls.harness import forked
from tests.frozen.commands import errors_of
from tests.frozen.masks import masked

STORE = Path(__file__).with_name("store.sql")
EXPORT = Path(__file__).with_name("export.jsonl")
#: What tells a file of ours from others; SQLite's dump has not got it.
PRAGMAS = ("application_id", "user_version")
CALLS = (
    "info store.sqlite --json",
    "info store.sqlite --check",
    "export store.sqlite",
    "dedup pages.jsonl --against store.sqlite --mark",
    "learned store.sqlite",
    "import store.sqlite export.jsonl",
    "import new.sqlite export.jsonl",
    "export new.sqlite",
)


def made() -> dict[str, str]:
    """Return what the commands say of them."""
    with TemporaryDirectory() as folder:
        write_example_files(Path(folder))
        Path(folder, EXPORT.name).write_bytes(EXPORT.read_bytes())
        with closing(sqlite3.connect(Path(folder, "store.sqlite"))) as connection:
            connection.executescript(STORE.read_text("utf-8"))
        said = ""
        for call in CALLS:
            done = forked("-m", "scrapy_simhash", *call.split(), cwd=folder)
            errors = "".join(f"stderr: {line}\n" for line in errors_of(done))
            said += f"$ {call}\n{done.stdout}{errors}status {done.returncode}\n\n"
        return {"stored": masked(said, folder)}


def write() -> None:
    """Replace them by what is made today."""
    with TemporaryDirectory() as folder:
        write_example_files(Path(folder))
        forked("-m", "scrapy_simhash", "export", "news.sqlite", "--output", str(EXPORT), cwd=folder)
        with closing(sqlite3.connect(Path(folder, "news.sqlite"))) as connection:
            values = [(name, connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in PRAGMAS]
            lines = [*(f"PRAGMA {name} = {value};" for name, value in values), *connection.iterdump()]
        STORE.write_text("\n".join(lines) + "\n", "utf-8")
