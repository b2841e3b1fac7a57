"""Print what a shell completes the command by: commands, options, choices, and files where a file is meant.

The script comes from shtab, made from the parsers of the commands, once: a shell that completes starts no Python.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from importlib import import_module

from scrapy_simhash.cli.commands import COMMANDS, PROGRAM, add_commands, finish
from scrapy_simhash.cli.streams import Failed, failing

SHELLS = ("bash", "zsh", "fish")
#: What stands for a value that is a file, or may be one.
_FILES = ("FILE", "PAGE", "PLACE", "STORE", "INPUT", "OUT", "REPORT", "SOURCE", "CSV", "INTO", "FROM")


def add_completion(parser: ArgumentParser) -> None:
    """Add which shell."""
    parser.add_argument("shell", choices=SHELLS, help="the shell that is to complete")


def run_completion(options: Namespace) -> int:
    """Print the script for a shell, and return 0. Raises Failed if shtab is not installed."""
    try:
        shtab = import_module("shtab")
    except ImportError:
        raise Failed("completion needs shtab: pip install scrapy-simhash[completion]") from None
    parser = ArgumentParser(PROGRAM)
    parser.add_argument("--version", action="store_true", help="show the version")
    for name, command in add_commands(parser, COMMANDS):
        finish(command, name)
        for action in command._actions:
            if action.metavar in _FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # where shtab looks
    with failing("write standard output"):
        print(shtab.complete(parser, options.shell))
    return 0
