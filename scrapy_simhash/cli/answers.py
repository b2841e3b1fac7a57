"""What a search writes: JSON in lines, one value each, or one document. Integers stand there to the last digit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping


def array_of(numbers: Iterable[int]) -> str:
    """Return *numbers* as a JSON array, with a blank after every comma as simhash-cpp has it.

    >>> array_of([3, 2**64 - 1])
    '[3, 18446744073709551615]'
    """
    return f"[{', '.join(map(str, numbers))}]"


def document(facts: Mapping[str, int], name: str, values: Iterable[str]) -> Iterator[str]:
    """Yield one JSON object in pieces: *facts*, and under *name* the array of *values*, one a line.

    >>> print("".join(document({"distance": 3}, "pairs", ["[1, 2]", "[3, 4]"])), end="")
    {"distance": 3, "pairs": [
    [1, 2],
    [3, 4]
    ]}
    """
    yield json.dumps({**facts, name: []}).removesuffix("]}")
    separator = "\n"
    for value in values:
        yield separator + value
        separator = ",\n"
    yield "\n]}\n"
