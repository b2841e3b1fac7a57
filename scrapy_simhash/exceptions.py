"""The errors of scrapy-simhash.

    SimhashError                  everything below
    ├── SettingError              a wrong setting or argument                (also ValueError)
    ├── FileError                 a file of pages that cannot be read or written           (also OSError)
    ├── KindError                 a file of pages of no known kind, or that needs an extra (also ValueError)
    └── StoreError                a store that cannot be used
        ├── StoreMismatch         its fingerprints were made or compared by other settings
        ├── StoreLocked           another crawl is writing to it
        ├── StoreDamaged          it cannot be read as a store
        └── StoreUnavailable      it does not answer; nothing of the call was stored
            └── RecordDamaged     what it has of one page cannot be read; it answers for all others

    NearDuplicate                 a page that SIMHASH_ACTION = "drop_page" dropped   (scrapy's IgnoreRequest)

:class:`~scrapy_simhash.crawl.drops.NearDuplicate` lives on the Scrapy side: nothing here imports Scrapy.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class SimhashError(Exception):
    """Base of all errors that scrapy-simhash raises."""


class SettingError(SimhashError, ValueError):
    """A wrong setting; the message names the setting, what it must be, and its value."""


class FileError(SimhashError, OSError):
    """A file of pages that is not there, or cannot be read or written; the message names it and says why."""


class KindError(SimhashError, ValueError):
    """A file of pages of a kind that is not known, or that needs an extra; the message names it and the kinds."""


class StoreError(SimhashError):
    """A store that cannot be used; the message names the store and says what to do."""


class StoreMismatch(StoreError):
    """A store whose fingerprints were made or compared by other settings; nothing in it was changed."""


class StoreLocked(StoreError):
    """A store that another crawl is writing to."""


class StoreDamaged(StoreError):
    """A store that cannot be read: another kind of file, another version, or damage. Nothing was changed."""


class StoreUnavailable(StoreError):
    """A store that does not answer or cannot write: no connection, a full disk. It may work again later."""


class RecordDamaged(StoreUnavailable):
    """A page of which a store has a record that cannot be read: it gets no answer, later neither. All others do."""


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
