"""An index as a file: a line of JSON, the fingerprints, their keys, and a checksum of all that.

The numbers have 8 bytes each, the least significant first, whatever the machine.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from array import array
from pathlib import Path
from typing import Any, TypeAlias

from scrapy_simhash.index.index import ProbingIndex, SimhashIndex
from scrapy_simhash.index.plans import Block, Plan
from scrapy_simhash.index.probing_plan import ProbingPlan
from scrapy_simhash.index.scan import LinearScan
from scrapy_simhash.replacement import replacing

FORMAT = "scrapy-simhash index"
VERSION = 2
#: A header is no longer, with the thousand keys that a plan may have: bytes.
_MOST_HEADER = 1 << 20

AnyIndex: TypeAlias = "SimhashIndex | ProbingIndex | LinearScan"


class IndexFileError(ValueError):
    """A file that cannot be used as an index; the message names it and says why."""


def save(index: AnyIndex, path: str | os.PathLike[str]) -> None:
    """Write the postings and the plan of *index* to a file, which replaces the one at *path* as a whole.

    16 bytes a posting, in the file and in memory while it works. Not saved are the number that ``add_many`` would
    give next, and the later plans of ``blocks="auto"``, only the present one. Raises OSError if it cannot be written.

    >>> from tempfile import TemporaryDirectory
    >>> index = SimhashIndex(max_distance=2, blocks=4)
    >>> index.add(0b1011, key=7)
    >>> with TemporaryDirectory() as folder:
    ...     save(index, f"{folder}/pages.simhash")
    ...     load(f"{folder}/pages.simhash").find(0b1111)
    [Match(key=7, value=11, distance=1)]
    """
    values, keys = array("Q"), array("Q")
    for value, key in index:
        values.append(value)
        keys.append(key)
    header = {"format": FORMAT, "version": VERSION, "postings": len(values), "plan": _plan_of(index)}
    parts = [json.dumps(header).encode("ascii") + b"\n", _little(values), _little(keys)]
    checksum = 0
    with replacing(os.fspath(path)) as raw:
        for part in parts:
            checksum = zlib.crc32(part, checksum)
            _write(raw, part)
        _write(raw, checksum.to_bytes(4, "little"))


def load(path: str | os.PathLike[str]) -> AnyIndex:
    """Return the index that was saved at *path*: the same kind, plan and postings.

    Raises OSError if the file cannot be read, and IndexFileError if it is no index, damaged, or of another version.
    """
    with Path(path).open("rb") as file:
        line = file.readline(_MOST_HEADER)
        rest = file.read()
    try:
        header = json.loads(line)
        if header["format"] != FORMAT:
            raise ValueError
        version, size = header["version"], 8 * header["postings"]
    except (ValueError, KeyError, TypeError):
        raise IndexFileError(f"{path} is not a file of an index") from None
    if version != VERSION:
        raise IndexFileError(
            f"{path} has version {version}, and this release reads {VERSION}: save the index again"
        )
    if len(rest) != 2 * size + 4 or zlib.crc32(rest[:-4], zlib.crc32(line)) != int.from_bytes(
        rest[-4:], "little"
    ):
        raise IndexFileError(f"{path} is damaged or incomplete: save the index again")
    index = _empty(header["plan"])
    index.add_many(_numbers(rest[:size]), _numbers(rest[size:-4]))
    return index


def _plan_of(index: AnyIndex) -> dict[str, Any]:
    if isinstance(index, LinearScan):
        return {"max_distance": index.max_distance}
    plan = index.plan
    kind = {"keys": plan.keys} if isinstance(plan, Plan) else {"radii": plan.radii}
    blocks = [(block.shift, block.width) for block in plan.blocks]
    return {"max_distance": plan.max_distance, "blocks": blocks, **kind}


def _empty(plan: dict[str, Any]) -> AnyIndex:
    if "blocks" not in plan:
        return LinearScan(plan["max_distance"])
    blocks = tuple(Block(*block) for block in plan["blocks"])
    if "keys" in plan:
        return SimhashIndex.from_plan(Plan(plan["max_distance"], blocks, tuple(map(tuple, plan["keys"]))))
    return ProbingIndex.from_plan(ProbingPlan(plan["max_distance"], blocks, tuple(plan["radii"])))


def _little(numbers: array[int]) -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _numbers(data: bytes) -> array[int]:
    numbers = array("Q", data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _write(raw: Any, data: bytes) -> None:
    """Write all of *data* to a file without a buffer, which may take less at a time."""
    view = memoryview(data)
    while view:
        view = view[raw.write(view) :]
