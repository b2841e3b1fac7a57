"""Where a fingerprint stands in a table.

The paper sorts a table by the permuted fingerprint, so that fingerprints with one key are neighbours. Only
the neighbourhood matters to a probe, not the order, and the order of real fingerprints is uneven: pages of
one site share bits. So a table is ordered by the *address* of the key, 32 bits that any change of the key
scatters::

    fingerprint   |    A    |    B    |    C    |    D    |    E    |    F    |
    & key mask    |    A    |    0    |    C    |    0    |    0    |    F    |      the table of A, C, F
    * SCATTER     |    bits 63 to 32: the address    |       thrown away       |      modulo 2**64

Equal keys have equal addresses, so no match is lost. Different keys seldom share one (a key has 32 bits or so
for six blocks and distance 3, an address never more), and that only *adds* candidates, each of which is then
checked with all 64 bits. Addresses live in memory only; they are no format.
"""

from __future__ import annotations

import sys
from array import array

#: An *entry* of a table is an address and a slot, the number of the fingerprint::
#:
#:     63-------------------32|31-------------------0
#:     |       address        |        slot         |
SLOT_BITS = 32
ADDRESS_BITS = 32
ENTRY_BITS = ADDRESS_BITS + SLOT_BITS
ADDRESS_MASK = ((1 << ADDRESS_BITS) - 1) << SLOT_BITS
#: Slots are below this. The very last number is not one, so that no entry has 64 ones.
SLOT_LIMIT = (1 << SLOT_BITS) - 1

#: 2**64 divided by the golden ratio: neighbouring keys get addresses far apart (Knuth, The Art of Computer
#: Programming, volume 3, section 6.4).
SCATTER = 0x9E37_79B9_7F4A_7C15


def address_of(value: int, key_mask: int) -> int:
    """Return the address of *value* in the table of *key_mask*, in place: bits 63 to 32.

    The index writes this line out in its loops, where calls would cost a tenth of a search.

    >>> address_of(0x1234_5678, 0xFFFF) == address_of(0x5678, 0xFFFF)
    True
    """
    return (value & key_mask) * SCATTER & ADDRESS_MASK


class Lanes:
    """Many fingerprints and their slots, to make the entries of all of them in one go.

    Two huge ints hold a number in every 64 bits, a *lane*, so that one operation of Python works on all. No
    step carries from one lane into the next. A quarter of the time of ``address_of`` for each.

    >>> lanes = Lanes(array("Q", [5, 2**63]), array("Q", [0, 1]))
    >>> [hex(entry) for entry in lanes.entries(0xFF)] == [hex(address_of(5, 0xFF)), hex(1)]
    True
    """

    __slots__ = ("_count", "_ones", "_slots", "_values")

    def __init__(self, values: array[int], slots: array[int]) -> None:
        """Take *values* and as many *slots*, both of type ``Q``."""
        self._count = len(values)
        self._ones = _joined(array("Q", [1]) * len(values))
        self._values = _joined(values)
        self._slots = _joined(slots)

    def entries(self, key_mask: int) -> array[int]:
        """Return the entries under *key_mask*, in the order given."""
        # As on paper, in digits of 32 bits, since a lane has room for the product of two:
        #
        #     (high low) * (SCATTER's high low) = ... + (high * low' + low * high') << 32 + low * low'
        half = self._ones * 0xFFFF_FFFF
        keys = self._values & self._ones * key_mask
        low, high = keys & half, keys >> 32 & half
        scatter_low, scatter_high = SCATTER & 0xFFFF_FFFF, SCATTER >> 32
        carried = low * scatter_low >> 32 & half
        addresses = (low * scatter_high & half) + (high * scatter_low & half) + carried & half
        entries = addresses << SLOT_BITS | self._slots
        return array("Q", entries.to_bytes(8 * self._count, sys.byteorder))


def _joined(numbers: array[int]) -> int:
    """Return one int that holds every number in 64 bits of its own."""
    return int.from_bytes(numbers.tobytes(), sys.byteorder)
