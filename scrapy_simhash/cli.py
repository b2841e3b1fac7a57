"""The command ``scrapy-simhash``: which sub-commands there are, and how a run ends.

Exit statuses: 0, it worked; 1, reading or writing failed; 2, what was asked for or read is wrong; 130, an interrupt;
and, as a shell counts, 128 and its number for any other signal: 141 where the reader of a pipe has gone.
"""

from __future__ import annotations

import os
import signal
import sys
from argparse import Action, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from types import FrameType
from typing import Any, NoReturn, Protocol, cast

from scrapy_simhash.commands.failures import Refused, failing

PROGRAM = "scrapy-simhash"
FAILED = 1
REFUSED = 2
#: A shell's status of a program that a signal ended is this and the number of the signal.
SIGNALLED = 128
#: The number of SIGPIPE, which Windows does not have.
PIPE_SIGNAL = 13

DESCRIPTION = "Near-duplicates among 64-bit fingerprints, in files of hashes."
EXAMPLES = """\
examples:
  scrapy-simhash find-all --input hashes.txt --output pairs.jsonl
  scrapy-simhash find-clusters --distance 3 < hashes.txt
  scrapy-simhash find --stored hashes.txt --input queries.txt

exit status:
  0 it worked, 1 reading or writing failed, 2 wrong usage or a wrong line, 130 interrupted
"""


#: What each sub-command does, in the order of the help. Its module is imported only when it is called: what searches
#: need takes longer to import than a help takes to read.
COMMANDS: Mapping[str, str] = {
    "find-all": "find all pairs of near-duplicates among hashes",
    "find-clusters": "find groups of near-duplicates among hashes",
    "find": "find what is near some hashes in a stored set",
    "plan": "show what an index takes: tables, memory, time",
}


class Command(Protocol):
    """What a module of ``commands/`` must have."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add its arguments."""

    def run(self, options: Namespace) -> int:
        """Do it, and return an exit status."""


def command_of(name: str) -> Command:
    """Import and return the module of the sub-command *name*.

    >>> command_of("find-all").__name__
    'scrapy_simhash.commands.find_all'
    """
    module = import_module(f"scrapy_simhash.commands.{name.replace('-', '_')}")
    return cast(Command, module)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that *arguments* say, those of the process if None, and return its exit status.

    Raises SystemExit for ``--help``, ``--version`` and wrong usage, as argparse does.
    """
    try:
        with _ended_by_signals():
            return _run(arguments)
    except Refused as error:
        return _end(REFUSED, str(error))
    except BrokenPipeError:
        return SIGNALLED + PIPE_SIGNAL
    except OSError as error:
        return _end(FAILED, str(error))
    except MemoryError:
        return _end(FAILED, "there is not enough memory")
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
    subparsers = parser.add_subparsers(metavar="command", required=True)
    for name, does in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=does, description=f"{does[0].upper()}{does[1:]}.")
        if name == called:
            command = command_of(name)
            command.add_arguments(subparser)
            subparser.set_defaults(run=command.run, parser=subparser)
    return parser


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
    try:
        words = sys.argv[1:] if arguments is None else arguments
        # No option before the command has a value, so that the first word that is none is the command.
        called = next((word for word in words if not word.startswith("-")), None)
        options, unknown = make_parser(called).parse_known_args(words)
        if unknown:
            hint = "" if unknown[0].startswith("-") else " (a file to read follows --input)"
            options.parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        status: int = options.run(options)
        return status
    finally:
        _flush_stdout()


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


def _end(status: int, message: str) -> int:
    if sys.stderr is not None:
        with suppress(OSError):
            print(f"{PROGRAM}: {message}", file=sys.stderr)
    return status
