"""Life: what an index goes through, in a form that can be written down, made smaller, and lived once more.

An *act* is a call with one value and one key; neighbours of the same turn are one call with many::

    turn  call           value     key
    0     add            5         1
    1     find_many      7         null        one call: find_many([7, 8])
    1     find_many      8         null
    2     pairs          null      null

A plan is written as it is: a mask and a radius for each table; without tables the index is a scan.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from fuzz.input import Input
from scrapy_simhash.index.plans import Key

#: Calls with a single value, with many of them, and with none.
SINGLE = ("add", "find", "find_or_add", "discard", "in")
MANY = ("add_many", "find_many", "nearest")
BARE = ("iterate", "pairs")


class Act(NamedTuple):
    """A call, or a value of one. Values and keys may be wrong: both cores must say so."""

    turn: int
    call: str
    value: Any = None
    key: Any = None


@dataclass(frozen=True)
class Life(Input):
    """An index and its acts.

    *plan* has a mask and a radius for each table, in use from *row_limit* postings on. Where *starved* is not 0, one
    request for memory in so many is refused, drawn by *seed*.
    """

    max_distance: int
    plan: tuple[Key, ...]
    row_limit: int
    acts: tuple[Act, ...]
    starved: int = 0
    seed: int = 0

    def calls(self) -> Iterator[tuple[str, list[Any], list[Any] | None]]:
        """Yield every call with its values and their keys; None where they are numbered on."""
        for (_, call), of_turn in groupby(self.acts, lambda act: act[:2]):
            acts = list(of_turn)
            values, keys = [act.value for act in acts], [act.key for act in acts]
            yield call, values, None if call in MANY and keys[0] is None else keys

    def pieces(self) -> list[Act]:
        """Return what may be left out."""
        return list(self.acts)

    def with_pieces(self, pieces: list[Act]) -> Life:
        """Return the same index with other acts."""
        return replace(self, acts=tuple(pieces))

    def written(self) -> str:
        """Return the life as JSON, an act a line."""
        head = {name: value for name, value in asdict(self).items() if name != "acts"}
        acts = ",\n".join(json.dumps(act) for act in self.acts)
        return f'{json.dumps(head)[:-1]},\n"acts": [\n{acts}\n]}}\n'

    @classmethod
    def read(cls, file: Path) -> Life:
        """Return the life that write() has written."""
        given = json.loads(file.read_text("ascii"))
        plan = tuple((mask, radius) for mask, radius in given.pop("plan"))
        return cls(plan=plan, acts=tuple(Act(*act) for act in given.pop("acts")), **given)
