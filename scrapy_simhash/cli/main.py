"""The command ``scrapy-simhash``: how a run begins, and how it ends.

Exit statuses: 0, it worked; 1, something was not found, or reading or writing failed; 2, what was wanted or read is
wrong; 130, an interrupt; and, as a shell counts, 128 and its number for any other signal: 141 where the reader of a
pipe has gone. The reference has them in a table.
"""

from __future__ import annotations

import os
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import NoReturn

from scrapy_simhash.cli.streams import FAILED, REFUSED, Refused, say
from scrapy_simhash.cli.verbs import PROGRAM, PROJECT_VERBS, make_parser, unknown_option
from scrapy_simhash.exceptions import KindError, SettingError, StoreError, StoreMismatch, failing

#: A shell's status of a program that a signal ended is this and the number of the signal.
SIGNALLED = 128
#: The number of SIGPIPE, which Windows does not have.
PIPE_SIGNAL = 13


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the verb that *arguments* say, those of the process if None, and return its exit status.

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
    """A signal that ends the program: not an Exception, so that nothing on the way takes it for a fault."""

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
    options, unknown = make_parser(words[:1]).parse_known_args(words)
    if options.verb in PROJECT_VERBS and _is_in_project():
        # Scrapy takes longer to import than all else here.
        from scrapy_simhash.cli.project import Project

        options.project = Project.here(options)
    return run_verb(options, unknown)


def _is_in_project() -> bool:
    """Tell whether Scrapy would find a project here: as it looks for one, without importing it."""
    here = Path.cwd()
    return "SCRAPY_SETTINGS_MODULE" in os.environ or any(
        (folder / "scrapy.cfg").exists() for folder in (here, *here.parents)
    )


def run_verb(options: Namespace, unknown: Sequence[str]) -> int:
    """Run the verb that *options* are for; those that are *unknown* end it before it begins, as wrong usage."""
    if unknown:
        first = unknown[0]
        is_option = first.startswith("-")
        options.parser.error(
            unknown_option(first, options.parser) if is_option else f"there is one argument too many: {first}"
        )
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
            say(f"{program}: {message}", sys.stderr)
    return status
