"""The two kernels side by side in one process."""

from __future__ import annotations

from scrapy_simhash import Config, PageFingerprinter

NATIVE, PURE = "native", "pure"


def readers(config: Config | None = None) -> dict[str, PageFingerprinter]:
    """Return a PageFingerprinter for each kernel there is, the compiled one first.

    Which one runs is chosen once in a process; here the choice is taken back for one object.

    >>> list(readers())[-1]
    'pure'
    """
    pure = PageFingerprinter(config)
    pure._compiled = None
    chosen = PageFingerprinter(config)
    return {NATIVE: chosen, PURE: pure} if chosen._compiled else {PURE: pure}
