from __future__ import annotations

import re
from array import array
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.cli import hashes
from scrapy_simhash.cli.hashes import parse
from scrapy_simhash.cli.streams import Refused

MOST = 2**64 - 1


def parsed(content: bytes, is_hex: bool = False) -> list[int]:
    return parse(BytesIO(content), "hashes.txt", is_hex=is_hex).tolist()


def refusal(content: bytes, is_hex: bool = False) -> str:
    with pytest.raises(Refused) as caught:
        parsed(content, is_hex)
    return str(caught.value)


GOOD: list[tuple[bytes, list[int]]] = [
    (b"", []),
    (b"\n", []),
    (b"0", [0]),
    (b"1\n2\n", [1, 2]),
    (b"2\n1\n2", [2, 1, 2]),  # order and repetitions stay, and the last line needs no end
    (b"18446744073709551615\n", [MOST]),
    (b"9007199254740993\n9223372036854775809\n", [2**53 + 1, 2**63 + 1]),  # what a float would round
    (b"007\n00000000000000000000000000000000018446744073709551615\n", [7, MOST]),
    (b"1\n" + b"0" * 5000 + b"5\n", [1, 5]),  # Python converts no numbers of so many digits
    (b"1\n\n\n2\n", [1, 2]),
    (b"1\r\n2\r\n\r\n3", [1, 2, 3]),
    (b"1\r\n2\n3\r", [1, 2, 3]),
    (b" 1\n\t2 \n   \n", [1, 2]),
    (b"\xef\xbb\xbf1\n2\n", [1, 2]),  # what Notepad saves
    (b"0xff\n0XFF\n0x00000000000000000f\n", [255, 255, 15]),
    (b"0xffffffffffffffff\r\n0x0\r\n", [MOST, 0]),
    (b"10\n0x10\n10\n", [10, 16, 10]),
]

GOOD_HEX: list[tuple[bytes, list[int]]] = [
    (b"ff\nFF\n0xff\n0XfF\n", [255, 255, 255, 255]),
    (b"10\n", [16]),
    (b"0b1\n", [0xB1]),  # a digit, no prefix
    (b"ffffffffffffffff\n0000000000000000000000001\n", [MOST, 1]),
    (b" ff \r\n\r\n", [255]),
]

BAD: list[tuple[bytes, str]] = [
    (b"abc\n", "1: 'abc' is neither a decimal number nor one like 0xff, --hex reads it as hexadecimal"),
    (b"1\n2\nxyz\n4\nuvw\n", "3: 'xyz' is neither a decimal number nor one like 0xff"),
    (b"1\n\n\n-1\n", "4: '-1' is neither a decimal number nor one like 0xff"),
    (b"1\r\n+2\r\n", "2: '+2' is neither a decimal number nor one like 0xff"),
    (b"1.0\n", "1: '1.0' is neither a decimal number nor one like 0xff"),
    (b"1e3\n", "1: '1e3' is neither a decimal number nor one like 0xff, --hex reads it as hexadecimal"),
    (b"1_000\n", "1: '1_000' is neither a decimal number nor one like 0xff"),
    (b"1 2\n", "1: '1 2' is neither a decimal number nor one like 0xff"),
    (b"1\r2\r", "1: '1\\r2' is neither a decimal number nor one like 0xff"),
    (b"0x\n", "1: '0x' is neither a decimal number nor one like 0xff"),
    (b"1x0\n", "1: '1x0' is neither a decimal number nor one like 0xff"),
    (b"1\n0x0x1\n", "2: '0x0x1' is neither a decimal number nor one like 0xff"),
    (b"0b1\n", "1: '0b1' is neither a decimal number nor one like 0xff, --hex reads it as hexadecimal"),
    (b"0o7\n", "1: '0o7' is neither a decimal number nor one like 0xff"),
    (b"\xd9\xa1\n", "1: '\u0661' is neither a decimal number nor one like 0xff"),  # an Arabic one
    (b"1\n\x00\n", "2: '\\x00' is neither a decimal number nor one like 0xff"),
    (
        b"\xff\xfe1\x00\n\x00",
        "1: '\ufffd\ufffd1\\x00' is neither a decimal number nor one like 0xff",
    ),  # UTF-16
    (b"1\n\xef\xbb\xbf2\n", "2: '\\ufeff2' is neither a decimal number nor one like 0xff"),
    (b"\xef\xbb", "1: '\ufffd' is neither a decimal number nor one like 0xff"),
    (b"[1, 2]\n", "1: '[1, 2]' is neither a decimal number nor one like 0xff"),
    (b"18446744073709551616\n", "1: '18446744073709551616' is more than 64 bits hold"),
    (b"5\n0x10000000000000000\n", "2: '0x10000000000000000' is more than 64 bits hold"),
    (b"9" * 5000, f"1: '{'9' * 40}'... is more than 64 bits hold"),
]


