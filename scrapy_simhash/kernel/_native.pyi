"""What _native.pyx offers; ``scrapy_simhash.page.compiled`` is its only caller."""

from types import SimpleNamespace

from lxml.etree import _Element

from scrapy_simhash.page.text.columns import Columns as Columns

_Settings = tuple[int, int, bool, bool]
_Read = tuple[int | None, int, bytes, int | None]
_Paragraph = tuple[str, tuple[str, ...], int, str, float, float, int]
_HeadLink = tuple[str | None, str, str | None, str | None]
_Language = tuple[str | None, int, int]

def digest(data: bytes) -> int: ...
def links_in_head(root: _Element) -> list[_HeadLink] | None: ...

class Rules:
    def __init__(self, definition: SimpleNamespace) -> None: ...

class Reader:
    def __init__(self, rules: Rules, numbers: dict[str, int], han: frozenset[str]) -> None: ...
    def read_tree(self, root: _Element, language: str | None, settings: _Settings) -> _Read | None: ...
    def read_texts(
        self, texts: list[str], language: str | None, settings: _Settings
    ) -> list[_Read | None]: ...
    def extract(
        self, root: _Element, language: str | None
    ) -> tuple[str, _Language, tuple[str, ...], list[_Paragraph]] | None: ...
