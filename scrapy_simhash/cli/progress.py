"""What is said on standard error during a run: a bar of tqdm, if that is installed, and warnings."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from threading import RLock
from types import TracebackType
from typing import Any, TextIO, TypeAlias

from scrapy_simhash.display import printable

#: Seconds without a word: most runs are over by then.
PATIENCE = 2.0
#: Seconds between two words.
PAUSE = 0.2
#: Columns of a terminal that does not say.
COLUMNS = 79

#: Takes how many things are done, and returns the share of all that they are, 0.0 to 1.0, None if nobody knows.
Share: TypeAlias = "Callable[[int], float | None]"

#: The one whose bar is on the terminal: there is only one.
_running: Progress | None = None


def say(text: str, stream: TextIO) -> None:
    """Write lines of text to *stream*; whatever a site or the name of a file put there, nothing moves a cursor."""
    print(encodable("\n".join(map(printable, text.split("\n"))), stream), file=stream)


def encodable(text: str, stream: TextIO) -> str:
    """Return *text* with the number of each sign that *stream* cannot write."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def show(facts: Mapping[str, Any], lines: Iterable[str], is_json: bool) -> None:
    """Write *facts* to standard output as JSON, or else as *lines*."""
    say(json.dumps(facts, indent=2) if is_json else "\n".join(lines), sys.stdout)


def told(facts: Mapping[str, int], is_json: bool) -> str:
    """Return *facts* in a line, or as a JSON object.

    >>> told({"postings": 3_000, "new": 2_999, "near_duplicates": 1}, is_json=False)
    'postings: 3,000, new: 2,999, near-duplicates: 1'
    """
    if is_json:
        return json.dumps(facts)
    return ", ".join(f"{name.replace('_', '-')}: {number:,}" for name, number in facts.items())


def warn(message: str) -> None:
    """Write a warning to standard error, on a line of its own."""
    wipe()
    say(f"warning: {message}", sys.stderr)


def wipe() -> None:
    """Take the bar off the terminal, before anything else is written there."""
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
    """One bar on a terminal, rewritten a few times a second; nothing on what is no terminal, or without tqdm."""

    def __init__(self, stream: TextIO | None, is_early: bool = False) -> None:
        """Speak to *stream*, None for nobody, after `PATIENCE`, or early, after a quarter of it."""
        self._stream = stream
        self._make = _tqdm() if stream is not None and stream.isatty() else None
        self._delay = PATIENCE / 4 if is_early else PATIENCE
        self._bar: Any = None

    def counting(self, doing: str, share: Share = _unknown) -> Callable[[int], None]:
        """Return a function that takes how many things are through *doing*, and says so.

        If *share* knows which share they are, it also says when all will be through. What *doing* is begins now.
        """
        bar = self._begin(doing)

        def tell(done: int) -> None:
            # True if it was shown: then the next time shows how many there will be.
            if bar is not None and bar.update(done - bar.n) and (known := share(done)):
                bar.total = round(done / known)

        return tell

    def share(self, doing: str) -> Callable[[float], None]:
        """Return a function that takes which share of *doing* is done, 0.0 to 1.0, and says so."""
        bar = self._begin(doing, total=1.0, bar_format="{l_bar}{bar}| [{elapsed}<{remaining}]")
        return lambda share: None if bar is None else bar.update(share - bar.n)

    def wipe(self) -> None:
        """Take the bar off the terminal, for what comes next."""
        if self._bar is not None:
            self._bar.clear()

    def __enter__(self) -> Progress:
        """Return itself."""
        global _running
        _running = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar off."""
        global _running
        _running = None
        self._end()

    def _begin(self, doing: str, **more: Any) -> Any:
        self._end()
        if self._make is not None:
            self._bar = self._make(
                desc=doing,
                file=self._stream,
                delay=self._delay,
                mininterval=PAUSE,
                miniters=0,
                leave=False,
                ncols=_columns(self._stream),
                # Where a terminal says 0 rows, nothing would be shown either.
                nrows=2,
                **more,
            )
        return self._bar

    def _end(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _columns(stream: TextIO | None) -> int:
    """Return the columns of a terminal; some say 0, and tqdm would show nothing."""
    try:
        return os.get_terminal_size(stream.fileno() if stream else -1).columns or COLUMNS
    except (OSError, ValueError):
        return COLUMNS


def _tqdm() -> Any:
    """Return the class of a bar, None if tqdm is not installed."""
    try:
        tqdm = import_module("tqdm").tqdm
    except ImportError:
        return None
    # No thread that looks after it, and no lock for other processes: batches fork.
    bar: Any = type("Bar", (tqdm,), {"monitor_interval": 0})
    bar.set_lock(RLock())
    return bar
