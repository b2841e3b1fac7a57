"""A clock that tests can set."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from types import FunctionType

_REAL = time.time


class Clock:
    """Returns the real time plus *ahead* seconds."""

    def __init__(self, ahead: float = 0.0) -> None:
        self.ahead = ahead

    def __call__(self) -> float:
        return _REAL() + self.ahead

    def install(self) -> None:
        """Replace the real clock in this process, including clocks that are default arguments."""
        time.time = self
        for function in (
            one for kind in classes() for one in vars(kind).values() if isinstance(one, FunctionType)
        ):
            named = function.__kwdefaults__ or {}
            named.update({name: self for name, value in named.items() if value is _REAL})
            function.__defaults__ = tuple(
                self if value is _REAL else value for value in function.__defaults__ or ()
            )


def classes() -> Iterator[type]:
    """Yield the classes of all imported modules of the package."""
    for name, module in list(sys.modules.items()):
        if name.startswith("scrapy_simhash"):
            yield from (
                one for one in vars(module).values() if isinstance(one, type) and one.__module__ == name
            )


def public_functions(kind: type) -> dict[str, FunctionType]:
    """Return the public functions of a class."""
    return {
        name: function
        for name, function in vars(kind).items()
        if isinstance(function, FunctionType) and not name.startswith("_")
    }
