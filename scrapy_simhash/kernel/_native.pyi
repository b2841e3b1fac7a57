"""What _native.pyx offers; ``scrapy_simhash.page.compiled`` is its only caller."""

from types import SimpleNamespace

from lxml.etree import _Element

from scrapy_simhash.page.reading import KnownSite, Reading
from scrapy_simhash.page.text.columns import Columns as Columns
from scrapy_simhash.page.text.document import Paragraph, Zone

_Settings = tuple[int, int, bool, bool]
_HeadLink = tuple[str | None, str, str | None, str | None]
_Language = tuple[str | None, int, int]

def digest(data: bytes) -> int: ...
def links_in_head(root: _Element, word: bytes | None, limit: int) -> list[_HeadLink] | None: ...

class Rules:
    def __init__(self, definition: SimpleNamespace) -> None: ...

class Reader:
    def __init__(
        self,
        rules: Rules,
        numbers: dict[str, int],
        han: frozenset[str],
        paragraph: type[Paragraph],
        zones: tuple[Zone, ...],
        reasons: tuple[str | None, ...],
    ) -> None: ...
    def read_tree(
        self, root: _Element, language: str | None, settings: _Settings, site: KnownSite | None, url: str
    ) -> Reading | None: ...
    def read_texts(
        self, texts: list[str], language: str | None, settings: _Settings
    ) -> list[Reading | None]: ...
    def extract(
        self, root: _Element, language: str | None
    ) -> tuple[str, _Language, tuple[str, ...], tuple[Paragraph, ...]] | None: ...

class PieceTable:
    subjects: int
    def __init__(self, least: int, least_short: int) -> None: ...
    @property
    def is_known(self) -> bool: ...
    def __len__(self) -> int: ...
    def flags(self, keys: bytes) -> bytes | None: ...
    def learn(self, keys: bytes, subject: int) -> None: ...
    def load(self, data: bytes) -> None: ...
    def to_bytes(self) -> bytes: ...
    def known(self) -> list[tuple[int, int]]: ...
