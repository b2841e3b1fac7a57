"""The errors of scrapy-simhash.

    SimhashError                  base class of all errors below
    ├── SettingError              a wrong setting or argument                (also ValueError)
    ├── FileError                 a file of pages cannot be read or written                (also OSError)
    ├── KindError                 a file of pages of unknown kind, or that needs an extra  (also ValueError)
    └── StoreError                a store that cannot be used
        ├── StoreMismatch         its fingerprints were made or compared with other settings
        ├── StoreLocked           another crawl is writing to it
        ├── StoreDamaged          it cannot be read as a store
        └── StoreUnavailable      it does not answer; nothing of the call was stored
            └── RecordDamaged     the record of a page cannot be read; other pages are not affected

    NearDuplicate                 a page that SIMHASH_ACTION = "drop_page" dropped   (scrapy's IgnoreRequest)

:class:`~scrapy_simhash.crawl.drops.NearDuplicate` is defined in ``crawl/``, because this module does not import
Scrapy.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class SimhashError(Exception):
    """Base of all errors that scrapy-simhash raises."""


class SettingError(SimhashError, ValueError):
    """A wrong setting; the message names the setting, what it must be, and its value."""


class FileError(SimhashError, OSError):
    """A file of pages is missing, or cannot be read or written; the message names the file and the reason."""


class KindError(SimhashError, ValueError):
    """A file of pages has an unknown kind, or needs an extra; the message names the file and the known kinds."""


class StoreError(SimhashError):
    """A store cannot be used; the message names the store and the remedy."""


class StoreMismatch(StoreError):
    """The fingerprints of a store were made or compared with other settings. The store is unchanged."""


class StoreLocked(StoreError):
    """Another crawl is writing to the store."""


class StoreDamaged(StoreError):
    """A store is damaged, is a different kind of file, or has an unknown version. The store is unchanged."""


class StoreUnavailable(StoreError):
    """A store does not answer or cannot write now, for example because the disk is full."""


class RecordDamaged(StoreUnavailable):
    """The stored record of one page cannot be read, now or later. Other pages are not affected."""


@contextmanager
def failing(doing: str, kind: type[FileError] = FileError) -> Iterator[None]:
    """Convert an OSError into an error of *kind* with the message ``cannot`` *doing* and the reason.

    BrokenPipeError (the reader has closed the pipe) and FileError are not converted.

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
