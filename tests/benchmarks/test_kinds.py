"""The generated kinds of pages, and the figures of a crawl of two of them."""

from __future__ import annotations

import json

import pytest

from benchmarks.kinds import HEADLINE, INSIDE, ONE_SIDE, Crawled, figures_of, main, summary
from benchmarks.lib.kinds import FORMS, Page
from benchmarks.lib.kinds.entries import PAGES
from benchmarks.lib.kinds.pages import COPIED


def test_shares_follow_from_what_was_kept() -> None:
    pages = {url: Page(url, "", entry, form, 90) for url, entry, form in
             [("a", 0, ""), ("b", 1, ""), *((form, 1, form) for form in FORMS)]}  # fmt: skip
    first, *others = FORMS
    crawled = [Crawled("a", True, False, None), Crawled("b", False, True, "a"), Crawled("else", True, False, None),
               Crawled(first, True, True, "b"), *(Crawled(form, False, True, "b") for form in others[1:]),
               Crawled(others[0], False, True, "a")]  # fmt: skip
    found = figures_of(pages, crawled)
    assert (found["kept"], found["dropped"], found[first]) == (1 / 2, 4 / 5, 0)
    assert (found["not found"], found["protected"], found["wrong original"]) == (0, 1, 1)
    rows = [
        {**found, "group": HEADLINE},
        {**found, "group": HEADLINE, "kept": 1.0},
        {**found, "group": INSIDE},
    ]
    assert summary(rows)[HEADLINE]["kept mean"] == 3 / 4
    assert summary(rows)[HEADLINE]["kept worst"] == 1 / 2
    assert list(summary(rows)) == [HEADLINE, INSIDE]


@pytest.mark.slow("it starts a server and crawls in processes of their own")
def test_a_kind_is_crawled(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "3", "--template", "1", "--show", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["pages"] == (PAGES + COPIED * len(FORMS))
    assert [(row["kind"], row["template"], row["group"]) for row in found["sites"]] == [
        ("3 jobs, levels", 1, ONE_SIDE)
    ]  # fmt: skip
    for row in found["sites"]:
        assert {"kept", "dropped", *FORMS, "not found", "protected", "wrong original"} < row.keys()
        # The first page has no page before it.
        assert 1 / PAGES <= row["kept"] <= 1
    assert found["summary"].keys() == {ONE_SIDE}
