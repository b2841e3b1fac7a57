"""Regular expressions that are compiled when they are first used.

To compile those of all modules takes longer than to import the modules, and a crawl uses few of them: the C extension
reads most pages without any.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    r"""Return what ``re.compile`` returns, as far as its attributes go, but compile it at the first use.

    A wrong *pattern* raises re.error then.

    >>> lazy_pattern(r"\d+").findall("12 of 20")
    ['12', '20']
    """
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))


class _LazyPattern:
    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        # Called once per attribute: afterwards it is the instance's own.
        found = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found
