"""find: hashes in the formats of files."""

from __future__ import annotations

import re
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.cli import find
from scrapy_simhash.cli.find import parse
from scrapy_simhash.cli.streams import Refused

MOST = 2**64 - 1
#: Lines, and the hash in them, if any.
written = st.one_of(
    st.integers(0, MOST).map(str),
    st.integers(0, MOST).map(hex),
    st.integers(0, MOST).map(" 000{}\t".format),
    st.sampled_from(
        ["", " ", "0x", "x", "-1", "1 2", "1\r2", str(2**64), "0x1" + "0" * 16, "0b1", "1x", "\x00"]
    ),
)


@given(
    st.lists(st.tuples(written, st.sampled_from(["\n", "\r\n"])), max_size=12),
    st.integers(1, 64),
)
def test_lines_are_read_as_defined_in_chunks_of_any_size(lines: list[tuple[str, str]], chunk: int) -> None:
    pattern = re.compile("([0-9]+|0[xX][0-9a-fA-F]+|)")
    expected: list[int] = []
    wrong = None
    for number, (line, _) in enumerate(lines, 1):
        match = pattern.fullmatch(line.strip())
        text = match[1] if match else ""
        value = int(text, 16 if text[:2] in ("0x", "0X") else 10) if text else 0
        if match is None or value > MOST:
            wrong = number
            break
        expected += [value] if text else []
    stream = BytesIO("".join(line + end for line, end in lines).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(find, "CHUNK", chunk)
        if wrong is None:
            assert parse(stream, "hashes.txt").tolist() == expected
        else:
            with pytest.raises(Refused, match=f"^hashes.txt:{wrong}: "):
                parse(stream, "hashes.txt")


def test_a_byte_order_mark_is_ignored_and_numbers_are_exact() -> None:
    content = b"\xef\xbb\xbf9007199254740993\n9223372036854775809\n18446744073709551615"
    assert parse(BytesIO(content), "x").tolist() == [2**53 + 1, 2**63 + 1, MOST]
