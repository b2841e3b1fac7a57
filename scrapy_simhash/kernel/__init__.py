"""Choose the implementation of the hot loops: the C extension if it is installed and correct, else pure Python.

The pure Python code is the reference implementation; the kernel returns the same results, bit for bit.
``SCRAPY_SIMHASH_KERNEL`` forces one of them: ``pure``, or ``native``, which raises ImportError if the kernel is
missing or its results differ. :mod:`scrapy_simhash.page.compiled` passes word lists and limits to the kernel.
"""

from __future__ import annotations

# The code that Cython generates imports this module first and does not check for an error: an interrupt during that
# import would crash the process.
import inspect  # noqa: F401
import os
import platform
from importlib import import_module
from types import ModuleType

#: The environment variable that forces an implementation.
VARIABLE = "SCRAPY_SIMHASH_KERNEL"

_MODULES = ("scrapy_simhash.kernel._hamming", "scrapy_simhash.kernel._native")

#: The compiled module that reads pages; None if pure Python reads them.
native: ModuleType | None = None
#: The compiled module of the index; None if the index is pure Python.
hamming: ModuleType | None = None
#: The name if only the index is compiled. The module that reads pages depends on lxml, but the index does not.
INDEX_ONLY = "pure for pages, native for the index"
#: ``native``, ``pure`` or `INDEX_ONLY`; logged at the start of a crawl.
NAME = "pure"
#: Why pure Python is used; empty if the whole kernel is used.
REASON = ""


def choose() -> None:
    """Choose an implementation from the environment variable and the modules that were built; runs at import.

    Raises ImportError if the variable forces a kernel that is missing, or has an unknown value.
    """
    global native, hamming, NAME, REASON
    wanted = os.environ.get(VARIABLE) or "auto"
    if wanted not in ("auto", "pure", "native"):
        raise ImportError(f"{VARIABLE} must be auto, pure or native, got {wanted!r}")
    if wanted == "pure":
        REASON = f"{VARIABLE} is pure"
        return
    try:
        modules = [import_module(name) for name in _MODULES]
    # Any exception may occur: for example, a module compiled for a different lxml raises ValueError.
    except Exception as cause:
        give_up(_reason(cause), cause)
    else:
        (hamming, native), NAME, REASON = modules, "native", ""


def _reason(cause: Exception) -> str:
    """Return the reason why the kernel cannot be imported."""
    if isinstance(cause, ModuleNotFoundError) and cause.name in _MODULES:
        return f"it is not built for this Python ({platform.python_implementation()} {platform.python_version()})"
    return f"it is built, but cannot be imported ({type(cause).__name__}: {cause})"


def give_up(reason: str, cause: Exception | None = None) -> None:
    """Fall back to pure Python for pages. Raises ImportError with *reason* if the environment variable is ``native``.

    The index stays compiled, because open stores use it.
    """
    global native, NAME, REASON
    if os.environ.get(VARIABLE) == "native":
        raise ImportError(f"{VARIABLE} is native, but the C extension cannot be used: {reason}") from cause
    native, NAME, REASON = None, "pure" if hamming is None else INDEX_ONLY, reason


choose()
