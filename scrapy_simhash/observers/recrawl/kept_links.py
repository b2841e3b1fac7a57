"""KeptLinks: the requests that a callback yields, kept as compressed JSON and made again from it.

Bytes of a store are never unpickled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, cast
from zlib import compress, decompress
from zlib import error as ZlibError

from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

from scrapy_simhash import names

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


#: What a page is read for: what may decide which requests its callback yields.
Purpose = dict[str, Any]

#: Keys in the meta that are none of the spider's, or say only how a page is fetched; and how such keys begin.
_OF_OTHERS = frozenset(
    ("depth", "is_start_request", "link_text", "proxy", "_auth_proxy", names.META, names.META_OWN)
)
_OF_OTHERS_BEGIN = ("download_", "redirect_", "retry_", "simhash_", "playwright")
#: Of a page that came, and none of the requests that it leads to.
_OF_THE_PAGE = names.META_OUT | {names.META_OWN}
#: What browsers send of a form. It may hold a password, or a token that the next crawl cannot use.
_FORMS = (b"application/x-www-form-urlencoded", b"multipart/form-data")


class KeptLinks:
    """Knows the methods of the spider of *crawler* by their names, and takes down requests."""

    def __init__(self, crawler: Crawler) -> None:
        # There is one before the components of a crawl are built.
        self._spider = cast("Spider", crawler.spider)
        self._names: dict[Any, str | None] = {}

    def name_of(self, method: Any) -> str | None:
        """Return the name by which the spider has *method*, ``parse`` for none; None for what is no method of it."""
        if method is None:
            return "parse"
        if getattr(method, "__self__", None) is not self._spider:
            return None
        # Scrapy's own way looks at all attributes of the spider, for every request.
        function = method.__func__
        if function not in self._names:
            name = function.__name__
            found = getattr(getattr(self._spider, name, None), "__func__", None)
            self._names[function] = name if found is function else None
        return self._names[function]

    def purpose_of(self, request: Request) -> Purpose | None:
        """Return what the page of *request* is read for; None if its callback is no method of the spider."""
        name = self.name_of(request.callback)
        if name is None:
            return None
        meta = {
            key: value
            for key, value in request.meta.items()
            if key not in _OF_OTHERS and not str(key).startswith(_OF_OTHERS_BEGIN)
        }
        # A store in Redis may be shared by several spiders. The arguments are no copy: what other components add
        # before the callback is called, such as page objects, is to be seen when the page is there.
        return {
            "spider": self._spider.name,
            "callback": name,
            "arguments": request.cb_kwargs,
            "meta": meta,
            "cookies": request.cookies,
        }

    def taken_down(self, request: Request) -> dict[str, Any] | None:
        """Return *request* as it is now; None if it sends a form, or calls what is no method of the spider."""
        if (request.headers.get(b"Content-Type") or b"").lower().startswith(_FORMS):
            return None
        # As Request.to_dict() does, which would look for the methods in its own way.
        taken = {name: getattr(request, name) for name in request.attributes}
        if type(request) is not Request:
            taken["_class"] = f"{type(request).__module__}.{type(request).__name__}"
        for kind in ("callback", "errback"):
            if taken[kind] is not None:
                taken[kind] = self.name_of(taken[kind])
                if taken[kind] is None:
                    return None
        taken["headers"] = dict(request.headers)
        taken["meta"] = {name: value for name, value in request.meta.items() if name not in _OF_THE_PAGE}
        if "link_text" in taken["meta"]:
            # What link extractors put there is a string of lxml's own type.
            taken["meta"]["link_text"] = str(taken["meta"]["link_text"])
        return taken

    def made_again(self, data: bytes) -> list[Request]:
        """Return the requests in what a store has kept. Raises for what cannot be made: a method that is gone."""
        return [request_from_dict(taken, spider=self._spider) for taken in unpacked(data)]


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
