from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from scrapy_simhash import Reason, Status, Verdict


@pytest.mark.parametrize(
    ("verdict", "is_duplicate"),
    [
        (Verdict(Status.NEW), False),
        (Verdict(Status.NEAR_DUPLICATE, duplicate_of="https://example.com/"), True),
        (Verdict(Status.REVISIT, reason=Reason.UNCHANGED), False),
        (Verdict(Status.REVISIT, duplicate_of="https://example.com/", reason=Reason.CHANGED), True),
        (Verdict(Status.SKIPPED, reason=Reason.SHORT_TEXT), False),
        (Verdict(Status.UNKNOWN), False),
        (Verdict(Status.NEAR_DUPLICATE, duplicate_of=""), True),  # a page without an address is one
    ],
)
def test_a_page_is_a_duplicate_when_it_repeats_another(verdict: Verdict, is_duplicate: bool) -> None:
    assert verdict.is_duplicate is is_duplicate


def test_statuses_and_reasons_are_their_words() -> None:
    for member in (*Status, *Reason):
        assert member.value == member.name.lower()
        assert isinstance(member, str)


def test_a_verdict_does_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        Verdict(Status.NEW).status = Status.UNKNOWN  # type: ignore[misc]
