"""A batch has the verdicts of a detector, with any number of processes, and keeps the documented pages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_simhash import Config, NearDuplicateDetector, Status, Verdict
from scrapy_simhash.files.batch import Options, RecordsChanged, Run, Step
from scrapy_simhash.files.batch.page import Selection, report_line
from scrapy_simhash.files.records import Broken, Record
from tests.files.batch.pages import html_of, records_of

Item = Record | Broken


def run_of(records: Sequence[Item], **options: Any) -> tuple[Run, list[Step]]:
    run = Run(lambda: iter(records), Options(**options))
    return run, list(run.steps())


def facts_of(steps: Sequence[Step]) -> list[Any]:
    """Return all results that two runs must agree on, down to the bits of the kept pages."""
    return [
        (
            step.item,
            step.verdict,
            step.verdict and step.verdict.fingerprint and step.verdict.fingerprint.compared_bytes(),
            step.selection,
            step.protected,
            step.fault,
        )
        for step in steps
    ]


def checked(records: Sequence[Item], config: Config) -> list[Verdict]:
    """Return a detector's verdicts on the same pages, in order."""
    now = 0
    detector = NearDuplicateDetector(config, clock=lambda: now)
    verdicts = []
    for record in records:
        assert isinstance(record, Record)
        now = record.seen or 0
        verdicts.append(detector.check(record.page, record.url))
    return verdicts


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    hosts=st.integers(1, 4),
    config=st.sampled_from(
        [
            Config(),
            Config(scope="host"),
            Config(site_learning=False),
            Config(rule="classic"),
            Config(maxsize=1_000),
        ]
    ),
)
def test_the_verdicts_equal_those_of_a_detector(seed: int, hosts: int, config: Config) -> None:
    records = records_of(40, seed, hosts=hosts)
    expected = checked(records, config)
    _, steps = run_of(records, config=config)
    assert [step.verdict for step in steps] == expected
    for verdict, step in zip(expected, steps, strict=True):
        assert step.verdict is not None
        ours, theirs = step.verdict.fingerprint, verdict.fingerprint
        assert (ours and ours.compared_bytes()) == (theirs and theirs.compared_bytes())


@pytest.mark.parametrize("keep", ["first", "longest", "preferred"])
def test_one_record_of_each_text_is_kept(keep: str) -> None:
    _, steps = run_of(records_of(400, 11, broken=0.02), keep=keep)
    texts = Counter(step.text for step in steps if step.text is not None)
    kept = Counter(step.text for step in steps if step.text is not None and step.selection is Selection.KEPT)
    assert kept == dict.fromkeys(texts, 1)
    assert max(texts.values()) > 1


def test_a_report_has_a_line_for_each_page_with_the_keys_of_a_crawl() -> None:
    _, steps = run_of([record("a", STORY), record("a", STORY), record("b", STORY), record("c", OTHER)])
    lines = [report_line(step) for step in steps]
    assert [(line["status"], line["action"], line["dropped_as"]) for line in lines] == [
        ("new", None, None),
        ("revisit", "drop_items", "unchanged"),
        ("near_duplicate", "drop_items", "near_duplicate"),
        ("new", None, None),
    ]
    assert json.loads(json.dumps(lines)) == lines


STORY = [
    f"The {number} ferry of the town came in with the tide, and the people of it went up the hill to the fair."
    for number in ("first", "second", "third", "fourth", "fifth", "sixth")
]
FRAME = ["Tide tables of May.", "Printed on paper.", "Boats for sale."]
OTHER = [
    f"Nobody knows the {what} as the pilot does, who has brought a thousand ships past them in the dark of the night."
    for what in ("sandbanks", "currents", "lights", "rocks", "winds", "fogs")
]


MORE = "The band of the fire brigade played on the quay."


def record(path: str, story: Sequence[str]) -> Record:
    return Record(f"https://example.com/{path}", html_of(list(story), FRAME), path)


def fates(records: Sequence[Item], **options: Any) -> list[str]:
    return [step.selection.value for step in run_of(records, **options)[1]]


STORIES = {"story": STORY, "longer story": [*STORY[:3], MORE, *STORY[3:]], "other": OTHER}
STORIES["longer other"] = [*OTHER[:3], MORE, *OTHER[3:]]


