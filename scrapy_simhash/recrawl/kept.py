"""Kept requests: what a callback has yielded, as compressed JSON. Bytes of a store are never unpickled."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any
from zlib import compress, decompress
from zlib import error as ZlibError

#: What a request is by default, and is left out.
_DEFAULTS: Mapping[str, Any] = {
    "method": "GET",
    "encoding": "utf-8",
    "priority": 0,
    "dont_filter": False,
    "body": b"",
}
#: A page whose requests take more, compressed, is fetched in full each time.
MOST_BYTES = 1 << 20


def packed(requests: Sequence[Mapping[str, Any]]) -> bytes | None:
    """Return the dictionaries of requests as bytes, empty for none.

    None if one of them holds what JSON does not give back as it was, such as a tuple or an object in its meta.

    >>> packed([{"url": "https://example.com/a", "meta": {"place": (1, 2)}}]) is None
    True
    >>> unpacked(packed([{"url": "https://example.com/a", "method": "GET", "body": b"", "callback": "parse"}]))
    [{'url': 'https://example.com/a', 'callback': 'parse'}]
    """
    if not requests:
        return b""
    found = [_as_json(request) for request in requests]
    try:
        text = json.dumps(found, separators=(",", ":"), ensure_ascii=False)
        if json.loads(text) != found:
            return None
        data = compress(text.encode("utf-8", "surrogatepass"), 6)
    except (TypeError, ValueError, RecursionError):
        return None
    return data if len(data) <= MOST_BYTES else None


def unpacked(data: bytes) -> list[dict[str, Any]]:
    """Return what packed() took, without what is so by default. Raises ValueError for anything else."""
    if not data:
        return []
    try:
        found = json.loads(decompress(data).decode("utf-8", "surrogatepass"))
        for request in found:
            if "body" in request:
                request["body"] = request["body"].encode("latin-1")
            if "headers" in request:
                request["headers"] = {
                    name: [value.encode("latin-1") for value in values]
                    for name, values in request["headers"].items()
                }
    except (ZlibError, AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"damaged requests: {error}") from error
    return list(found)


def use_of(purpose: Mapping[str, Any], has_requests: bool, text_hash: int | None) -> int | None:
    """Return 32 bits of what a page was read for, whether its requests are kept, and of its text.

    None if the purpose holds what JSON does not know: then nobody can tell whether it is the same again.
    """
    try:
        text = json.dumps([purpose, has_requests, text_hash], sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return None
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big")


def _as_json(request: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        name: value
        for name, value in request.items()
        if value is not None and value not in ({}, []) and _DEFAULTS.get(name) != value
    }
    if "body" in found:
        found["body"] = found["body"].decode("latin-1")
    if "headers" in found:
        found["headers"] = {
            name.decode("latin-1"): [value.decode("latin-1") for value in values]
            for name, values in found["headers"].items()
        }
    return found
