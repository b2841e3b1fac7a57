"""Runs the tutorial word by word in an empty folder."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from local_redis import free_port

from tests.crawls.harness import forked
from tests.docs.reader import DOCS, ROOT, Block, blocks, words

TUTORIAL = DOCS / "tutorial.rst"
#: The documented port; the test uses any free port.
SHOWN = "8000"
#: Skipped, because it needs a network.
INSTALL = ["pip", "install", "."]


class Reader:
    """Runs the commands of the page in *folder*, and fails if the output differs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        ours = {name: value for name, value in os.environ.items() if not name.startswith("SCRAPY_")}
        self.environment = {**ours, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT)}
        # Not an ephemeral port, which the system may give to another test before the server starts.
        self.port = str(free_port())
        self.log = ""
        self.feed: list[dict[str, Any]] = []
        self.followed: set[str] = set()
        self.server: subprocess.Popen[bytes] | None = None

    def follow(self, block: Block) -> None:
        """Run commands, write files, and compare the output."""
        match block.language:
            case "console":
                for command, answer in typed(block):
                    said = self.type(command)
                    assert words(answer) in words(said), (str(block), said)
            case "python" if block.caption.endswith("settings.py"):
                self.set(block)
            case "python":
                (self.folder / block.caption).write_text(self.ours(block.text), "utf-8")
            case "json":
                item = json.loads(self.ours(block.text))
                shown = item.pop("near_duplicate").items()  # parts of it
                (result,) = (
                    other.pop("near_duplicate") for other in self.feed if other["url"] == item["url"]
                )
                assert item in self.feed, (str(block), self.feed)
                assert shown <= result.items(), (str(block), result)
            case "text":
                assert words(block.text) in words(self.log), (str(block), self.log)
            case _:
                pytest.fail(f"{block}: unknown kind of block")
        self.followed.add(block.language)

    def type(self, command: str) -> str:
        """Run *command*; return its output, with the documented port."""
        program, *arguments = shlex.split(command)
        if [program, *arguments] == INSTALL:
            return ""
        if arguments[:2] == ["-m", "http.server"]:
            self.serve(arguments)
            return ""
        module = {"python": [], "scrapy": ["-m", "scrapy"], "scrapy-simhash": ["-m", "scrapy_simhash"]}[
            program
        ]
        # In a fork of a process that has imported Scrapy, which saves a dozen starts.
        done = forked(*module, *map(self.ours, arguments), cwd=self.folder)
        assert done.returncode == 0, done.stderr
        if arguments[0] == "crawl":
            assert " ERROR: " not in done.stderr, done.stderr
            self.log = done.stderr
            lines = (self.folder / arguments[arguments.index("-O") + 1]).read_text("utf-8").splitlines()
            self.feed = [json.loads(line) for line in lines]
        return done.stdout.replace(self.port, SHOWN)

    def serve(self, arguments: list[str]) -> None:
        """Start the server and wait until it replies."""
        command = [sys.executable, *(argument.replace(SHOWN, self.port) for argument in arguments)]
        quiet = subprocess.DEVNULL
        self.server = subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdout=quiet, stderr=quiet
        )
        for _ in range(200):
            try:
                with urlopen(f"http://127.0.0.1:{self.port}/", timeout=10):
                    return
            except URLError:
                time.sleep(0.05)
        pytest.fail("the server of the tutorial does not answer")

    def set(self, block: Block) -> None:
        """Replace the lines that set the same names, and append the others."""
        path = self.folder / block.caption
        text = path.read_text("utf-8")
        for line in block.text.splitlines():
            name = line.partition(" =")[0]
            text, replaced = re.subn(rf"(?m)^{name} = .*$", line, text)
            if not replaced:
                text += line + "\n"
        path.write_text(text, "utf-8")

    def ours(self, text: str) -> str:
        return text.replace(f":{SHOWN}", f":{self.port}")


def typed(block: Block) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block with the output shown below it."""
    for part in re.split(r"(?m)^\$ ", block.text)[1:]:
        command, _, answer = part.partition("\n")
        yield command, answer


def test_the_tutorial_works_as_written(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    try:
        for block in blocks(TUTORIAL):
            reader.follow(block)
    finally:
        if reader.server is not None:
            reader.server.terminate()
            reader.server.wait(30)
    assert reader.followed == {"console", "python", "json", "text"}
    # The last step: all items on Monday, none on Tuesday.
    monday, tuesday = (
        {json.loads(line)["url"] for line in (tmp_path / name).read_text("utf-8").splitlines()}
        for name in ("monday.jsonl", "tuesday.jsonl")
    )
    assert {url.rpartition("/")[2] for url in monday} >= {"ferry.html", "bridge.html"}
    assert not tuesday