@pytest.mark.parametrize(
    ("pages", "options", "expected"),
    [
        # A page that is now a near-duplicate of another one is dropped.
        ([("a", "story"), ("b", "other"), ("b", "story")], {}, ["kept", "kept", "copy"]),
        # The longest page of each text takes the place of the first; of equally long pages the first is kept.
        (
            [("a", "story"), ("b", "longer story"), ("c", "story"), ("d", "other")],
            {"keep": "longest"},
            ["copy", "kept", "copy", "kept"],
        ),
        # If the text of a page has changed, only its new text has copies.
        (
            [("a", "story"), ("a", "other"), ("b", "longer other"), ("c", "story")],
            {"keep": "longest"},
            ["kept", "copy", "kept", "kept"],
        ),
    ],
)
def test_the_selected_page_is_kept(
    pages: list[tuple[str, str]], options: dict[str, Any], expected: list[str]
) -> None:
    assert fates([record(path, STORIES[story]) for path, story in pages], **options) == expected


def test_the_preferred_page_is_kept_by_canonical_urls() -> None:
    def naming(path: str, canonical: str) -> Record:
        page = record(path, STORY)
        link = f'<link rel="canonical" href="https://example.com/{canonical}"></head>'
        assert isinstance(page.page, str)
        return Record(page.url, page.page.replace("</head>", link), path)

    records = [
        naming("print/a", "story"),
        naming("print/b", "story"),
        naming("story", "story"),
        record("o", OTHER),
    ]
    assert fates(records, keep="preferred") == ["copy", "copy", "kept", "kept"]
    run, _ = run_of(records, with_clusters=True)
    (cluster,) = run.clusters()
    assert cluster.preferred == "https://example.com/story"
    assert [url.rpartition("com/")[2] for url in cluster.members] == ["print/a", "print/b", "story"]


def test_a_protected_copy_is_kept_only_if_requested() -> None:
    def page(number: int) -> Record:
        html = html_of(STORY, FRAME).replace(
            "</main>", f'<a rel="next" href="/list?page={number + 1}">more</a></main>'
        )
        return Record(f"https://example.com/list?page={number}", html, str(number))

    records = [page(1), page(2)]
    assert fates(records) == ["kept", "copy"]
    run, steps = run_of(records, protect=True)
    assert [(step.selection.value, step.protected) for step in steps] == [
        ("kept", ""),
        ("kept", "pagination"),
    ]
    assert (run.counts.protected, run.counts.near_duplicates) == (1, 0)


def test_a_page_that_cannot_be_read_is_kept_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    from scrapy_simhash.fingerprinter import PageFingerprinter

    read = PageFingerprinter.read

    def failing(self: PageFingerprinter, html: Any, **arguments: Any) -> Any:
        if arguments.get("url", "").endswith("/b"):
            raise RuntimeError("a fault of ours")
        return read(self, html, **arguments)

    monkeypatch.setattr(PageFingerprinter, "read", failing)
    run, steps = run_of([record("a", STORY), record("b", STORY), record("c", STORY)])
    assert [step.selection.value for step in steps] == ["kept", "kept", "copy"]
    assert steps[1].fault == "RuntimeError: a fault of ours"
    assert steps[1].verdict == Verdict(Status.UNKNOWN)
    assert run.counts.failed == 1


def test_hostile_pages_and_urls_are_accepted() -> None:
    pages: list[Item] = [
        Record("https://example.com/\ud800", "<p>\ud800" + " the sea" * 50, "1"),
        Record("http://[broken", b"\xff\xfe<\x00p\x00>\x00", "2", content_type="text/html; charset=nonsense"),
        Record("", b"\x00" * 1_000, "3"),
        Record("x:", "<div>" * 5_000, "4"),
        Record("https://example.com/\ud800", "<p>\ud800" + " the sea" * 50, "5", is_text=True),
    ]
    _, one = run_of(pages, with_clusters=True, protect=True)
    _, two = run_of(pages, with_clusters=True, protect=True, processes=2)
    assert facts_of(one) == facts_of(two)
    assert [step.fault for step in one] == [""] * 5


def test_records_that_differ_in_the_second_pass_are_refused() -> None:
    records: list[Item] = [record("a", STORY), record("b", OTHER)]
    for others in ([Broken("0", "not JSON"), *records], [*records, record("c", STORY)]):
        times = iter([records, others])
        run = Run(lambda times=times: iter(next(times)), Options(keep="longest"))  # type: ignore[misc]
        with pytest.raises(RecordsChanged, match="is not the same record as in the first pass"):
            list(run.steps())
