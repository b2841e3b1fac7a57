"""What a plan costs in time and memory, foreseen, and which plan is the best for how many fingerprints.

A ``find_or_add`` takes so long whatever the plan, so long for each table, and so long for each fingerprint that it
compares. Few tables have short keys, and many candidates; many tables have few, and take memory::

    microseconds
      |               / 4x16
      |              /         _/ 6x21      few tables are the fastest while there are few fingerprints, and more of
      |   __________/     ___/              them, with longer keys, when there are many
      |  _________________/
      |_____________________________
                        fingerprints

Both limits are felt differently. A crawl waits milliseconds for a page, and half a microsecond more for its verdict
is nothing; but what a page takes of memory it takes until the crawl ends. So the best plan is the fastest **within a
number of bytes a fingerprint**, 40 unless you say otherwise: room for four tables in the compiled kernel, and for no
other plan at a distance of 3. Wider distances need more tables, and have room for a quarter more than the leanest
plan takes. A small index needs more for each, since its entries are larger: up to 64 megabytes in all that is let
pass, if the plan keeps to its bytes when it has grown.

The model is of random fingerprints. Real ones share bits and have more candidates: ``skew`` measures a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import ceil, log
from typing import NamedTuple, SupportsIndex

from scrapy_simhash import kernel
from scrapy_simhash.index._arguments import checked_distance, checked_expected
from scrapy_simhash.index.plans.blocks import BITS, key_mask
from scrapy_simhash.index.plans.covers import plans_for
from scrapy_simhash.index.plans.growth import CELLS_FROM, FOREVER, NATIVE_ROW, PURE_ROW, as_probing
from scrapy_simhash.index.plans.plan import Plan

#: Bytes a fingerprint, with its key, that a plan may take unless somebody says otherwise: so many, or so many times
#: what the leanest takes, whichever is more.
MAX_BYTES = 40.0
LEEWAY = 1.25
#: Bytes of a whole index that nobody feels.
UNFELT = 64e6
#: A growing index goes on to another plan only if that is so many times as fast: filling its tables costs something.
WORTH_IT = 1.5
#: A schedule is worked out for sizes up to this, in steps of a quarter of a doubling.
GREATEST = 2.0**40
STEP = 2**0.25


@dataclass(frozen=True, slots=True)
class Core:
    """What one implementation of the index takes: microseconds, and bytes.

    Some tables are *compact* once the index is large: they have smaller entries, or none that must be looked up.
    """

    name: str
    #: Which tables of a plan are compact, with so many fingerprints.
    compact: Callable[[Plan, int], tuple[bool, ...]]
    #: Up to how many fingerprints it is a plain scan: so many a table, but at least and at most so many.
    row: tuple[int, int, int]
    #: Microseconds a fingerprint, and bytes, as long as it is a scan.
    scanned: float
    row_bytes: float
    #: Microseconds of every call, whatever the plan.
    call: float
    #: (bytes of the whole index, microseconds a table), since more memory is slower; by the logarithm in between.
    table: tuple[tuple[float, float], ...]
    #: A compact table takes so many times that.
    compact_table: float
    #: Microseconds a candidate, in whole and in compact tables. (What else lies in the bucket of a longer key is
    #: compared too, but that is the same for every table.)
    candidate: float
    compact_candidate: float
    #: Bytes of what stands beside each fingerprint once, of an entry, and of a bucket.
    once_bytes: float
    entry_bytes: float
    compact_entry_bytes: float
    bucket_bytes: float
    compact_bucket_bytes: float
    #: The entries of a bucket, as long as the key has bits for more buckets.
    bucket: float


#: A key of neighbouring bits, so many of them, makes compact entries in the kernel where each has a bucket ...
COMPACT_BITS = range(16, 23)
#: ... which is so from this many fingerprints a key on: buckets are cut in two when they are twice as long.
COMPACT_FROM = 6


def _compact_in_kernel(plan: Plan, n: int) -> tuple[bool, ...]:
    return tuple(
        is_neighbouring and width in COMPACT_BITS and n >= COMPACT_FROM << width
        for width, is_neighbouring in _tables(plan)
    )


def _compact_in_python(plan: Plan, n: int) -> tuple[bool, ...]:
    is_compact = n >= CELLS_FROM and as_probing(plan) is not None
    return (is_compact,) * len(plan.keys)


#: Measured by ``benchmarks/plans.py`` (AMD EPYC at 2.6 GHz with AVX-512, huge pages, Python 3.11, batches of random
#: fingerprints) with 100,000 and a million in 4 to 20 tables, which it then foresees within a tenth; what is above
#: 200 MB follows 10 million. Bytes are those that ``kernel/hamming/table.h`` explains, with tables 92 hundredths
#: full.
NATIVE = Core(
    name="native",
    compact=_compact_in_kernel,
    row=NATIVE_ROW,
    scanned=0.00025,
    row_bytes=18,
    call=0.0,
    table=(
        (1e6, 0.05),
        (5e6, 0.055),
        (1e7, 0.067),
        (2e7, 0.088),
        (6.5e7, 0.113),
        (1e8, 0.127),
        (2e8, 0.13),
        (1e9, 0.19),
    ),
    compact_table=0.95,
    candidate=0.0005,
    compact_candidate=0.0004,
    once_bytes=8 / 0.92,
    entry_bytes=8 / 0.92,
    compact_entry_bytes=6 / 0.92,
    bucket_bytes=8,
    compact_bucket_bytes=8,
    bucket=8.5,
)
#: The same for pure Python, with 3,000 to a million. Cells hold fingerprints, whose slots are found in a table more:
#: a quarter of that is in the entry.
PURE = Core(
    name="pure",
    compact=_compact_in_python,
    row=PURE_ROW,
    scanned=0.1,
    row_bytes=18,
    call=1.5,
    table=((1e6, 0.52), (6e6, 0.65), (2e7, 1.1), (7e7, 1.55), (2e8, 1.67)),
    compact_table=1.0,
    candidate=0.2,
    compact_candidate=0.06,
    once_bytes=16.5,
    entry_bytes=9.2,
    compact_entry_bytes=10.25,
    bucket_bytes=0,
    compact_bucket_bytes=40,
    bucket=1,
)
CORES = {core.name: core for core in (NATIVE, PURE)}


class Cost(NamedTuple):
    """What a plan takes, foreseen."""

    #: The fingerprints compared because they agree in a key, one that several tables return counted each time.
    candidates: float
    #: Bytes a fingerprint, with its key.
    bytes: float
    #: Microseconds of a ``find_or_add`` in a batch that finds nothing.
    microseconds: float


def cost(plan: Plan, expected: SupportsIndex, core: Core | None = None, bits: Sequence[float] = ()) -> Cost:
    """Return what *plan* takes with *expected* fingerprints.

    For *core*, by default the one that runs. The keys are as selective as those of random fingerprints, unless
    *bits* has the effective bits of each (see ``skew``).

    >>> cost(Plan.classic(max_distance=3, blocks=4), expected=2**20, core=PURE).candidates
    64.0
    """
    n, core = max(1, checked_expected(expected)), core or running()
    return _cost(plan, n, core, tuple(bits))


def running() -> Core:
    """Return the core of the indexes that are made now."""
    return PURE if kernel.hamming is None else NATIVE


def choose(
    max_distance: SupportsIndex,
    expected: SupportsIndex,
    max_bytes: float | None = None,
    core: Core | None = None,
) -> Plan:
    """Return the fastest plan for *expected* fingerprints within *max_bytes* each; if there is none yet, the leanest.

    By default that is 40, or a quarter more than the leanest plan takes. Raises ValueError if *max_bytes* is given
    and less than any plan for *max_distance* takes at any size.

    >>> choose(max_distance=3, expected=10_000_000, core=NATIVE).name
    '4x16'
    >>> choose(max_distance=3, expected=100_000_000, max_bytes=70, core=NATIVE).name
    '6x21'
    """
    k, core = checked_distance(max_distance), core or running()
    # Fewer are scanned whatever the plan, which is for what may come.
    n = max(checked_expected(expected), core.row[2])
    return _fastest(_allowed(k, n, _bound(k, max_bytes, core), core), n, core)


def schedule(
    max_distance: SupportsIndex, max_bytes: float | None = None, core: Core | None = None
) -> list[tuple[int, Plan]]:
    """Return the plans of an index that grows, in turn, each with the number of fingerprints up to which it serves.

    As ``choose`` does, except that a plan stays until another is 1.5 times as fast. The last number is
    ``growth.FOREVER``. Raises ValueError as ``choose`` does.

    >>> [(upto, plan.name) for upto, plan in schedule(max_distance=3, core=NATIVE)] == [(FOREVER, "4x16")]
    True
    """
    k, core = checked_distance(max_distance), core or running()
    return list(_schedule(k, _bound(k, max_bytes, core), core))


@cache
def _schedule(max_distance: int, bound: float, core: Core) -> tuple[tuple[int, Plan], ...]:
    stages: list[tuple[int, Plan]] = []
    serving: Plan | None = None
    for n in _sizes(core):
        allowed = _allowed(max_distance, n, bound, core)
        fastest = _fastest(allowed, n, core)
        if serving is None:
            serving = fastest
        elif serving not in allowed or _time(serving, n, core) > WORTH_IT * _time(fastest, n, core):
            stages.append((n, serving))
            serving = fastest
    assert serving is not None
    return (*stages, (FOREVER, serving))


def _sizes(core: Core) -> Iterator[int]:
    """Yield the sizes at which a growing index thinks of another plan, from where it surely is no plain scan."""
    size = float(core.row[2])
    while size < GREATEST:
        yield int(size)
        size *= STEP


def _bound(max_distance: int, max_bytes: float | None, core: Core) -> float:
    leanest = min(_grown(plan, core) for plan in plans_for(max_distance).values())
    if max_bytes is None:
        return max(MAX_BYTES, LEEWAY * leanest)
    if max_bytes < leanest:
        raise ValueError(
            f"max_bytes must be at least {ceil(leanest)} for a distance of {max_distance}, which is what the leanest "
            f"plan takes a fingerprint, got {max_bytes}"
        )
    return max_bytes


def _allowed(max_distance: int, n: int, bound: float, core: Core) -> list[Plan]:
    """Return the plans that keep to the bound with *n* fingerprints, or are not felt; or else the leanest one."""
    allowed = []
    plans = {plan: _cost(plan, n, core).bytes for plan in plans_for(max_distance).values()}
    for plan, size in plans.items():
        if size <= bound or (n * size <= UNFELT and _grown(plan, core) <= bound):
            allowed.append(plan)
    return allowed or [min(plans, key=plans.__getitem__)]


def _grown(plan: Plan, core: Core) -> float:
    """Return the bytes a fingerprint of as great an index as there can be."""
    return _cost(plan, int(GREATEST), core).bytes


def _fastest(plans: list[Plan], n: int, core: Core) -> Plan:
    """Return the fastest; of several the leanest."""
    return min(plans, key=lambda plan: _cost(plan, n, core)[:0:-1])


def _time(plan: Plan, n: int, core: Core) -> float:
    return _cost(plan, n, core).microseconds


def _cost(plan: Plan, n: int, core: Core, bits: tuple[float, ...] = ()) -> Cost:
    widths = plan.key_bits
    effective = bits or widths
    candidates = sum(n * 2.0**-selective for selective in effective)
    each, least, most = core.row
    if n < min(max(each * len(widths), least), most):
        return Cost(candidates, core.row_bytes, core.call + core.scanned * n)
    microseconds, size, tables = core.call, core.once_bytes, 0.0
    for width, selective, is_compact in zip(widths, effective, core.compact(plan, n), strict=True):
        buckets = min(2.0**width, n / core.bucket)
        microseconds += n * 2.0**-selective * (core.compact_candidate if is_compact else core.candidate)
        size += core.compact_entry_bytes if is_compact else core.entry_bytes
        size += buckets / n * (core.compact_bucket_bytes if is_compact else core.bucket_bytes)
        tables += core.compact_table if is_compact else 1.0
    return Cost(candidates, size, microseconds + tables * between(core.table, n * size))


@cache
def _tables(plan: Plan) -> tuple[tuple[int, bool], ...]:
    """Return of each table how many bits its key has, and whether they are neighbours, the ends being neighbours."""
    masks = [key_mask(plan.blocks, key) for key in plan.keys]
    return tuple((mask.bit_count(), _runs(mask) == 1) for mask in masks)


def _runs(mask: int) -> int:
    """Return how many runs of ones *mask* has, all round.

    >>> _runs(0xFF00FF), _runs(1 << 63 | 1), _runs(2**64 - 1)
    (2, 1, 0)
    """
    return (mask & ~(mask << 1 | mask >> BITS - 1)).bit_count()


def tables_bytes(widths: Sequence[int], n: int, core: Core) -> float:
    """Return the bytes a fingerprint takes in tables whose keys are one block each, *widths* of them, of *core*."""
    size = core.once_bytes
    for width in widths:
        is_compact = width in COMPACT_BITS and n >= COMPACT_FROM << width
        size += core.compact_entry_bytes if is_compact else core.entry_bytes
        size += (
            min(2.0**width, n / core.bucket)
            / n
            * (core.compact_bucket_bytes if is_compact else core.bucket_bytes)
        )
    return size


def between(points: tuple[tuple[float, float], ...], at: float) -> float:
    """Return the second number of *points* for a first one that lies between two of them, or beyond the ends.

    >>> between(((10, 1.0), (1000, 3.0)), 100), between(((10, 1.0), (1000, 3.0)), 1)
    (2.0, 1.0)
    """
    for (less, low), (more, high) in pairwise(points):
        if at < more:
            return low + max(0.0, log(at / less) / log(more / less)) * (high - low)
    return points[-1][1]
