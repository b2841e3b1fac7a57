"""A site that sends ETags or dates, and answers conditional requests correctly or with mistakes of real servers."""

import gzip
from collections.abc import Mapping
from email.utils import formatdate
from zlib import crc32

from tests.crawls.site import Answer, Routes, Site

#: The date of pages that never changed.
LONG_AGO = 1_600_000_000


class ValidatingSite(Site):
    """Answers 304 for unchanged pages. *modes* maps paths to kinds of server error; *sent* lists the responses."""

    def __init__(self, routes: Routes) -> None:
        super().__init__(routes)
        #: By path: ``lies`` (304 to every conditional request), ``dates`` (no ETag), ``both``, ``none``, ``gzip``,
        #: ``one etag`` for all pages, ``path etags`` that stay when the page changes.
        self.modes: dict[str, str] = {}
        #: The mode of all other paths.
        self.mode = "etags"
        #: Path, status, and length of the body, in order.
        self.sent: list[tuple[str, int, int]] = []
        #: The cookies of each request.
        self.cookies: list[str] = []

    def reply(self, path: str, headers: Mapping[str, str]) -> Answer:
        answer = self._answer_to(path, headers)
        self.cookies.append(headers.get("Cookie") or "")
        self.sent.append((path, answer.status, len(answer.body)))
        return answer

    @property
    def bytes_sent(self) -> int:
        return sum(length for _, _, length in self.sent)

    def paths(self, status: int) -> list[str]:
        """Return the paths with this status, sorted."""
        return sorted(path for path, sent_status, _ in self.sent if sent_status == status)

    def _answer_to(self, path: str, headers: Mapping[str, str]) -> Answer:
        answer = self.answer(path)
        if answer.status != 200:
            return answer
        mode = self.modes.get(path, self.mode)
        body = answer.body.encode() if isinstance(answer.body, str) else answer.body
        constant = {"one etag": '"1"', "path etags": f'"{crc32(path.encode()):x}"'}
        etag = constant.get(mode, f'"{crc32(body):x}"')
        date = formatdate(LONG_AGO + crc32(body) % 1_000_000, usegmt=True)
        its: dict[str, str] = {}
        if mode not in ("dates", "none"):
            its["ETag"] = etag
        if mode in ("dates", "both"):
            its["Last-Modified"] = date
        conditions = headers.get("If-None-Match"), headers.get("If-Modified-Since")
        knows = conditions[0] == etag if conditions[0] is not None else conditions[1] == date
        if its and (knows or (mode == "lies" and conditions != (None, None))):
            return Answer(b"", 304, None, its)
        if mode == "gzip":
            its["Content-Encoding"] = "gzip"
            body = gzip.compress(body)
        return answer._replace(body=body, headers={**answer.headers, **its})
