"""The implementation of the hot loops: the compiled kernel if it is installed and agrees, else pure Python.

The pure Python code is the definition; the results of the kernel are equal bit by bit. ``SCRAPY_SIMHASH_KERNEL``
forces one of them: ``pure``, or ``native``, which raises ImportError where the kernel is missing or differs. This
package knows no words and no limits: :mod:`scrapy_simhash.page.compiled` gives them to it.
"""

from __future__ import annotations

# What Cython makes of a module begins by importing this, and does not look whether that worked: an interrupt just
# then would be a crash.
import inspect  # noqa: F401
import os
import platform
from importlib import import_module
from types import ModuleType

#: The environment variable that forces an implementation.
VARIABLE = "SCRAPY_SIMHASH_KERNEL"

_MODULES = ("scrapy_simhash.kernel._hamming", "scrapy_simhash.kernel._native")

#: The compiled module that reads pages, None when pure Python does.
native: ModuleType | None = None
#: The compiled module behind the index, None when pure Python is.
hamming: ModuleType | None = None
#: The name when only the index is compiled: what reads pages depends on lxml, the index does not.
INDEX_ONLY = "pure for pages, native for the index"
#: ``native``, ``pure`` or `INDEX_ONLY`: named in the log line at the start of a crawl.
NAME = "pure"
#: Why pure Python runs; empty when all of the kernel does.
REASON = ""


def choose() -> None:
    """Choose an implementation by the environment and by what was built; runs at import.

    Raises ImportError when the variable asks for a kernel that is missing, or for something unknown.
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
    # Whatever: a module compiled for another lxml raises ValueError, for instance.
    except Exception as cause:
        give_up(_reason(cause), cause)
    else:
        (hamming, native), NAME, REASON = modules, "native", ""


def _reason(cause: Exception) -> str:
    """Return why the kernel cannot be imported: it was not built, or what its import raised."""
    if isinstance(cause, ModuleNotFoundError) and cause.name in _MODULES:
        return f"it is not built for this Python ({platform.python_implementation()} {platform.python_version()})"
    return f"it is built, but cannot be imported ({type(cause).__name__}: {cause})"


def give_up(reason: str, cause: Exception | None = None) -> None:
    """Fall back to pure Python for pages; raises ImportError with *reason* when the environment forbids that.

    An index that is compiled stays so: stores that are open have one.
    """
    global native, NAME, REASON
    if os.environ.get(VARIABLE) == "native":
        raise ImportError(
            f"{VARIABLE} is native, but the compiled kernel cannot be used: {reason}"
        ) from cause
    native, NAME, REASON = None, "pure" if hamming is None else INDEX_ONLY, reason


choose()
