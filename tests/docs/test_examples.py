"""Every example runs, and every command exists."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import re
import shlex
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import scrapy.commands
from scrapy.settings import BaseSettings, default_settings
from scrapy.utils.misc import load_object

from scrapy_simhash import Config
from scrapy_simhash.cli.main import PROGRAM, SHELLS
from scrapy_simhash.config import PREFIX, unknown_settings
from tests.crawls.harness import forked
from tests.docs.reader import ROOT, Block, all_blocks, blocks

EXAMPLE = ROOT / "example_project"
STANDARD = Path(sysconfig.get_path("stdlib"))
PYPROJECT = (ROOT / "pyproject.toml").read_text("utf-8")
PYTHON = [block for block in all_blocks("python") if ">>>" not in block.text]
TRIED = [block for block in all_blocks("python") if ">>>" in block.text]
COMMANDS = [
    (block, command)
    for block in all_blocks("console", "sh")
    for line in block.text.splitlines()
    if (command := line.removeprefix("$ ") if block.language == "console" and line[:2] == "$ " else line)
    and (block.language == "sh" or line.startswith("$ "))
]
#: Settings of scrapy-redis and Spidermon in examples.
OF_OTHERS = {
    *("REDIS_URL", "SCHEDULER_PERSIST", "REDIS_PARAMS"),
    *("SPIDERMON_ENABLED", "SPIDERMON_SPIDER_CLOSE_EXPRESSION_MONITORS"),
}
#: Variables before a command, and their values.
VARIABLES = {
    "SCRAPY_SIMHASH_BUILD": {"auto", "require", "pure"},
    "SCRAPY_SIMHASH_KERNEL": {"auto", "native", "pure"},
}


def is_settings(block: Block) -> bool:
    return all(
        isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]).isupper()
        for statement in ast.parse(block.text).body
    )


@pytest.mark.parametrize("page", sorted({block.page for block in TRIED}), ids=lambda page: page.stem)
def test_commands_at_a_prompt_have_the_shown_output(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some commands write files
    namespace: dict[str, Any] = {}
    failures: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    for block in TRIED:
        if block.page == page:
            test = doctest.DocTestParser().get_doctest(
                block.text, namespace, str(block), str(page), block.line
            )
            runner.run(test, out=failures.append, clear_globs=False)
            namespace = test.globs
    assert not failures, "".join(failures)


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_settings_blocks_are_accepted_and_other_blocks_run(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some commands make a folder
    module = ModuleType("example")
    monkeypatch.setitem(sys.modules, "example", module)  # dataclasses look up their module
    namespace = vars(module)
    exec(compile(block.text, str(block), "exec"), namespace)
    if not is_settings(block):
        return
    settings = {name: value for name, value in namespace.items() if name.isupper()}
    Config.from_settings(settings)
    assert unknown_settings(settings) == {}
    for name, value in settings.items():
        assert name.startswith(PREFIX) or hasattr(default_settings, name) or name in OF_OTHERS
        # Settings that name no components.
        if isinstance(value, dict) and name not in OF_OTHERS and not name.startswith(PREFIX):
            assert all(load_object(path) for path in value)
    BaseSettings(settings)


@pytest.mark.parametrize(("block", "command"), COMMANDS, ids=str)
def test_the_command_exists(block: Block, command: str) -> None:
    for part in re.split(r" [|<>] ", command):
        try_part(block, part)


def try_part(block: Block, command: str) -> None:
    """Fail unless the program and the options of *command* exist."""
    words = shlex.split(command, comments=True)
    while "=" in words[0]:
        variable, _, value = words.pop(0).partition("=")
        assert value in VARIABLES[variable]
    program, *arguments = words
    match Path(program).name, arguments:
        case "make", [target]:
            assert target in makefile_targets()
        case "tox", ["run", "-e", environment]:
            listed = re.search(r"^env_list = (.+)$", (ROOT / "tox.ini").read_text("utf-8"), re.MULTILINE)
            assert listed
            assert environment in listed[1].split(", ")
        case "pip", ["install", *_, what] if what[0] == ".":
            extras = re.search(
                r"(?s)^\[project.optional-dependencies\](.+?)^\[", PYPROJECT, flags=re.MULTILINE
            )
            assert extras
            assert set(re.findall(r"[\w-]+", what)) <= set(re.findall(r"(?m)^([\w-]+) =", extras[1]))
        case "python", ["-c", code]:
            subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)
        case "python", ["-m", "pytest", *paths]:
            assert all((ROOT / path).exists() for path in paths)
        case "python", ["-m", module, *options]:
            assert {option for option in options if option.startswith("-")} <= options_of("-m", module)
        case "python", [script] if any(made.caption == script for made in blocks(block.page, "python")):
            pass  # shown on the page
        case "spark-submit", words:
            assert any(made.caption in words for made in blocks(block.page, "python") if made.caption)
        case "python", [script, *options]:
            assert {option for option in options if option.startswith("-")} <= options_of(script)
        case "scrapy", [verb, *_]:
            assert verb in {info.name for info in pkgutil.iter_modules(scrapy.commands.__path__)}
            importlib.import_module(f"scrapy.commands.{verb}")
        case "scrapy-simhash", ["--completion", shell, *_]:
            assert shell in SHELLS
        case "scrapy-simhash", [verb, *options]:
            given = {option for option in options if option.startswith("-") and option != "-"}
            assert given <= options_of("-m", "scrapy_simhash", verb)
        case (("sort" | "cat" | "wc" | "rm"), _):
            pass
        case file, [] if Path(file).suffix in {".txt", ".jsonl", ".fish"} or file.endswith(PROGRAM):
            pass
        case _:
            pytest.fail(f"{block}: no test knows how to try {command!r}")


def makefile_targets() -> set[str]:
    text = (ROOT / "Makefile").read_text("utf-8")
    return set(re.findall(r"^([\w-]+):", text, flags=re.MULTILINE))


@cache
def options_of(*program: str) -> set[str]:
    """Return the options in the ``--help`` output of a script or module."""
    name = program[1] if program[0] == "-m" else program[-1]
    place = Path(*name.removesuffix(".py").split("."))
    places = [place.with_suffix(".py"), place / "__main__.py"]
    homes = [home for home in (ROOT, EXAMPLE, STANDARD) if any((home / place).exists() for place in places)]
    assert homes, f"there is no {name}"
    done = forked(*program, "--help", cwd=homes[0])
    assert done.returncode == 0, done.stderr
    return set(re.findall(r"--[\w-]+", done.stdout))
