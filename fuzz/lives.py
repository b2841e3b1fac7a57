"""Make lives: random plans, values that share bits in many ways, and calls that come back to what is stored."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations, pairwise
from math import comb

from fuzz.life import Act, Life
from scrapy_simhash.index.plans import BITS, Key, probes_of

#: A plan is drawn with up to so many tables, and so many probes a search: more only take longer.
MOST_TABLES, MOST_PROBES = 60, 2_000
#: Values in one segment of the kernel from which on it leaves keys of 16 bits out of its entries, and some more.
CROWD = 17_000
#: What C multiplies a key by: its hash.
SCATTER = 0x9E3779B97F4A7C15
Draw = Callable[[], int]


def life(dice: random.Random, is_short_of_memory: bool = False) -> Life:
    """Return a life; with *is_short_of_memory* one in three has that trouble."""
    if dice.random() < 0.02:
        return _crowded(dice)
    distance = dice.choice((0, 1, 2, 3, 3, 3, 5, 8, 10))
    starved = dice.choice((2, 10, 50, 200)) if is_short_of_memory and dice.random() < 0.33 else 0
    acts = list(_acts(dice, distance, bool(starved)))
    row_limit = dice.choice((0, 1, 7, 40, 300, dice.randrange(2_000)))
    return Life(distance, tuple(_plan(dice, distance)), row_limit, tuple(acts), starved, dice.getrandbits(32))


def _crowded(dice: random.Random) -> Life:
    """Return a life in one corner of one table."""
    distance, shift = dice.choice((3, 4, 5)), dice.choice((48, 32, 16, 0))
    corner = _corner(dice.getrandbits(6))
    values = [dice.getrandbits(64) & ~(0xFFFF << shift) | dice.choice(corner) << shift for _ in range(CROWD)]
    acts = [Act(0, "add_many", value, key) for key, value in enumerate(values)]
    for turn in range(1, dice.randint(20, 200)):
        key = dice.randrange(CROWD)
        call = dice.choice(("find", "find", "find_or_add", "add", "discard"))
        value = values[key] if call == "discard" else values[key] ^ flips(dice, distance + 1)
        acts.append(Act(turn, call, value, key))
    radii = [0, 0, 0, 0]
    for _ in range(distance - 3):
        radii[dice.randrange(4)] += 1
    return Life(distance, tuple(zip(_blocks([16] * 4), radii, strict=True)), 0, tuple(acts))


# --- Plans.


def _plan(dice: random.Random, distance: int) -> list[Key]:
    while True:
        kind = dice.random()
        if kind < 0.6:
            blocks = dice.randint(distance + 1, distance + 5)
            if comb(blocks, distance) <= MOST_TABLES:
                masks = _blocks(_widths(dice, blocks))
                plan = [(sum(key), 0) for key in combinations(masks, blocks - distance)]
                dice.shuffle(plan)
                return plan
        elif kind < 0.65:
            return dice.choice([[], [(0, 0)]])
        else:
            blocks = dice.randint(1, 8)
            masks, radii = _blocks(_widths(dice, blocks)), [-1] * blocks
            for _ in range(distance + 1):
                radii[dice.randrange(blocks)] += 1
            plan = [(mask, radius) for mask, radius in zip(masks, radii, strict=True) if radius >= 0]
            if probes_of(plan) <= MOST_PROBES:
                return plan


def _blocks(widths: list[int]) -> list[int]:
    """Return blocks of these *widths* as masks, from the highest bit down."""
    masks, top = [], BITS
    for width in widths:
        top -= width
        masks.append((1 << width) - 1 << top)
    return masks


def _widths(dice: random.Random, blocks: int) -> list[int]:
    """Return widths of up to 64 bits in all, nearly equal, of 16 bits and more, or as they fall."""
    kind = dice.random()
    if kind < 0.4:
        return [64 // blocks + (number < 64 % blocks) for number in range(blocks)]
    if kind < 0.6 and blocks <= 4:
        return [dice.randint(0, 64 - 16 * blocks) + 16] + [16] * (blocks - 1)
    last = 64 - dice.choice((0, 0, 5))
    return [
        end - start for start, end in pairwise([0, *sorted(dice.sample(range(1, last), blocks - 1)), last])
    ]


# --- Values.


def _shapes(dice: random.Random, distance: int) -> list[Draw]:
    """Return some ways to draw a fingerprint."""
    common, low = dice.getrandbits(64), dice.choice((32, 48, 56))
    centres = [dice.getrandbits(64) for _ in range(dice.choice((1, 5, 100)))]
    corner, shift = _corner(dice.getrandbits(6)), dice.choice((48, 32, 16, 0))
    ways: list[Draw] = [
        lambda: dice.getrandbits(64),
        lambda: dice.choice(centres) ^ flips(dice, distance + 2),
        lambda: dice.getrandbits(64) | common,
        lambda: dice.getrandbits(64) & common,
        # All in one bucket of every table whose key is above, or of every one below.
        lambda: common >> low << low | dice.getrandbits(low),
        lambda: (common & (1 << 64 - low) - 1) | dice.getrandbits(low) << 64 - low,
        # All in one segment of the table of a block of 16 bits.
        lambda: dice.getrandbits(64) & ~(0xFFFF << shift) | dice.choice(corner) << shift,
        lambda: dice.randrange(1 << 11),
    ]
    return dice.sample(ways, dice.randint(1, 3))


@cache
def _corner(segment: int) -> list[int]:
    """Return the keys of 16 bits that the kernel puts into this segment of their table, of 64."""
    return [key for key in range(1 << 16) if key * SCATTER >> 10 & 63 == segment]


def flips(dice: random.Random, most: int) -> int:
    """Return up to *most* bits."""
    return sum(1 << bit for bit in dice.sample(range(64), dice.randint(0, most)))


# --- Acts.

WRONG_VALUES = (-1, 2**64, 2**70, True, None, 1.0, "1")
WRONG_KEYS = (-1, 2**63, 2**64 - 1, 2**64, True, None, 1.0)


def _acts(dice: random.Random, distance: int, is_starved: bool) -> Iterator[Act]:
    shapes = _shapes(dice, distance)
    stored: list[tuple[int, int]] = [(dice.choice(shapes)(), 0)]
    turn, most_keys = 0, dice.choice((3, 1000, 2**63))
    discards = dice.choice((0.0, 0.1, 0.3, 0.5))

    def value() -> int:
        kind = dice.random()
        if kind < 0.6:
            return dice.choice(shapes)()
        return dice.choice(stored)[0] ^ flips(
            dice, dice.choice((0, 1, distance, distance + 1)) if kind < 0.9 else 0
        )

    def key() -> int:
        return 2**63 - 1 - dice.randrange(3) if dice.random() < 0.0005 else dice.randrange(most_keys >> 1)

    # Most lives are short, since a scan lives them too.
    kinds = [(10, (1, 5)), (40, (1, 5, 20))]
    if distance < 5:
        kinds = kinds * 8 + [(80, (10, 100)), (15, (1, 1_000))]
    calls, counts = dice.choice(kinds)
    for _ in range(dice.randint(1, calls)):
        turn += 1
        kind = dice.random()
        if kind < discards:
            # What was stored first is moved first to the tables; runs of it empty a corner.
            start = dice.randrange(len(stored))
            for number, posting in enumerate(stored[start : start + dice.choice((1, 5, 50))]):
                yield Act(turn + number, "discard", *posting)
            turn += 100
        elif kind > 0.97:
            yield Act(turn, dice.choice(("iterate", "pairs")))
        elif kind > 0.96:
            call = dice.choice(("add", "find", "find_or_add", "discard", "in", "add_many"))
            yield Act(turn, call, dice.choice((*WRONG_VALUES, 5)), dice.choice((*WRONG_KEYS, 5)))
        elif kind > 0.6:
            call = dice.choice(("add_many", "add_many", "find_many", "nearest"))
            is_numbered = dice.random() < 0.4 and not is_starved
            for _ in range(dice.choice(counts)):
                act = Act(
                    turn, call, value(), None if is_numbered or call in ("find_many", "nearest") else key()
                )
                yield act
                if act.key is not None:
                    stored.append((act.value, act.key))
        else:
            act = Act(turn, dice.choice(("add", "add", "find", "find_or_add", "in")), value(), key())
            yield act
            stored.append((act.value, act.key))