BAD_HEX: list[tuple[bytes, str]] = [
    (b"ff\nfg\n", "2: 'fg' is not a hexadecimal number"),
    (b"f_f\n", "1: 'f_f' is not a hexadecimal number"),
    (b"-f\n", "1: '-f' is not a hexadecimal number"),
    (b"0x\n", "1: '0x' is not a hexadecimal number"),
    (b"ff ff\n", "1: 'ff ff' is not a hexadecimal number"),
    (b"1000000000000000f\n", "1: '1000000000000000f' is more than 64 bits hold"),
    (
        b"5\n 18446744073709551615\r\n",
        "2: '18446744073709551615' is more than 64 bits hold, without --hex it is read as decimal",
    ),
    (b"100000000000000000000\n", "1: '100000000000000000000' is more than 64 bits hold"),
]


@pytest.mark.parametrize(
    ("content", "expected", "is_hex"), [*((*row, False) for row in GOOD), *((*row, True) for row in GOOD_HEX)]
)
def test_a_line_is_a_hash_or_blank(content: bytes, expected: list[int], is_hex: bool) -> None:
    assert parsed(content, is_hex) == expected


@pytest.mark.parametrize(
    ("content", "expected", "is_hex"), [*((*row, False) for row in BAD), *((*row, True) for row in BAD_HEX)]
)
def test_the_first_wrong_line_is_named_with_its_number_and_what_is_wrong(
    content: bytes, expected: str, is_hex: bool
) -> None:
    assert refusal(content, is_hex) == f"hashes.txt:{expected}"


# --- In chunks.

number = st.integers(0, MOST)
written = st.one_of(
    number.map(str),
    number.map(hex),
    number.map("{:X}".format),
    number.map(" {}\t".format),
    number.map("000{}".format),
    st.sampled_from(
        ["", " ", "0x", "x", "-1", "1 2", "1\r2", str(2**64), "0x1" + "0" * 16, "1_0", "0b1", "1x"]
    ),
)
contents = st.lists(st.tuples(written, st.sampled_from(["\n", "\r\n"])), max_size=12).map(
    lambda lines: "".join(line + end for line, end in lines).encode()
)
PLAIN = re.compile(rb"[ \t]*([0-9]+|0[xX][0-9a-fA-F]+|)[ \t]*")
PLAIN_HEX = re.compile(rb"[ \t]*((?:0[xX])?[0-9a-fA-F]+|)[ \t]*")


def as_defined(content: bytes, is_hex: bool) -> list[int] | int:
    """Return the hashes, or the number of the first wrong line."""
    found = []
    for line_number, line in enumerate(re.split(rb"\r?\n", content), 1):
        match = (PLAIN_HEX if is_hex else PLAIN).fullmatch(line)
        if not match:
            return line_number
        text = match[1].decode().lower()
        value = int(text, 16 if is_hex or text.startswith("0x") else 10) if text else None
        if value is not None and value > MOST:
            return line_number
        found += [value] if value is not None else []
    return found


@given(content=contents, is_hex=st.booleans(), chunk=st.integers(1, 64))
def test_chunks_of_any_size_read_the_same_lines(content: bytes, is_hex: bool, chunk: int) -> None:
    expected = as_defined(content, is_hex)
    # A line longer than a chunk is refused, and none of these is.
    longest = max(map(len, content.split(b"\n"))) + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashes, "CHUNK", max(chunk, longest))
        if isinstance(expected, list):
            assert parsed(content, is_hex) == expected
        else:
            assert refusal(content, is_hex).startswith(f"hashes.txt:{expected}: ")


def test_the_number_of_a_wrong_line_counts_the_lines_of_all_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashes, "CHUNK", 100)
    content = b"12345\n\r\n" * 1000 + b"oops\n"
    assert refusal(content).startswith("hashes.txt:2001: 'oops'")


def test_a_line_that_never_ends_is_refused_before_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashes, "CHUNK", 1000)
    endless = BytesIO(b"1\n" + b"7" * 100_000)
    with pytest.raises(Refused, match="example:2: '7777"):
        parse(endless, "example")
    assert endless.tell() <= 3000


def test_a_stream_that_gives_a_few_bytes_at_a_time_loses_none() -> None:
    class Trickle(BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(1)

    assert parse(Trickle(b"\xef\xbb\xbf12\r\n345\n6"), "pipe") == array("Q", [12, 345, 6])


# --- Files.
