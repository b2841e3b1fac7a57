"""What is said during a run: text on a terminal, warnings, and how far it is, for whoever looks on."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO, TypeAlias

from scrapy_simhash.display import printable

#: Seconds without a word: most runs are over by then.
PATIENCE = 2.0
#: Seconds between two words.
PAUSE = 0.2
#: Columns of a terminal that does not say.
COLUMNS = 80

#: Takes how many things are done, and returns the share of all that they are, 0.0 to 1.0, None if nobody knows.
Share: TypeAlias = "Callable[[int], float | None]"

#: The one whose line is on the terminal: there is only one.
_running: Progress | None = None


def say(text: str, stream: TextIO) -> None:
    """Write lines of text to *stream*, whatever a site or the name of a file has put there: nothing moves a cursor.

    What the stream has no sign for is written as its number.
    """
    encoding = getattr(stream, "encoding", None) or "utf-8"
    lines = "\n".join(map(printable, text.split("\n")))
    print(lines.encode(encoding, "backslashreplace").decode(encoding), file=stream)


def warn(message: str) -> None:
    """Write a warning to standard error, on a line of its own."""
    wipe()
    say(f"warning: {message}", sys.stderr)


def wipe() -> None:
    """Take the line of progress off the terminal, before anything else is written there."""
    if _running is not None:
        _running.wipe()


def of(total: int) -> Share:
    """Return the function that says which share of *total* things some of them are.

    >>> of(200)(50), of(0)(3), of(10)(11)
    (0.25, None, 1.0)
    """
    return lambda done: min(1.0, done / total) if total else None


def _unknown(_: int) -> None:
    """Return None: nobody knows how many there will be."""


class Progress:
    r"""One line on a terminal, rewritten a few times a second; nothing at all on what is no terminal.

    >>> import io
    >>> class Terminal(io.StringIO):
    ...     def isatty(self):
    ...         return True
    >>> terminal = Terminal()
    >>> with Progress(terminal, clock=iter([0.0, 0.0, 1.0, 3.0, 3.0, 5.0]).__next__) as progress:
    ...     read = progress.counting("reading", of(12_000))
    ...     read(1_000)
    ...     read(3_000)
    ...     progress.share("searching")(0.1)
    >>> terminal.getvalue().split("\r")[1:3]
    ['reading: 3,000 (25%), 1,000 a second, 9 s left', 'searching: 10%, 18 s left                     ']
    """

    def __init__(
        self,
        stream: TextIO | None,
        clock: Callable[[], float] = time.monotonic,
        is_early: bool = False,
    ) -> None:
        """Speak to *stream*, None for nobody, after `PATIENCE`, or early, after a quarter of it.

        *clock* gives seconds.
        """
        self._stream = stream if stream is not None and stream.isatty() else None
        self._clock = clock
        self._next = clock() + (PATIENCE / 4 if is_early else PATIENCE)
        self._width = 0

    def counting(self, doing: str, share: Share = _unknown) -> Callable[[int], None]:
        """Return a function that takes how many things are through *doing*, and says so.

        If *share* knows which share they are, it also says when all will be through. What *doing* is begins now.
        """
        begun = self._clock()

        def tell(done: int) -> None:
            if now := self._time_to_speak():
                self._show(_told(f"{doing}: {done:,}", now - begun, share(done), done))

        return tell

    def share(self, doing: str) -> Callable[[float], None]:
        """Return a function that takes which share of *doing* is done, 0.0 to 1.0, and says so."""
        begun = self._clock()

        def tell(share: float) -> None:
            if now := self._time_to_speak():
                self._show(_told(f"{doing}:", now - begun, share))

        return tell

    def wipe(self) -> None:
        """Take the line off the terminal, for what comes next."""
        if self._width:
            self._show("")
            self._show("")

    def __enter__(self) -> Progress:
        """Return itself."""
        global _running
        _running = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wipe the line."""
        global _running
        _running = None
        self.wipe()

    def _time_to_speak(self) -> float | None:
        """Return the time if it is time to say something, else None."""
        if self._stream is None or (now := self._clock()) < self._next:
            return None
        self._next = now + PAUSE
        return now

    def _show(self, text: str) -> None:
        if self._stream is not None:
            # A line that is too long would not go away.
            text = text[: _columns(self._stream) - 1]
            self._stream.write("\r" + text.ljust(self._width))
            self._stream.flush()
            self._width = len(text)


def _told(text: str, seconds: float, share: float | None, done: int | None = None) -> str:
    if share is not None:
        text += f" {share:.0%}" if done is None else f" ({share:.0%})"
    if done and seconds > 0:
        rate = done / seconds
        text += f", {rate:,.{0 if rate >= 10 else 1}f} a second"
    if share:
        text += f", {_duration(seconds * (1 - share) / share)} left"
    return text


def _duration(seconds: float) -> str:
    """Return *seconds* as people say it.

    >>> _duration(0.2), _duration(100), _duration(3_000), _duration(8_000)
    ('0 s', '100 s', '50 min', '2.2 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or COLUMNS
    except (OSError, ValueError):
        return COLUMNS
