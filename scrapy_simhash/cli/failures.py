"""What ends a run, in one sentence for whoever typed the command.

    SimhashError
    ├── Refused     what was asked for, or what was read, cannot be; exit status 2    (also ValueError)
    └── Failed      reading or writing did not work; exit status 1                    (also OSError)

Both are told as they are: their messages need nothing added but the name of the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from scrapy_simhash.exceptions import SimhashError

#: The exit statuses.
FAILED = 1
REFUSED = 2


class Refused(SimhashError, ValueError):
    """A wrong argument or line; the message names it."""


class Failed(SimhashError, OSError):
    """A file that could not be read or written; the message names it and says why."""


@contextmanager
def failing(doing: str) -> Iterator[None]:
    """Turn an OSError inside into `Failed`, which says that *doing* was impossible, and why.

    A reader that has gone is no failure: BrokenPipeError passes.

    >>> with failing("read hashes.txt"):
    ...     raise PermissionError(13, "Permission denied")
    Traceback (most recent call last):
        ...
    scrapy_simhash.cli.failures.Failed: cannot read hashes.txt: Permission denied
    """
    try:
        yield
    except (BrokenPipeError, Failed):
        raise
    except OSError as error:
        raise Failed(f"cannot {doing}: {error.strerror or error}") from error
