"""Marks: the verdict in the meta of a request, which a disk queue can pickle, and which page led to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_simhash import names
from scrapy_simhash.crawling import asks_again
from scrapy_simhash.judge.policy import Decision
from scrapy_simhash.verdict import Status, Verdict

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


def write_marks(verdict: Verdict, decision: Decision, request: Request, preferred: str | None = None) -> None:
    """Put *verdict* and *decision* into the meta of *request*; what is None is left out.

    *preferred* is the URL of the cluster that is to be preferred, as far as is known.
    """
    meta = request.meta
    meta[names.META_STATUS] = _STATUS[verdict.status]
    if verdict.cluster is not None:
        meta[names.META_CLUSTER] = verdict.cluster
    if verdict.fingerprint is not None:
        meta[names.META_VALUE] = verdict.fingerprint.value
    if verdict.rank is not None:
        meta[names.META_RANK] = verdict.rank
    # Most pages are new and have no more to say.
    if verdict.status is not Status.NEW or verdict.hints or verdict.elsewhere or preferred:
        meta.update({name: value for name, value in _more(verdict, preferred).items() if value is not None})
    if verdict.is_by_learning:
        meta[names.META_BY_LEARNING] = True
    if decision.action is not None:
        meta[names.META_DONE] = str(decision.action)
    if decision.exemption is not None:
        meta[names.META_EXEMPTION] = decision.exemption.value


#: To ask an enumeration for a value takes two calls of Python functions.
_STATUS = {status: status.value for status in Status}


def _more(verdict: Verdict, preferred: str | None) -> dict[str, Any]:
    """Return what only a page has that is not new, or that has hints, a copy elsewhere or a preferred URL."""
    row = verdict.to_dict()
    marks = {name: row[name.removeprefix(_PREFIX)] for name in _MORE}
    return marks | {names.META_HINTS: list(verdict.hints) or None, names.META_PREFERRED: preferred}


#: Marks that are values of `Verdict.to_dict()`, by its names.
_PREFIX = f"{names.META_ENABLED}_"
_MORE = (
    names.META_REASON,
    names.META_DUPLICATE_OF,
    names.META_DISTANCE,
    names.META_SIMILARITY,
    names.META_LAST_SEEN,
    names.META_SETTLED,
    names.META_EXACT,
    names.META_ELSEWHERE,
)


def erase_marks(request: Request) -> None:
    """Take out the marks that *request* came with: its parent's, or those of an earlier visit."""
    meta = request.meta
    if not names.META_OUT.isdisjoint(meta):
        for name in names.META_OUT:
            meta.pop(name, None)


def note_parent(request: Request, response: Response) -> None:
    """Write into the meta of *request* which page led to it: that of *response*, whose callback yielded it.

    The meta goes with it through queues, redirects and retries; a ``Referer`` may be cut to the host, or missing.
    """
    asked = response.request
    if asked is None:
        return
    # What asks for the same page again was led to by what led to that page.
    parent = asked.meta.get(names.META_PARENT) if asks_again(request, response) else asked.url
    if parent is None:
        request.meta.pop(names.META_PARENT, None)
    else:
        request.meta[names.META_PARENT] = parent
