"""How far a long run is, for whoever looks on."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import TextIO

#: Seconds without a word: most runs are over by then.
PATIENCE = 2.0
#: Seconds between two words.
PAUSE = 0.2


class Progress:
    r"""One line on a terminal, rewritten a few times a second; nothing at all on what is no terminal.

    >>> import io
    >>> class Terminal(io.StringIO):
    ...     def isatty(self):
    ...         return True
    >>> terminal = Terminal()
    >>> with Progress(terminal, clock=iter([0.0, 1.0, 3.0, 4.0]).__next__) as progress:
    ...     progress.count("reading", 1_000)
    ...     progress.count("reading", 3_000)
    ...     progress.share("searching")(0.25)
    >>> terminal.getvalue().split("\r")
    ['', 'reading: 3,000', 'searching: 25%', '              ', '']
    """

    def __init__(self, stream: TextIO | None, clock: Callable[[], float] = time.monotonic) -> None:
        """Speak to *stream*, None for nobody; *clock* gives seconds."""
        self._stream = stream if stream is not None and stream.isatty() else None
        self._clock = clock
        self._next = clock() + PATIENCE
        self._width = 0

    def count(self, doing: str, done: int) -> None:
        """Say that *done* things are through *doing*."""
        if self._is_time():
            self._show(f"{doing}: {done:,}")

    def share(self, doing: str) -> Callable[[float], None]:
        """Return a function that takes which share of *doing* is done, 0.0 to 1.0, and says so."""
        return partial(self._share, doing)

    def __enter__(self) -> Progress:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wipe the line out, for what comes next."""
        if self._width:
            self._show("")
            self._show("")

    def _share(self, doing: str, share: float) -> None:
        if self._is_time():
            self._show(f"{doing}: {share:.0%}")

    def _is_time(self) -> bool:
        if self._stream is None or (now := self._clock()) < self._next:
            return False
        self._next = now + PAUSE
        return True

    def _show(self, text: str) -> None:
        if self._stream is not None:
            self._stream.write("\r" + text.ljust(self._width))
            self._stream.flush()
            self._width = len(text)
