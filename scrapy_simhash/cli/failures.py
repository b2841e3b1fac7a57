"""What ends a run, in one sentence for whoever typed the command.

    SimhashError
    ├── Refused     what was asked for, or what was read, cannot be; exit status 2    (also ValueError)
    └── FileError
        └── Failed  reading or writing did not work; exit status 1                    (also OSError)
            └── NothingRead     all that was read is broken

Both are told as they are: their messages need nothing added but the name of the program.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from scrapy_simhash.exceptions import FileError, SimhashError
from scrapy_simhash.failing import failing as told

#: The exit statuses.
FAILED = 1
REFUSED = 2


class Refused(SimhashError, ValueError):
    """A wrong argument or line; the message names it."""


class Failed(FileError):
    """A file that could not be read or written; the message names it and says why."""


class NothingRead(Failed):
    """There was something to be read, and all of it is broken."""


def failing(doing: str) -> AbstractContextManager[None]:
    """Turn an OSError inside into `Failed`, which says that *doing* was impossible, and why."""
    return told(doing, Failed)
