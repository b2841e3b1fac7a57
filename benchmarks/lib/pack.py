"""Read the evaluation packs: folders of labelled pages, which are never part of the checkout.

The environment variable ``SIMHASH_EVAL_PACK`` has their paths, separated by ``os.pathsep`` as in ``PATH``. The README
of each pack describes where its pages come from and how they were labelled. The packs may be used for evaluation
only, and are not copied into this project. A folder contains::

    docs.jsonl.gz                 a document per line: id, archive, path, url, source, lang, kind, ...
    pairs.jsonl.gz                a labelled pair per line: a, b, label, kind, sim_main, source, lang, ...
    extraction_gold.jsonl.xz      the main text of some documents, marked by people: id, page_type, gold, ...
    *.tar.xz                      the documents, as bytes
"""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import os
import tarfile
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

VARIABLE = "SIMHASH_EVAL_PACK"


class Doc(NamedTuple):
    """A page of the pack, without its bytes."""

    id: str
    url: str
    """Empty if unknown."""
    source: str
    kind: str
    """``page``, or ``short``, ``redirect-stub`` or ``alias`` for a document that is not compared."""
    site: str
    """The host name in the pack; empty if unknown."""


class Pair(NamedTuple):
    """Two pages and their label."""

    a: str
    b: str
    label: str
    """``near``, ``different``, or ``grey`` if neither result is wrong."""
    kind: str
    """The origin of the label."""
    similarity: float
    """The share of their main texts that the two pages have in common, 0-1."""
    source: str


class Gold(NamedTuple):
    """The labelled main text of a page."""

    page_type: str
    text: str


class Pack:
    """A folder of labelled pages; each file is read at its first use."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def locate_all(cls) -> list[Pack]:
        """Return the packs in ``SIMHASH_EVAL_PACK``, in that order; folders without a pack are skipped."""
        return [cls(folder) for folder in _folders() if (folder / "docs.jsonl.gz").exists()]

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.name

    @cached_property
    def docs(self) -> dict[str, Doc]:
        """Every document by id, in the order of the file."""
        return {record["id"]: _doc(record) for record in self._docs}

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every labelled pair."""
        with gzip.open(self.folder / "pairs.jsonl.gz", "rt", encoding="utf-8") as lines:
            return [_pair(json.loads(line)) for line in lines]

    @cached_property
    def gold(self) -> dict[str, Gold]:
        """The gold main texts by document id; empty if the pack has none."""
        file = self.folder / "extraction_gold.jsonl.xz"
        if not file.exists():
            return {}
        with lzma.open(file, "rt", encoding="utf-8") as lines:
            records = map(json.loads, lines)
            return {record["id"]: Gold(record["page_type"], record["gold"]) for record in records}

    def gold_groups(self, id: str) -> tuple[str, str, str]:
        """Return the groups of gold texts: all, by type of page, and by source."""
        return "all", self.gold[id].page_type, self.docs[id].source

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the labels: figures with the same digest are comparable."""
        return hashlib.sha256((self.folder / "pairs.jsonl.gz").read_bytes()).hexdigest()

    def html(self) -> Iterator[tuple[Doc, bytes]]:
        """Yield every document with its bytes, archive by archive, in the order of the archive."""
        members = {(record["archive"], record["path"]): _doc(record) for record in self._docs}
        for archive in sorted({archive for archive, _ in members}):
            with tarfile.open(self.folder / archive, "r|xz") as tar:
                for member in tar:
                    doc, file = members.get((archive, member.name)), tar.extractfile(member)
                    if doc is not None and file is not None:
                        yield doc, file.read()

    @cached_property
    def _docs(self) -> list[dict[str, Any]]:
        with gzip.open(self.folder / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]


def absence() -> str:
    """Return the message about missing packs, for a test or a part of a benchmark that is skipped."""
    found = f" (none in {', '.join(map(str, _folders()))})" if _folders() else ""
    return f"needs an evaluation pack: set {VARIABLE} to its folder{found}"


def _folders() -> list[Path]:
    return [Path(folder) for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder]


def _doc(record: Mapping[str, Any]) -> Doc:
    return Doc(record["id"], record["url"] or "", record["source"], record["kind"], record.get("site") or "")


def _pair(record: Mapping[str, Any]) -> Pair:
    return Pair(*(record[name] for name in ("a", "b", "label", "kind", "sim_main", "source")))
