"""A page of twice the size takes at most three times the processor time, with both kernels."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scrapy_simhash import kernel
from tests.attacks import (
    ATTACKS,
    MAX_GROWTH,
    SIZES,
    TOGETHER,
    Case,
    entries,
    growth,
    kernel_of,
    seconds,
)

KERNELS = [
    "pure",
    pytest.param(
        "native", marks=pytest.mark.skipif(kernel.native is None, reason=f"pure Python runs: {kernel.REASON}")
    ),
]
#: A time above the limit is measured again.
TRIES = 3


def fault(name: str, way: Callable[[Case], object], cases: list[Case]) -> str | None:
    """Return the times of an entry point if they grow too fast, else None."""
    times: list[float] = []
    for tries in range(1, TRIES + 1):
        times = [seconds(way, case, tries) for case in cases]
        if growth(times) <= MAX_GROWTH:
            return None
    return f"{name}: " + ", ".join(f"{time * 1000:.0f} ms" for time in times)


def faults(name: str, scale: float, ways: dict[str, Callable[[Case], object]]) -> list[str]:
    """Return the entry points whose time grows too fast with the size of an attack."""
    attack = ATTACKS[name]
    cases = [Case(attack.make(max(1, int(attack.units * scale * size)))) for size in SIZES]
    for case in cases:
        case.copy  # noqa: B018  # parses
    return [said for entry, way in ways.items() if (said := fault(entry, way, cases)) is not None]


@pytest.mark.parametrize(
    "kernel_name", [pytest.param("pure", marks=pytest.mark.slow("pure Python")), KERNELS[1]]
)
@pytest.mark.parametrize("name", ATTACKS)
def test_time_grows_at_most_linearly_with_the_size_of_an_attack(name: str, kernel_name: str) -> None:
    with kernel_of(kernel_name):
        assert not faults(name, 0.25, {way: does for way, does in entries() if way not in TOGETHER})


@pytest.mark.slow("it takes quadratic time")
def test_quadratic_time_is_detected() -> None:
    def quadratic(case: Case) -> object:
        return sum(1 for _ in range((len(case.visit.body) // 250) ** 2))

    assert faults("long word", 2.0, {"all": quadratic})


@pytest.mark.parametrize("kernel_name", KERNELS)
def test_every_entry_point_accepts_every_hostile_page(kernel_name: str) -> None:
    with kernel_of(kernel_name):
        ways = dict(entries())
        for attack in ATTACKS.values():
            case = Case(attack.make(3))
            for way in ways.values():
                way(case)
