"""The commands: what each writes for its example and a few more arguments, and for what it refuses."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory

from scrapy_simhash.cli.verbs import VERBS
from tests.cli.example_files import READING, write_example_files
from tests.crawls.harness import forked
from tests.frozen.masks import masked

#: What a verb is called with, beside its example.
MORE = {
    "dedup": [
        "dedup pages.jsonl -o marked.jsonl --mark",
        "dedup pages.jsonl -o - --copies",
        "dedup pages.jsonl --clusters -",
        "dedup pages.jsonl --against news.sqlite --mark -o -",
        "dedup pages.jsonl -o other.html --rule classic",
    ],
    "text": ["text page.html other.html --json"],
    "compare": ["compare page.html other.html --json", "compare page.html page.html"],
    "report": [
        "report report.jsonl",
        "report report.jsonl --json",
        "report report.jsonl --url http://b.example/",
    ],
    "find": [
        "find hashes.txt --clusters",
        "find hashes.txt --clusters --json",
        "find queries.txt --in hashes.txt",
        "find-all hashes.txt",
    ],
    "info": ["info news.sqlite --json", "info news.sqlite --check"],
    "learned": [
        "learned news.sqlite --json",
        "learned news.sqlite example.com --pin",
        "learned news.sqlite b.example",
    ],
    "export": ["export news.sqlite --output all.jsonl", "export news.sqlite --learned"],
    "import": ["import both.sqlite monday.sqlite tuesday.sqlite", "import other.sqlite news.sqlite --json"],
    "fingerprint": ["fingerprint pages.jsonl --hashes", "fingerprint pages.jsonl -s SIMHASH_SCHEME=moz"],
}


def made() -> dict[str, str]:
    """Return the text of each file by its name: one for each command."""
    return {f"command-{name}": _of(name) for name in VERBS}


def errors_of(done: CompletedProcess[str]) -> list[str]:
    """Return the lines of standard error but for that of Python's about a module that a fork has already."""
    return [line for line in done.stderr.splitlines() if not line.startswith("<frozen runpy>")]


def _of(name: str) -> str:
    words = READING[name]
    missing = [
        ["missing" if word == file else word for word in words]
        for file in words
        if file.endswith((".txt", ".jsonl", ".html", ".sqlite"))
    ]
    calls = [
        [name, "--help"],
        words,
        *(line.split() for line in MORE.get(name, ())),
        *missing,
        [*words, "--fast"],
    ]
    return "".join(map(_said, calls)) + "".join(
        _said(words, broken=file) for file in words if file.endswith((".txt", ".jsonl", ".sqlite"))
    )


def _said(words: list[str], broken: str | None = None) -> str:
    """Return the call, what it wrote and left behind, and its exit status; the file *broken* has other bytes then."""
    with TemporaryDirectory() as folder:
        write_example_files(Path(folder))
        there = {file.name for file in Path(folder).iterdir()}
        if broken is not None:
            Path(folder, broken).write_text("no such thing\n", "utf-8")
        done = forked("-m", "scrapy_simhash", *words, cwd=folder)
        text = f"$ {' '.join(words)}{f'  # {broken} is broken' if broken else ''}\n{done.stdout}"
        text += "".join(f"stderr: {line}\n" for line in errors_of(done))
        for file in sorted(Path(folder).iterdir()):
            if file.name not in there and file.suffix in {".jsonl", ".html", ".txt"}:
                text += f"{file.name}:\n{file.read_text('utf-8')}"
            elif file.name not in there and file.suffix == ".sqlite":
                text += f"{file.name} is there\n"
        return masked(text, folder) + f"status {done.returncode}\n\n"
