"""The errors of scrapy-simhash.

    SimhashError                  everything below
    ├── SettingError              a wrong setting or argument                (also ValueError)
    └── StoreError                a store that cannot be used
        ├── StoreMismatch         it holds fingerprints of another kind than are asked of it
        ├── StoreLocked           another crawl is writing to it
        ├── StoreDamaged          it is not, or not any more, what a store should be
        └── StoreUnavailable      it does not answer just now; nothing of that call was stored

    NearDuplicate                 a page that SIMHASH_ACTION = "drop_page" dropped   (scrapy's IgnoreRequest)

:class:`~scrapy_simhash.crawl.drops.NearDuplicate` lives on the Scrapy side: nothing here imports Scrapy.
"""

from __future__ import annotations


class SimhashError(Exception):
    """Base of all errors that scrapy-simhash raises on its own account."""


class SettingError(SimhashError, ValueError):
    """A wrong setting; the message names the setting, what it must be, and its value."""


class StoreError(SimhashError):
    """A store that cannot be used; the message names the store and says what to do."""


class StoreMismatch(StoreError):
    """A store whose fingerprints were made or compared by other settings; nothing in it was changed."""


class StoreLocked(StoreError):
    """A store that another crawl is writing to."""


class StoreDamaged(StoreError):
    """A store that cannot be read as one: another kind of file, another version, damage. Nothing was changed."""


class StoreUnavailable(StoreError):
    """A store that does not answer just now, or cannot write: a server away, a full disk. It may work again later."""
