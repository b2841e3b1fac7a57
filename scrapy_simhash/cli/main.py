"""The command ``scrapy-simhash``: which sub-commands there are, and how a run ends.

Exit statuses: 0, it worked; 1, reading or writing failed; 2, what was asked for or read is wrong; 130, an interrupt;
and, as a shell counts, 128 and its number for any other signal: 141 where the reader of a pipe has gone.
"""

from __future__ import annotations

import os
import signal
import sys
from argparse import Action, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from keyword import iskeyword
from types import FrameType
from typing import Any, NoReturn, Protocol, cast

from scrapy_simhash.cli.failures import FAILED, REFUSED, Refused, failing
from scrapy_simhash.exceptions import SettingError, StoreError, StoreMismatch

PROGRAM = "scrapy-simhash"
#: A shell's status of a program that a signal ended is this and the number of the signal.
SIGNALLED = 128
#: The number of SIGPIPE, which Windows does not have.
PIPE_SIGNAL = 13

DESCRIPTION = "Find near-duplicates among hashes in files, and manage the stores and reports of crawls."
EXAMPLES = """\
examples:
  scrapy-simhash find-all --input hashes.txt --output pairs.jsonl
  scrapy-simhash find-clusters --distance 3 < hashes.txt
  scrapy-simhash find --stored hashes.txt --input queries.txt
  scrapy-simhash info pages.sqlite
  scrapy-simhash profile pages.sqlite example.com page.html
  scrapy-simhash merge both.sqlite monday.sqlite tuesday.sqlite
  scrapy-simhash report report.jsonl --url https://example.com/a

exit status:
  0 it worked, 1 reading or writing failed or a store is damaged, 2 wrong usage or a wrong line, 130 interrupted
"""


#: What each sub-command does, in the order of the help. Its module is imported only when it is called: what searches
#: need takes longer to import than a help takes to read.
COMMANDS: Mapping[str, str] = {
    "find-all": "find all pairs of near-duplicates among hashes",
    "find-clusters": "find groups of near-duplicates among hashes",
    "find": "find the near-duplicates of some hashes in another file of hashes",
    "plan": "show tables, memory and time of index plans",
    "info": "show the pages, clusters, settings and runs of a store",
    "profile": "show, export, import or pin what a store knows about its sites",
    "export": "write a store as lines of text",
    "import": "add an export, or the pages of a feed, to a store",
    "merge": "merge stores and exports into one store",
    "report": "count the pages of a crawl report, or explain why a page is a near-duplicate",
}
#: Those about stores.
STORE_COMMANDS = ("info", "profile", "export", "import", "merge")
#: Those about crawls, which are also the commands of ``scrapy simhash``.
CRAWL_COMMANDS = (*STORE_COMMANDS, "report")


class Command(Protocol):
    """What a module of ``cli/`` must have."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add its arguments."""

    def run(self, options: Namespace) -> int:
        """Do it, and return an exit status."""


def command_of(name: str) -> Command:
    """Import and return the module of the sub-command *name*.

    >>> command_of("find-all").__name__
    'scrapy_simhash.cli.find_all'
    """
    # import is no name that a module can be imported by.
    module = import_module(f"scrapy_simhash.cli.{name.replace('-', '_')}{'_' * iskeyword(name)}")
    return cast(Command, module)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that *arguments* say, those of the process if None, and return its exit status.

    Raises SystemExit for ``--help``, ``--version`` and wrong usage, as argparse does.
    """
    return ended(PROGRAM, partial(_run, arguments))


def ended(program: str, run: Callable[[], int]) -> int:
    """Return the exit status of *run*, or of what ends it, which *program* says in a sentence on standard error."""
    try:
        with _ended_by_signals():
            try:
                return run()
            finally:
                _flush_stdout()
    except (Refused, SettingError, StoreMismatch) as error:
        return _end(program, REFUSED, str(error))
    except BrokenPipeError:
        return SIGNALLED + PIPE_SIGNAL
    except (OSError, StoreError) as error:
        return _end(program, FAILED, str(error))
    except MemoryError:
        return _end(program, FAILED, "not enough memory")
    except KeyboardInterrupt:
        return SIGNALLED + signal.SIGINT
    except _Ended as end:
        return SIGNALLED + end.number


def make_parser(called: str | None = None) -> ArgumentParser:
    """Return the parser of the command line, with the arguments of the sub-command *called*."""
    parser = ArgumentParser(
        prog=PROGRAM,
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version and exit")
    for name, subparser in add_commands(parser, COMMANDS):
        if name == called:
            command = command_of(name)
            command.add_arguments(subparser)
            subparser.set_defaults(run=command.run, parser=subparser, project=None)
    return parser


def add_commands(
    parser: ArgumentParser, names: Iterable[str], **keywords: Any
) -> Iterator[tuple[str, ArgumentParser]]:
    """Add the sub-commands *names*, and yield each with its parser, which has no arguments yet.

    *keywords* are for the parsers.
    """
    subparsers = parser.add_subparsers(metavar="command", required=True, prog=parser.prog)
    for name in names:
        does = COMMANDS[name]
        description = f"{does[0].upper()}{does[1:]}."
        yield name, subparsers.add_parser(name, help=does, description=description, **keywords)


class _ShowVersion(Action):
    """Looks the version up only when it is asked for, which takes longer than all else here."""

    def __call__(self, parser: ArgumentParser, *_: Any) -> NoReturn:
        from importlib.metadata import version

        print(PROGRAM, version("scrapy-simhash"))
        parser.exit()


class _Ended(BaseException):
    """A signal that asks the program to end: not an Exception, so that nothing on the way takes it for a fault."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the program as an interrupt does, which leaves no unfinished file behind."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise _Ended(number)

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    # Whoever started it may have said otherwise: nohup ignores SIGHUP.
    ours = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _run(arguments: Sequence[str] | None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    # No option before the command has a value, so that the first word that is none is the command.
    called = next((word for word in words if not word.startswith("-")), None)
    options, unknown = make_parser(called).parse_known_args(words)
    return run_command(options, unknown)


def run_command(options: Namespace, unknown: Sequence[str]) -> int:
    """Run the command that *options* are for; those that are *unknown* end it before it begins, as wrong usage."""
    if unknown:
        hint = "" if unknown[0].startswith("-") else " (a file to read follows --input)"
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    status: int = options.run(options)
    return status


def _flush_stdout() -> None:
    """Write what is still in the buffer, so that it fails here, if it does, and not after the program's last line."""
    if sys.stdout is None:
        return
    try:
        with failing("write standard output"):
            sys.stdout.flush()
    except OSError:
        # The interpreter will try again, and complain: let it go nowhere.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        raise


def _end(program: str, status: int, message: str) -> int:
    if sys.stderr is not None:
        with suppress(OSError):
            print(f"{program}: {message}", file=sys.stderr)
    return status
