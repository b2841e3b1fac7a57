"""What is read of an HTML response: the tree that the spider gets as well, and the language its head names."""

from __future__ import annotations

from typing import Any

from scrapy.http import Response


def tree_of(response: Response) -> Any:
    """Return the root of the tree, the very one that the spider gets; None for JSON that calls itself HTML."""
    root = response.selector.root  # type: ignore[attr-defined]  # who asks knows that it is HTML
    return root if hasattr(root, "iter") else None


#: Values of one header that are read; a server may send any number.
MAX_VALUES = 1_000


def header_values(response: Response, name: bytes) -> list[str]:
    """Return the first `MAX_VALUES` values of an HTTP header; *name* is written as ``Content-Language`` is.

    Read as the dictionary that it is: all names in there are written so, and to ask Scrapy takes ten calls.
    """
    values: list[bytes] = dict.get(response.headers, name, [])
    return [value.decode("latin-1") for value in values[:MAX_VALUES]] if values else []


def last_value(response: Response, name: bytes) -> bytes:
    """Return the last value of an HTTP header as it came, empty if there is none; *name* as for `header_values`."""
    values: list[bytes] = dict.get(response.headers, name, [])
    return values[-1] if values else b""


def language_of(response: Response) -> str:
    """Return the value of ``Content-Language``, empty if there is none."""
    return last_value(response, b"Content-Language").decode("latin-1")
