"""What holds all tables of a plan, in pure Python: fingerprints in, the slots of near ones out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array


class Tables(ABC):
    """The tables of one plan over the *values* of an index, each of which has a slot: its place in them.

    What looks for near values and what enters them next may share work: ``look`` returns places that ``enter``
    takes, as long as nothing has changed between.
    """

    __slots__ = ("_max_distance", "_values")

    def __init__(self, max_distance: int, values: array[int]) -> None:
        """Begin with empty tables. *values* is the index's own row, which grows and changes under our eyes."""
        self._max_distance = max_distance
        self._values = values

    @abstractmethod
    def near(self, value: int) -> dict[int, int]:
        """Return the distances of all values within the distance, by slot."""

    @abstractmethod
    def look(self, value: int) -> tuple[dict[int, int], object]:
        """Return what ``near`` returns, and the places where *value* would enter."""

    @abstractmethod
    def slot_of(self, value: int) -> int | None:
        """Return the slot of exactly *value*, or None."""

    @abstractmethod
    def enter(self, value: int, slot: int, places: object = None) -> None:
        """Put a new value into every table."""

    @abstractmethod
    def enter_many(self, values: array[int], slots: array[int], held: int) -> None:
        """Put new values into every table, which have *held* so far. Both arrays have type ``Q``."""

    @abstractmethod
    def leave(self, value: int, slot: int) -> None:
        """Take a value out of every table."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """The memory of the tables in bytes."""

    @abstractmethod
    def _check(self, slots: list[int]) -> None:
        """Assert that the tables hold the values of *slots*, and nothing else. For tests: O(everything)."""
