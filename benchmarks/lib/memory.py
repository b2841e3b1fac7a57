"""How much memory a process takes."""

from __future__ import annotations

import ctypes
import gc
import resource
import sys
from contextlib import suppress
from pathlib import Path

_STATM = Path("/proc/self/statm")


def resident_bytes() -> int:
    """Return the memory of this process now (Linux), or its peak so far (elsewhere)."""
    if tells_memory():
        return int(_STATM.read_text("ascii").split()[1]) * resource.getpagesize()
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def settled_bytes() -> int:
    """Return the same after all that is free has been given back to the system."""
    gc.collect()
    with suppress(AttributeError, OSError):  # glibc only
        ctypes.CDLL(None).malloc_trim(0)
    return resident_bytes()


def tells_memory() -> bool:
    """Return whether this system tells what a process takes now."""
    return _STATM.exists()
