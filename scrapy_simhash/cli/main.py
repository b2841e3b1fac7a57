"""The command ``scrapy-simhash``: runs a subcommand and returns its exit status.

Exit statuses: 0 for success, 1 if something was not found or reading or writing failed, 2 for wrong usage or input.
If a signal ends the command, the status is 128 plus the number of the signal, as in shells: 130 for Ctrl-C, 141 if
the reader has closed the pipe.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from types import FrameType

from scrapy_simhash.cli.streams import FAILED, REFUSED, Refused, say
from scrapy_simhash.cli.verbs import PROGRAM, PROJECT_VERBS, completion, make_parser
from scrapy_simhash.exceptions import KindError, SettingError, SimhashError, StoreMismatch, failing

#: Added to the number of a signal to make the exit status.
SIGNALLED = 128
#: The number of SIGPIPE, which Windows does not have.
PIPE_SIGNAL = 13


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
