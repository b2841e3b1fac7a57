"""Where commands read hashes and write lines."""

from __future__ import annotations

import os
import re
import stat
import sys
from array import array
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.cli import find
from scrapy_simhash.cli.find import parse
from scrapy_simhash.cli.streams import Refused, open_output
from scrapy_simhash.exceptions import FileError

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="a thing of POSIX")
LINES = [f"[{number}, {number + 1}]\n" for number in range(10_000)]


def write(path: Path, lines: list[str]) -> None:
    with open_output(str(path)) as out:
        out.write(lines)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_old_file_stands_until_the_new_one_is_whole(tmp_path: Path) -> None:
    place = tmp_path / "pairs"
    place.write_text("old", "utf-8")
    with open_output(str(place)) as out:
        out.write(LINES)
        assert place.read_text("utf-8") == "old"
    assert place.read_text("utf-8") == "".join(LINES)


@pytest.mark.parametrize("name", ["no/pairs", ""])
def test_what_can_be_no_file_is_told_before_any_work(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=f"cannot write {tmp_path}.*: "), open_output(f"{tmp_path}/{name}"):
        pytest.fail("work has begun")


@posix_only
def test_a_new_file_has_the_permissions_of_any_new_file_and_a_replaced_one_keeps_its_own(
    tmp_path: Path,
) -> None:
    write(tmp_path / "new", [])
    (tmp_path / "any").touch()
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "any").stat().st_mode
    (tmp_path / "any").chmod(0o640)
    write(tmp_path / "any", LINES)
    assert stat.S_IMODE((tmp_path / "any").stat().st_mode) == 0o640


@posix_only
def test_a_link_stays_one_and_leads_to_the_new_file(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    place = tmp_path / "there" / "pairs"
    place.write_text("old", "utf-8")
    (tmp_path / "link").symlink_to(place)
    write(tmp_path / "link", LINES)
    assert (tmp_path / "link").is_symlink()
    assert place.read_text("utf-8") == "".join(LINES)


@posix_only
def test_a_link_that_leads_round_in_a_circle_is_no_reason_to_fall_over(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "other")
    (tmp_path / "other").symlink_to(tmp_path / "one")
    write(tmp_path / "one", LINES)
    assert "".join(LINES) in {path.read_text("utf-8") for path in tmp_path.iterdir() if path.is_file()}


@posix_only
def test_a_pipe_with_a_name_is_written_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # A pipe that one holds for both ends opens at once, and holds some lines without a reader.
    held = os.open(pipe, os.O_RDWR)
    try:
        write(pipe, LINES[:3])
        assert os.read(held, 1000).decode() == "".join(LINES[:3])
    finally:
        os.close(held)
    assert names(tmp_path) == ["pipe"]
    assert pipe.is_fifo()


MOST = 2**64 - 1


def parsed(content: bytes, is_hex: bool = False) -> list[int]:
    return parse(BytesIO(content), "hashes.txt", is_hex=is_hex).tolist()


def refusal(content: bytes, is_hex: bool = False) -> str:
    with pytest.raises(Refused) as caught:
        parsed(content, is_hex)
    return str(caught.value)


#: Bytes, what is read of them, and whether --hex is given: what the property below seldom draws.
GOOD: list[tuple[bytes, list[int], bool]] = [
    (b"", [], False),
    (b"2\n1\n2", [2, 1, 2], False),  # order and repetitions stay, and the last line needs no end
    (b"9007199254740993\n9223372036854775809\n", [2**53 + 1, 2**63 + 1], False),  # what a float would round
    (b"007\n00000000000000000000000000000000018446744073709551615\n", [7, MOST], False),
    (b"1\n" + b"0" * 5000 + b"5\n", [1, 5], False),  # Python converts no numbers of so many digits
    (b"1\r\n2\n3\r", [1, 2, 3], False),
    (b"\xef\xbb\xbf1\n2\n", [1, 2], False),  # what Notepad saves
    (b"0xff\n0XFF\n0x00000000000000000f\n10", [255, 255, 15, 10], False),
    (b"ff\nFF\n0xff\n0XfF\n", [255, 255, 255, 255], True),
    (b"0b1\n", [0xB1], True),  # a digit, no prefix
    (b"ffffffffffffffff\n0000000000000000000000001\n", [MOST, 1], True),
]
NEITHER = "is neither a decimal number nor one like 0xff"
BAD: list[tuple[bytes, str, bool]] = [
    (b"abc\n", f"1: 'abc' {NEITHER}, --hex reads it as hexadecimal", False),
    (b"1\n2\nxyz\n4\nuvw\n", f"3: 'xyz' {NEITHER}", False),
    (b"1\n\n\n-1\n", f"4: '-1' {NEITHER}", False),
    (b"1_000\n", f"1: '1_000' {NEITHER}", False),
    (b"1\r2\r", f"1: '1\\r2' {NEITHER}", False),
    (b"0x\n", f"1: '0x' {NEITHER}", False),
    (b"0b1\n", f"1: '0b1' {NEITHER}, --hex reads it as hexadecimal", False),
    (b"\xd9\xa1\n", f"1: '\u0661' {NEITHER}", False),  # an Arabic one
    (b"1\n\x00\n", f"2: '\\x00' {NEITHER}", False),
    (b"\xff\xfe1\x00\n\x00", f"1: '\ufffd\ufffd1\\x00' {NEITHER}", False),  # UTF-16
    (b"1\n\xef\xbb\xbf2\n", f"2: '\\ufeff2' {NEITHER}", False),
    (b"\xef\xbb", f"1: '\ufffd' {NEITHER}", False),
    (b"5\n0x10000000000000000\n", "2: '0x10000000000000000' is more than 64 bits hold", False),
    (b"9" * 5000, f"1: '{'9' * 40}'... is more than 64 bits hold", False),
    (b"ff\nfg\n", "2: 'fg' is not a hexadecimal number", True),
    (b"1000000000000000f\n", "1: '1000000000000000f' is more than 64 bits hold", True),
    (
        b"5\n 18446744073709551615\r\n",
        "2: '18446744073709551615' is more than 64 bits hold, without --hex it is read as decimal",
        True,
    ),
]


@pytest.mark.parametrize(("content", "expected", "is_hex"), GOOD)
def test_a_line_is_a_hash_or_blank(content: bytes, expected: list[int], is_hex: bool) -> None:
    assert parsed(content, is_hex) == expected


@pytest.mark.parametrize(("content", "expected", "is_hex"), BAD)
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
        patch.setattr(find, "CHUNK", max(chunk, longest))
        if isinstance(expected, list):
            assert parsed(content, is_hex) == expected
        else:
            assert refusal(content, is_hex).startswith(f"hashes.txt:{expected}: ")


def test_the_number_of_a_wrong_line_counts_the_lines_of_all_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "CHUNK", 100)
    content = b"12345\n\r\n" * 1000 + b"oops\n"
    assert refusal(content).startswith("hashes.txt:2001: 'oops'")


def test_a_line_that_never_ends_is_refused_before_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "CHUNK", 1000)
    endless = BytesIO(b"1\n" + b"7" * 100_000)
    with pytest.raises(Refused, match="example:2: '7777"):
        parse(endless, "example")
    assert endless.tell() <= 3000


def test_a_stream_that_gives_a_few_bytes_at_a_time_loses_none() -> None:
    class Trickle(BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(1)

    assert parse(Trickle(b"\xef\xbb\xbf12\r\n345\n6"), "pipe") == array("Q", [12, 345, 6])
