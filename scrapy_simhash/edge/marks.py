"""Marks: the verdict in the meta of a request, as plain values, which a disk queue can pickle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_simhash import names
from scrapy_simhash.edge.times import written
from scrapy_simhash.policy import Decision
from scrapy_simhash.verdict import Status, Verdict

if TYPE_CHECKING:
    from scrapy import Request


def write_marks(verdict: Verdict, decision: Decision, request: Request, preferred: str | None = None) -> None:
    """Put *verdict* and *decision* into the meta of *request*; what is None is left out.

    *preferred* is the URL of the cluster that is to be preferred, as far as is known.
    """
    values: dict[str, Any] = {
        names.META_STATUS: verdict.status.value,
        names.META_REASON: verdict.reason and verdict.reason.value,
        names.META_VALUE: verdict.fingerprint and verdict.fingerprint.value,
        names.META_DUPLICATE_OF: verdict.duplicate_of,
        names.META_DISTANCE: verdict.distance,
        names.META_SIMILARITY: verdict.similarity and round(verdict.similarity, 3),
        names.META_CLUSTER: verdict.cluster,
        names.META_LAST_SEEN: None if verdict.last_seen is None else written(verdict.last_seen),
        names.META_SETTLED: verdict.is_settled if verdict.status is Status.REVISIT else None,
        names.META_EXACT: verdict.is_exact if verdict.is_duplicate else None,
        names.META_RANK: verdict.rank,
        names.META_HINTS: list(verdict.hints) or None,
        names.META_ELSEWHERE: verdict.elsewhere,
        names.META_PREFERRED: preferred,
        names.META_DONE: None if decision.action is None else str(decision.action),
        names.META_SPARED: decision.spared and decision.spared.value,
    }
    request.meta.update({name: value for name, value in values.items() if value is not None})


def erase_marks(request: Request) -> None:
    """Take out the marks that *request* came with: its parent's, or those of an earlier visit."""
    for name in names.META_OUT:
        request.meta.pop(name, None)
