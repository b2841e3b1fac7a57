"""A spider that looks at the live view of its own crawl, as a browser beside it would."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from scrapy import Spider
from scrapy.http import Response


class _Urls(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if isinstance(record.args, dict) and "url" in record.args:
            self.urls.append(str(record.args["url"]))


class Looker(Spider):
    """Asks for what it is given as *paths*, after all of its *urls*; the event loop stands still meanwhile."""

    name = "looker"

    def __init__(self, urls: list[str], asks: list[dict[str, Any]], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = urls
        self.asks = asks
        self.notes: list[Any] = []
        self._heard = _Urls()
        logging.getLogger("scrapy_simhash.view.live").addHandler(self._heard)

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url}
        if response.url != self.start_urls[-1]:
            return
        (url,) = self._heard.urls
        self.notes.append(url)
        for asked in self.asks:
            connection = HTTPConnection(urlsplit(url).netloc, timeout=20)
            connection.request(asked.get("method", "GET"), asked["path"], headers=asked.get("headers", {}))
            answer = connection.getresponse()
            body = answer.read().decode("ascii")
            connection.close()
            is_json = answer.status == 200 and asked["path"].endswith(".json")
            self.notes.append(
                {
                    "status": answer.status,
                    "body": json.loads(body) if is_json else body,
                    "headers": dict(answer.getheaders()),
                }
            )
