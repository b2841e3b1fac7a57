"""``simhash(response)`` in ``scrapy shell``: the verdict on a page, and which of its text was compared.

``COMMANDS_MODULE = "scrapy_simhash.shell"`` in the settings of a project puts it into the shell, by a command that is
Scrapy's own but for that. Elsewhere ``from scrapy_simhash.shell import simhash`` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial, update_wrapper
from textwrap import wrap
from typing import Any

from scrapy.commands import shell
from scrapy.http import HtmlResponse, Response
from scrapy.utils.project import get_project_settings

from scrapy_simhash import names
from scrapy_simhash.config import Config
from scrapy_simhash.crawling import language_of, tree_of
from scrapy_simhash.display import printable
from scrapy_simhash.fingerprinter import PageFingerprinter
from scrapy_simhash.page.text import Document
from scrapy_simhash.view.comparison import facts_of
from scrapy_simhash.view.side_by_side import about, cut
from scrapy_simhash.view.words import explained

#: Columns of a line.
WIDTH = 80
#: Paragraphs that are shown.
MOST = 100


class Explanation:
    """What is said of one page. Its text, for a terminal, is also its ``repr``."""

    def __init__(self, line: Mapping[str, Any], document: Document | None, fingerprint: str | None) -> None:
        #: The verdict by the keys of a report; None if the page was not compared with others.
        self.verdict = line if "status" in line else None
        #: Which paragraphs are the main text, and why the others are not; None for a page without HTML.
        self.document = document
        #: 16 hexadecimal digits; None for a page with too little text.
        self.fingerprint = fingerprint
        self._url = line["url"]

    def __repr__(self) -> str:
        return "\n".join(line.rstrip() for line in self._lines())

    def _lines(self) -> Iterator[str]:
        if self.verdict is None:
            said = f"{printable(self._url)} was not compared with other pages: the add-on is not enabled"
        else:
            said = explained(self.verdict)
        yield from wrap(said, WIDTH, break_on_hyphens=False)
        if self.document is None:
            return
        yield f"fingerprint: {self.fingerprint or 'none, too little text'}"
        yield from (cut(line, WIDTH) for line in about(facts_of(self.document)))
        for paragraph in self.document.paragraphs[:MOST]:
            yield cut(
                f"{paragraph.boilerplate or 'main text':<10} {printable(paragraph.text[:WIDTH])}", WIDTH
            )
        if (more := len(self.document.paragraphs) - MOST) > 0:
            yield f"... and {more:,} more paragraphs"


def simhash(response: Response, settings: Mapping[str, Any] | None = None) -> Explanation:
    """Return the verdict on *response*, which is in its meta, and what was compared. Stores nothing.

    The text is read by *settings*, by default those of the project.
    """
    line = {} if response.request is None else response.meta.get(names.META_RESULT, {})
    document = fingerprint = None
    root = tree_of(response) if isinstance(response, HtmlResponse) else None
    if root is not None:
        pages = PageFingerprinter(
            Config.from_settings(get_project_settings() if settings is None else settings)
        )
        document = pages.extract(root, content_language=language_of(response))
        found = pages.read_document(document).fingerprint
        fingerprint = None if found is None else found.hex
    return Explanation({"url": response.url, **line}, document, fingerprint)


class Command(shell.Command):
    """``scrapy shell``, with ``simhash``. Scrapy calls a command as its module is called."""

    def update_vars(self, vars: dict[str, Any]) -> None:
        """Add ``simhash``, which reads pages by the settings of this shell."""
        function = partial(simhash, settings=vars["settings"])
        vars["simhash"] = update_wrapper(function, simhash)
