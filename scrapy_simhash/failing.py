"""failing(): an error of the system becomes one sentence that says what was impossible, and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from scrapy_simhash.exceptions import FileError


@contextmanager
def failing(doing: str, kind: type[FileError] = FileError) -> Iterator[None]:
    """Turn an OSError inside into one of *kind*, which says that *doing* was impossible, and why.

    A reader that has gone is no failure: BrokenPipeError passes, as does what is told already.

    >>> with failing("read hashes.txt"):
    ...     raise PermissionError(13, "Permission denied")
    Traceback (most recent call last):
        ...
    scrapy_simhash.exceptions.FileError: cannot read hashes.txt: Permission denied
    """
    try:
        yield
    except (BrokenPipeError, FileError):
        raise
    except OSError as error:
        raise kind(f"cannot {doing}: {error.strerror or error}") from error
