"""Signals that wait until a loop stands still.

What a signal raises hits whatever runs at that moment. In an event loop that may be anything, such as the task that
reads answers for all others, which would take it for a fault of the connection.
"""

from __future__ import annotations

import signal
from types import FrameType, TracebackType

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class HeldBack:
    """A context, to be entered again and again, in which signals wait; at its end the first of them is handled.

    Outside of it, and after ``release``, they are handled as before.
    """

    def __init__(self) -> None:
        """Take the place of the handlers that there are; only the main thread can do that."""
        numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
        # Others than functions ignore a signal, or end the process: they hit nothing.
        self._handlers = {
            number: handler for number in numbers if callable(handler := signal.getsignal(number))
        }
        self._is_inside = False
        self._waiting: tuple[int, FrameType | None] | None = None
        for number in self._handlers:
            signal.signal(number, self._handle)

    def release(self) -> None:
        """Put the handlers back."""
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def __enter__(self) -> None:
        """Let signals wait."""
        self._is_inside = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Handle what has waited."""
        self._is_inside = False
        if self._waiting is not None:
            (number, frame), self._waiting = self._waiting, None
            self._handle(number, frame)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._is_inside:
            self._waiting = self._waiting or (number, frame)
        else:
            self._handlers[number](number, frame)
