"""The command ``scrapy-simhash``: the subcommands and their parser. Runs one and returns its exit status.

Exit statuses: 0 for success, 1 if something was not found or reading or writing failed, 2 for wrong usage or input.
If a signal ends the command, the status is 128 plus the number of the signal, as in shells: 130 for Ctrl-C, 141 if
the reader has closed the pipe.
"""

from __future__ import annotations

import os
import signal
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from types import FrameType, ModuleType
from typing import NoReturn

from scrapy_simhash import __version__
from scrapy_simhash.cli.streams import FAILED, REFUSED, Refused, say
from scrapy_simhash.display import printable
from scrapy_simhash.exceptions import KindError, SettingError, SimhashError, StoreMismatch, failing

PROGRAM = "scrapy-simhash"

#: The description of each subcommand, in the order of the help. Each subcommand is a module with
#: `add_arguments(parser)` and `run(options)`, which returns an exit status. Only the module of the called subcommand
#: is imported, because imports take long.
VERBS: Mapping[str, str] = {
    "dedup": "find near-duplicates among stored pages, and write the other pages",
    "text": "show the main text of pages, and the text that is left out of the comparison",
    "compare": "show the differences of two pages, and the verdict on them",
    "fingerprint": "write the fingerprints of pages",
    "report": "show the results of a crawl, or explain the verdict on a page",
    "tune": "choose a threshold from pairs of a crawl that you judge",
    "find": "find near-duplicates among hashes: pairs, clusters, or matches in a second file",
    "info": "show the pages, clusters, settings and runs of a store, or check it",
    "learned": "show or correct what a store has learned about sites: boilerplate and URL rules",
    "export": "export a store as JSON Lines",
    "import": "add exports of stores, or pages of any format, to a store",
    "remove": "remove a page, or all pages of a host, from a store",
}
#: Subcommands that use the settings of a Scrapy project.
PROJECT_VERBS = tuple(name for name in VERBS if name != "find")
#: Added to the number of a signal to make the exit status.
SIGNALLED = 128
#: The number of SIGPIPE, which Windows does not have.
PIPE_SIGNAL = 13
SHELLS = ("bash", "zsh", "fish")
#: Metavars of values that may be files.
_FILES = ("FILE", "INPUT", "PAGE", "STORE", "SOURCE", "HASHES", "REPORT")

EXIT_STATUS = """\
exit status:
  0    success, whether or not anything was found
  1    a file, page or store is missing or damaged, or cannot be read or written
  2    wrong usage, a file of the wrong kind, or an invalid line of the input
  130  interrupted with Ctrl-C

scrapy-simhash SUBCOMMAND --help shows the options of a subcommand.
"""


class _Parser(ArgumentParser):
    """A parser that reports errors in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {printable(message)}; see {self.prog} --help\n")


def module_of(name: str) -> ModuleType:
    """Import the module of the subcommand *name*.

    >>> module_of("import").__name__
    'scrapy_simhash.cli.import_'
    """
    return import_module(f"scrapy_simhash.cli.{'import_' if name == 'import' else name}")


def make_parser(complete: Container[str], files: object = None) -> ArgumentParser:
    """Return the parser of the command line; only subcommands in *complete* have their arguments.

    *files* is the value that shtab uses for file names.
    """
    parser = _Parser(
        prog=PROGRAM,
        description="Deduplicate and compare pages, read reports, search hashes, manage stores.",
        epilog=EXIT_STATUS,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    parser.add_argument(
        "--completion",
        choices=SHELLS,
        help="print a script that completes subcommands, options and files in the shell, and exit",
    )
    verbs = parser.add_subparsers(title="subcommands", metavar="SUBCOMMAND", dest="verb", prog=PROGRAM)
    for name, does in VERBS.items():
        verb = verbs.add_parser(name, help=does, description=f"{does[0].upper()}{does[1:]}.")
        if name in complete:
            module = module_of(name)
            module.add_arguments(verb)
            verb.set_defaults(run=module.run, project=None)
            for action in verb._actions:
                if action.metavar in _FILES:
                    action.complete = files  # type: ignore[attr-defined]  # for shtab
    return parser


def completion(shell: str) -> str:
    """Return the completion script for *shell*, generated from the parsers; completion does not start Python."""
    try:
        shtab = import_module("shtab")
    except ImportError:
        raise Refused("--completion needs shtab: pip install 'scrapy-simhash[cli]'") from None
    script: str = shtab.complete(make_parser(VERBS, shtab.FILE), shell)
    return script


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*, by default those of the process, and return the exit status.

    Errors are one line on standard error. Raises SystemExit for ``--help``, ``--version`` and wrong usage, as
    argparse does.
    """
    if arguments is None:
        # SIGTERM raises SystemExit, so that unfinished files are removed.
        signal.signal(signal.SIGTERM, _terminate)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            return _run(sys.argv[1:] if arguments is None else arguments)
        finally:
            _flush_stdout()
    except (Refused, KindError, SettingError, StoreMismatch) as error:
        return _end(REFUSED, str(error))
    except BrokenPipeError:
        return SIGNALLED + PIPE_SIGNAL
    except (OSError, SimhashError) as error:
        return _end(FAILED, str(error))
    except MemoryError:
        return _end(FAILED, "not enough memory")
    except KeyboardInterrupt:
        return SIGNALLED + signal.SIGINT


def _run(words: Sequence[str]) -> int:
    parser = make_parser(words[:1])
    with failing("write standard output"):
        # Help and version are written to standard output.
        options = parser.parse_args(words)
    if options.completion is not None:
        with failing("write standard output"):
            print(completion(options.completion))
        return 0
    if options.verb is None:
        parser.print_help(sys.stderr)
        return REFUSED
    if options.verb in PROJECT_VERBS and _is_in_project():
        # Imported here, because Scrapy takes longer to import than all other modules.
        from scrapy_simhash.cli.project import Project

        options.project = Project.here(options)
    status: int = options.run(options)
    return status


def _is_in_project() -> bool:
    """Return, without importing Scrapy, whether the current folder is in a Scrapy project."""
    here = Path.cwd()
    return "SCRAPY_SETTINGS_MODULE" in os.environ or any(
        (folder / "scrapy.cfg").exists() for folder in (here, *here.parents)
    )


def _terminate(number: int, frame: FrameType | None) -> None:
    sys.exit(SIGNALLED + number)


def _flush_stdout() -> None:
    """Flush standard output, so that an error is reported here and not when the interpreter exits."""
    try:
        with failing("write standard output"):
            sys.stdout.flush()
    except OSError:
        # The interpreter flushes again at exit, so redirect the output to /dev/null.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def _end(status: int, message: str) -> int:
    with suppress(OSError):
        say(f"{PROGRAM}: {message}", sys.stderr)
    return status
