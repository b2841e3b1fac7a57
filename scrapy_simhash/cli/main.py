"""The command ``scrapy-simhash``: how a run begins, and how it ends.

Exit statuses: 0, it worked; 1, something was not found, or reading or writing failed; 2, what was asked for or read
is wrong; 130, an interrupt; and, as a shell counts, 128 and its number for any other signal: 141 where the reader of
a pipe has gone. The reference has them in a table.
"""

from __future__ import annotations

import os
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import NoReturn

from scrapy_simhash.cli.commands import PROGRAM, make_parser
from scrapy_simhash.cli.streams import FAILED, REFUSED, Refused, failing
from scrapy_simhash.exceptions import KindError, SettingError, StoreError, StoreMismatch

#: A shell's status of a program that a signal ended is this and the number of the signal.
SIGNALLED = 128
#: The number of SIGPIPE, which Windows does not have.
PIPE_SIGNAL = 13


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
    except (Refused, KindError, SettingError, StoreMismatch) as error:
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
    if not words:
        make_parser(()).print_help(sys.stderr)
        return REFUSED
    # No option before the command has a value, so that the first word that is none is the command.
    called = next((word for word in words if not word.startswith("-")), None)
    options, unknown = make_parser((called,) if called else ()).parse_known_args(words)
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
        # Only here: a help needs neither.
        from scrapy_simhash.cli.progress import say

        with suppress(OSError):
            say(f"{program}: {message}", sys.stderr)
    return status
