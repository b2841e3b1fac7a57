"""A tiny evaluation pack in the format of the real ones, with texts from this project."""

import gzip
import io
import json
import lzma
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.lib.pack import VARIABLE, Pack

FERRY = (
    "The old ferry left the harbour at six in the morning, as it had done for all of the forty years before.",
    "There was a light wind from the north and the captain said that it would be gone by the time they were out.",
    "Nobody on the deck believed him, because he had been wrong about the wind on each of the days of that week.",
)
BREAD = (
    "A bread of the islands is made with the water in which the seaweed has been boiled, and with no salt at all.",
    "It is left to rise under a cloth in the warmest part of the house until it has grown to twice what it was.",
    "When the oven is hot enough to turn a page of the newspaper brown, the loaf is put in and left for an hour.",
)


def plain(paragraphs: Iterable[str]) -> str:
    return "<title>Page</title><body>" + "".join(f"<p>{text}</p>" for text in paragraphs)


def skinned(paragraphs: Iterable[str]) -> str:
    menu = "<nav><a href=/d1.html>All of the pages</a></nav>"
    text = "".join(f"<p>{text}</p>" for text in paragraphs)
    return f"<title>Page</title><body>{menu}<main>{text}</main><footer>The end</footer>"


#: Fingerprints: d1 equals d2 (the same text in two templates), d3 differs, d4 is too short.
HTML = {
    "d1": plain(FERRY),
    "d2": skinned(FERRY),
    "d3": plain(BREAD),
    "d4": "<p>Too short.",
    "d5": plain(BREAD),
}
DOCS = [
    {"id": "d1", "source": "ferries", "kind": "page"},
    {"id": "d2", "source": "ferries", "kind": "page"},
    {"id": "d3", "source": "bakers", "kind": "page"},
    {"id": "d4", "source": "bakers", "kind": "page"},
    {"id": "d5", "source": "bakers", "kind": "page"},
]
PAIRS = [
    {"a": "d1", "b": "d2", "label": "near", "kind": "same", "sim_main": 1, "source": "ferries"},
    {"a": "d3", "b": "d4", "label": "near", "kind": "cut", "sim_main": 0.9, "source": "bakers"},
    {"a": "d1", "b": "d3", "label": "different", "kind": "odd", "sim_main": 0.1, "source": "bakers"},
    {"a": "d2", "b": "d3", "label": "grey", "kind": "odd", "sim_main": 0.5, "source": "bakers"},
]  # fmt: skip


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pack:
    """The tiny pack, in the folder that the programs read."""
    docs = [
        {"archive": "pages.tar.xz", "path": f"pages/{doc['id']}.html", "url": f"/{doc['id']}", **doc}
        for doc in DOCS
    ]
    write_lines(tmp_path / "docs.jsonl.gz", docs)
    write_lines(tmp_path / "pairs.jsonl.gz", PAIRS)
    gold = [{"id": "d1", "page_type": "article", "gold": "\n".join(FERRY)}]
    write_lines(tmp_path / "extraction_gold.jsonl.xz", gold)
    write_tar(tmp_path / "pages.tar.xz", {f"pages/{id}.html": html for id, html in HTML.items()})
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return Pack(tmp_path)


@pytest.fixture
def no_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a pack."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere"))


def write_lines(file: Path, records: Iterable[Mapping[str, Any]]) -> None:
    text = "".join(json.dumps(record) + "\n" for record in records).encode()
    compress = lzma.compress if file.suffix == ".xz" else gzip.compress
    file.write_bytes(compress(text))


def write_tar(file: Path, members: Mapping[str, str]) -> None:
    with tarfile.open(file, "w:xz") as tar:
        for name, html in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(html.encode())
            tar.addfile(info, io.BytesIO(html.encode()))
