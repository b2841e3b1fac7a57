"""Regular expressions that are compiled at first use.

Compiling all of them takes longer than importing the modules, and a crawl needs few: the C extension reads most pages
without regular expressions.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    r"""Return an object with the attributes of a compiled pattern, which is compiled at first use.

    An invalid *pattern* raises re.error at that time.

    >>> lazy_pattern(r"\d+").findall("12 of 20")
    ['12', '20']
    """
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))


class _LazyPattern:
    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        # Called once per attribute, which is then set on the instance.
        found = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found
