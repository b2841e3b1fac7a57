"""Marks: a verdict as the fields that a writer puts into a record, called as in the meta of a request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from scrapy_simhash import names
from scrapy_simhash.verdict import Verdict

#: Plain values, which every kind of file can hold. Each record has the same names.
Marks: TypeAlias = "dict[str, str | int | float | bool | None]"


#: Their names, and the types of their values where there are any.
MARKS: Mapping[str, type] = {
    names.FIELD_KEPT: bool,
    names.META_STATUS: str,
    names.META_REASON: str,
    names.META_DUPLICATE_OF: str,
    names.META_DISTANCE: int,
    names.META_SIMILARITY: float,
    names.META_CLUSTER: int,
    names.META_EXEMPTION: str,
}


def marks_of(verdict: Verdict, is_kept: bool, exemption: str | None) -> Marks:
    """Return the fields of a record with this verdict.

    >>> from scrapy_simhash import Status
    >>> marks = marks_of(Verdict(Status.NEW, cluster=4), True, None)
    >>> marks["simhash_kept"], marks["simhash_status"], marks["simhash_cluster"], marks["simhash_duplicate_of"]
    (True, 'new', 4, None)
    """
    values = (
        is_kept,
        verdict.status.value,
        verdict.reason and verdict.reason.value,
        verdict.duplicate_of,
        verdict.distance,
        None if verdict.similarity is None else round(verdict.similarity, 3),
        verdict.cluster,
        exemption,
    )
    return dict(zip(MARKS, values, strict=True))
