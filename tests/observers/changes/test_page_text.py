"""The main text at hand, and what differs between two texts by their paragraphs."""

import pickle

import pytest

from scrapy_simhash.observers.changes import PageText
from scrapy_simhash.observers.changes.page_text import difference, hashes
from scrapy_simhash.page.reading import packed
from scrapy_simhash.page.text import extract, parse


def text_of(*paragraphs: str) -> PageText:
    html = "<title>A page</title><nav>Home</nav><main>" + "".join(f"<p>{text}</p>" for text in paragraphs)
    return PageText(lambda: extract(parse(html)))


def test_nothing_is_read_before_it_is_asked_for() -> None:
    def fail() -> None:
        raise AssertionError("read")

    text = PageText(fail)  # type: ignore[arg-type]  # it is not called
    with pytest.raises(AssertionError, match="read"):
        _ = text.title


def test_paragraphs_stand_in_the_text_where_they_say() -> None:
    text = text_of("The first one.", "  The\n second  one. ", "第三段。")
    assert (text.title, text.text) == ("A page", "The first one.\nThe second one.\n第三段。")
    assert [text.text[part.start : part.end] for part in text.paragraphs] == [
        "The first one.",
        "The second one.",
        "第三段。",
    ]
    assert [part.words for part in text.paragraphs] == [3, 3, 2]


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("The ferry came in.", "The  ferry\ncame in.", True),
        ("The ferry came in.", "the FERRY -- came in", False),
        ("It costs -5.", "It costs 5.", False),
        ("The ferry came in.", "The ferry came out.", False),
        ("The ferry came in.", "Came the ferry in.", False),
        ("* * *", "* * *", True),
        ("* * *", "- - -", False),
    ],
)
def test_a_hash_is_that_of_the_text(one: str, other: str, is_same: bool) -> None:
    (first,), (second,) = text_of(one).paragraphs, text_of(other).paragraphs
    assert (first.hash == second.hash) is is_same


def test_hashes_stay_the_same_for_ever() -> None:
    assert [part.hash for part in text_of("The sea is", "* * *").paragraphs] == [
        "bac78f11249ba882",
        "6a0ae74d63069264",
    ]


def test_a_text_that_waits_in_a_queue_is_kept() -> None:
    text = text_of("One.", "Two.")
    text.known = hashes(packed(text_of("One.").document))
    kept = pickle.loads(pickle.dumps(text))
    assert kept.paragraphs == text.paragraphs
    assert kept.changed == text.changed == text.paragraphs[1:]


def test_a_paragraph_that_stands_elsewhere_is_kept_and_one_that_stands_twice_counts_twice() -> None:
    before = text_of("One.", "Two.", "Two.", "Three and four.")
    former = before.paragraphs
    present = text_of("Two.", "One.", "One.", "Five.").paragraphs
    kept = packed(before.document)
    found = difference(kept, present)
    assert found.kept == 2
    assert [part.text for part in found.added] == ["One.", "Five."]
    assert found.removed == (former[2].hash, former[3].hash)
    assert found.words_removed == 4
    assert difference(kept, former) == (4, (), (), 0)
    assert difference(b"", present).kept == 0
