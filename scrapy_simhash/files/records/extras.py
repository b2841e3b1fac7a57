"""Packages that only some kinds of input need: imported at first use, named with their extra if missing."""

from __future__ import annotations

from gzip import GzipFile
from importlib import import_module
from typing import Any

from scrapy_simhash.exceptions import KindError


def zstd() -> Any:
    """Return the module that reads and writes zstd: of the standard library from Python 3.14 on, else a backport."""
    return _first("zstd data", "zstd", "compression.zstd", "backports.zstd")


def brotli() -> Any:
    """Return the module that reads pages that servers compressed by Brotli."""
    return _first("Brotli data", "warc", "brotli")


def pyarrow(module: str) -> Any:
    """Return a module of pyarrow."""
    return _first("Parquet", "parquet", module)


def inflater() -> Any:
    """Return what makes a decompressor of zlib: that of isal, if it is there, takes less than half the time."""
    try:
        return import_module("isal.isal_zlib").decompressobj
    except ImportError:
        return import_module("zlib").decompressobj


def gzip_writer(stream: Any) -> Any:
    """Return what compresses into *stream*: isal, if it is there, takes a tenth to a fourth of the time of zlib.

    Both without a time, so that the same records are the same bytes; those of the two differ.
    """
    try:
        return import_module("isal.igzip").IGzipFile("", "wb", _ISAL_LEVEL, stream, mtime=0)
    except ImportError:
        return GzipFile("", "wb", _ZLIB_LEVEL, stream, mtime=0)


#: Half the time of the usual level 6 or less; pages become a tenth and a seventh larger.
_ZLIB_LEVEL = 3
_ISAL_LEVEL = 2


def _first(what: str, extra: str, *modules: str) -> Any:
    for module in modules:
        try:
            return import_module(module)
        except ImportError:
            continue
    raise KindError(f"{what} needs {modules[-1]}: pip install 'scrapy-simhash[{extra}]'")
