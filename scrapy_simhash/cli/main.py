"""The command ``scrapy-simhash``: runs a verb and returns its exit status.

Exit statuses: 0, it worked; 1, something was not found, or reading or writing failed; 2, wrong usage or a wrong
input; 130, an interrupt; 128 plus its number for any other signal, as shells count: 141 if the reader of a pipe has
gone.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

from scrapy_simhash.cli.streams import FAILED, REFUSED, Refused, say
from scrapy_simhash.cli.verbs import PROGRAM, PROJECT_VERBS, check_verb, make_parser
from scrapy_simhash.exceptions import KindError, SettingError, StoreError, StoreMismatch, failing

#: Added to the number of a signal to make the exit status.
SIGNALLED = 128
#: The number of SIGPIPE, which Windows does not have.
PIPE_SIGNAL = 13


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*, by default those of the process, and return the exit status.

    Errors are one line on standard error. Raises SystemExit for ``--help``, ``--version`` and wrong usage, as
    argparse does.
    """
    try:
        with _ended_by_signals():
            try:
                return _run(sys.argv[1:] if arguments is None else arguments)
            finally:
                _flush_stdout()
    except (Refused, KindError, SettingError, StoreMismatch) as error:
        return _end(REFUSED, str(error))
    except BrokenPipeError:
        return SIGNALLED + PIPE_SIGNAL
    except (OSError, StoreError) as error:
        return _end(FAILED, str(error))
    except MemoryError:
        return _end(FAILED, "not enough memory")
    except KeyboardInterrupt:
        return SIGNALLED + signal.SIGINT
    except _Signalled as end:
        return SIGNALLED + end.number


def _run(words: Sequence[str]) -> int:
    if not words:
        make_parser(()).print_help(sys.stderr)
        return REFUSED
    check_verb(words[0])
    options, unknown = make_parser(words[:1]).parse_known_args(words)
    if unknown:
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if options.verb in PROJECT_VERBS and _is_in_project():
        # Imported here, since Scrapy takes longer to import than everything else.
        from scrapy_simhash.cli.project import Project

        options.project = Project.here(options)
    status: int = options.run(options)
    return status


def _is_in_project() -> bool:
    """Return whether Scrapy would find a project here, without importing Scrapy."""
    here = Path.cwd()
    return "SCRAPY_SETTINGS_MODULE" in os.environ or any(
        (folder / "scrapy.cfg").exists() for folder in (here, *here.parents)
    )


class _Signalled(BaseException):
    """A signal that ends the program; no Exception, so that handlers do not treat it as an error."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the program like an interrupt, which removes unfinished files."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise _Signalled(number)

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    # Keep ignoring a signal that the caller ignores, as nohup does with SIGHUP.
    ours = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _flush_stdout() -> None:
    """Flush standard output here, so that an error is reported, and not at the exit of the interpreter."""
    if sys.stdout is None:
        return
    try:
        with failing("write standard output"):
            sys.stdout.flush()
    except OSError:
        # The interpreter flushes again at exit: redirect that to /dev/null.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        raise


def _end(status: int, message: str) -> int:
    if sys.stderr is not None:
        with suppress(OSError):
            say(f"{PROGRAM}: {message}", sys.stderr)
    return status
