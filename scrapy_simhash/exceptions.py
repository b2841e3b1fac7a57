"""The errors of scrapy-simhash.

    SimhashError                  base class of all errors below
    ├── SettingError              invalid setting or argument (also ValueError)
    ├── FileError                 file of pages that cannot be read or written (also OSError)
    ├── KindError                 file of pages of an unknown kind, or one that needs an extra (also ValueError)
    └── StoreError                store that cannot be used
        ├── StoreMismatch         computed or compared with other settings
        ├── StoreLocked           another crawl is writing to it
        ├── StoreDamaged          not a store, or damaged
        └── StoreUnavailable      does not answer, or cannot write; the call stored nothing
            └── RecordDamaged     the stored record of a page is damaged; other pages are not affected

    NearDuplicate                 page that SIMHASH_ACTION = "drop_page" dropped (Scrapy's IgnoreRequest)

:class:`~scrapy_simhash.crawl.drops.NearDuplicate` is defined in ``crawl/``, because this module does not import
Scrapy.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class SimhashError(Exception):
    """Base class of all errors that scrapy-simhash raises."""


class SettingError(SimhashError, ValueError):
    """A setting is invalid; the message names the setting, the accepted values, and the given value."""


class FileError(SimhashError, OSError):
    """A file of pages is missing, or cannot be read or written; the message names the file and the reason."""


class KindError(SimhashError, ValueError):
    """A file of pages has an unknown kind, or needs an extra; the message names the file and the known kinds."""


class StoreError(SimhashError):
    """A store cannot be used; the message names the store and the remedy."""


class StoreMismatch(StoreError):
    """The fingerprints of a store were computed or compared with other settings. The store is unchanged."""


class StoreLocked(StoreError):
    """Another crawl is writing to the store."""


class StoreDamaged(StoreError):
    """A store is damaged, is a different kind of file, or has an unknown version. The store is unchanged."""


class StoreUnavailable(StoreError):
    """A store does not answer or cannot write, for example because the disk is full. A later call may succeed."""


class RecordDamaged(StoreUnavailable):
    """The stored record of one page is damaged, so retries fail, too. Other pages are not affected."""


@contextmanager
def failing(doing: str) -> Iterator[None]:
    """Convert an OSError into a FileError with the message ``cannot`` *doing* and the reason.

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
        raise FileError(f"cannot {doing}: {error.strerror or error}") from error
