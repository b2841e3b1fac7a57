"""KeptLinks: the requests that a callback yields as dictionaries without objects, and made again from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.utils.request import request_from_dict

from scrapy_simhash import names
from scrapy_simhash.recrawl import unpacked

if TYPE_CHECKING:
    from scrapy import Spider


class KeptLinks:
    """Knows the methods of a spider by their names, and takes down requests."""

    def __init__(self, spider: Spider) -> None:
        self._spider = spider
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

    def taken_down(self, request: Request) -> dict[str, Any] | None:
        """Return *request* as it is now; None if its callback or errback is no method of the spider."""
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
        taken["meta"] = {name: value for name, value in request.meta.items() if name not in names.META_OUT}
        return taken

    def made_again(self, data: bytes) -> list[Request]:
        """Return the requests in what a store has kept. Raises for what cannot be made: a method that is gone."""
        return [request_from_dict(taken, spider=self._spider) for taken in unpacked(data)]
