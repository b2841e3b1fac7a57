"""What is kept of an answer comes back as it was, and a damaged one is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.observers.recrawl.answers import Answer

USUAL = b"Mon, 21 Sep 2026 14:13:20 GMT"
COUNTS = st.integers(0, 2**16 - 1)
NUMBERS = st.integers(0, 2**32 - 1)
MODIFIED = st.sampled_from([b"", USUAL, b"Monday", USUAL.lower(), b"Mon, 21 Sep 1026 14:13:20 GMT"])


@given(
    st.builds(Answer, NUMBERS, NUMBERS, COUNTS, COUNTS, st.binary(max_size=40), MODIFIED),
    st.binary(max_size=40),
)
def test_an_answer_comes_back_with_its_requests(answer: Answer, requests: bytes) -> None:
    assert Answer.from_note(answer.to_note(requests)) == (answer, requests)


@pytest.mark.parametrize(
    "note", [b"", bytes(18), bytes(19), b"\x00\x10" + bytes(40), b"\x00\x11\x03" + bytes(40)]
)
def test_what_is_no_answer_raises_value_error(note: bytes) -> None:
    with pytest.raises(ValueError, match="an answer"):
        Answer.from_note(note)


@pytest.mark.parametrize("validator", [b"a\nb", b"a\rb", b"a" * 1_001])
def test_a_validator_that_cannot_be_sent_back_is_not_kept(validator: bytes) -> None:
    answer = Answer(0, 0).with_validators(validator, b"today")
    assert (answer.etag, answer.modified) == (b"", b"today")
    assert Answer(0, 0).with_validators(b"a" * 1_000, validator).modified == b""


def test_an_answer_of_no_use_fits_no_request() -> None:
    answer = Answer(6, 0, etag=b"a", modified=b"b").of_no_use()
    assert answer == Answer(7, 0)
