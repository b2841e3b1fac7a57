"""Kept requests: what a callback has yielded, as compressed JSON. Bytes of a store are never unpickled."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any
from zlib import compress, decompress
from zlib import error as ZlibError

#: What a request is by default, and is left out. Other classes of requests may have other defaults.
_DEFAULTS: Mapping[str, Any] = {
    "callback": None,
    "errback": None,
    "method": "GET",
    "headers": {},
    "body": b"",
    "cookies": {},
    "meta": {},
    "encoding": "utf-8",
    "priority": 0,
    "dont_filter": False,
    "flags": [],
    "cb_kwargs": {},
}
#: A page whose requests take more, compressed, is fetched in full each time.
MOST_BYTES = 1 << 20


def packed(requests: Sequence[Mapping[str, Any]]) -> bytes | None:
    """Return the dictionaries of requests as bytes, empty for none.

    None if one of them holds what JSON does not give back as it was, such as a tuple, a member of an Enum or an
    OrderedDict in its meta.

    >>> packed([{"url": "https://example.com/a", "meta": {"place": (1, 2)}}]) is None
    True
    >>> unpacked(packed([{"url": "https://example.com/a", "method": "GET", "body": b"", "callback": "parse"}]))
    [{'url': 'https://example.com/a', 'callback': 'parse'}]
    """
    if not requests:
        return b""
    try:
        found = [_as_json(request) for request in requests]
        text = json.dumps(found, separators=(",", ":"), ensure_ascii=False)
        if _typed(json.loads(text)) != _typed(found):
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
        text = json.dumps([_typed(purpose), has_requests, text_hash])
    except (TypeError, ValueError, RecursionError):
        return None
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big")


def _as_json(request: Mapping[str, Any]) -> dict[str, Any]:
    defaults = {} if "_class" in request else _DEFAULTS
    found = {
        name: value
        for name, value in request.items()
        if name not in defaults or _typed(value) != _typed(defaults[name])
    }
    if "body" in found:
        found["body"] = found["body"].decode("latin-1")
    if "headers" in found:
        found["headers"] = {
            name.decode("latin-1"): [value.decode("latin-1") for value in values]
            for name, values in found["headers"].items()
        }
    return found


def _typed(value: Any) -> list[Any]:
    """Return *value* with the types of all that is in it: to ``==`` an Enum of strings is a string, and True is 1."""
    kind = type(value)
    parts = value
    if isinstance(value, Mapping):
        parts = sorted(([_typed(key), _typed(one)] for key, one in value.items()), key=str)
    elif isinstance(value, list | tuple):
        parts = [_typed(one) for one in value]
    return [f"{kind.__module__}.{kind.__qualname__}", parts]
