from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from io import RawIOBase
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.cli.streams import Failed, Output, open_output

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="a thing of POSIX")
LINES = [f"[{number}, {number + 1}]\n" for number in range(10_000)]


def write(path: Path, lines: list[str]) -> None:
    with open_output(str(path)) as out:
        out.write(lines)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_has_all_lines(tmp_path: Path) -> None:
    with open_output(str(tmp_path / "pairs")) as out:
        out.write(LINES[:5000])
        out.write(iter(LINES[5000:]))
    assert (tmp_path / "pairs").read_bytes().decode() == "".join(LINES)
    assert names(tmp_path) == ["pairs"]


@pytest.mark.parametrize("fault", [KeyboardInterrupt, MemoryError, ValueError])
def test_whatever_is_raised_on_the_way_leaves_the_old_file_and_no_other(
    tmp_path: Path, fault: type[BaseException]
) -> None:
    place = tmp_path / "pairs"
    place.write_text("old", "utf-8")

    def lines() -> Iterator[str]:
        yield from LINES
        # Half of it is on its way.
        assert len(names(tmp_path)) == 2
        raise fault

    with pytest.raises(fault), open_output(str(place)) as out:
        out.write(lines())
    assert names(tmp_path) == ["pairs"]
    assert place.read_text("utf-8") == "old"


def test_the_old_file_stands_until_the_new_one_is_whole(tmp_path: Path) -> None:
    place = tmp_path / "pairs"
    place.write_text("old", "utf-8")
    with open_output(str(place)) as out:
        out.write(LINES)
        assert place.read_text("utf-8") == "old"
    assert place.read_text("utf-8") == "".join(LINES)


@pytest.mark.parametrize("name", ["no/pairs", ""])
def test_what_can_be_no_file_is_told_before_any_work(name: str, tmp_path: Path) -> None:
    with pytest.raises(Failed, match=f"cannot write {tmp_path}.*: "), open_output(f"{tmp_path}/{name}"):
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


@posix_only
def test_standard_output_gets_the_lines_past_any_buffer(capfd: pytest.CaptureFixture[str]) -> None:
    with open_output("-") as out:
        out.write(LINES)
        assert capfd.readouterr().out == "".join(LINES)


class Sink(RawIOBase):
    """Takes no more than *most* bytes at a time, and for none says that it would have to wait."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.taken = b""

    def write(self, content: Any) -> int | None:
        taken = bytes(content)[: self.most]
        self.taken += taken
        return len(taken) or None


def test_what_is_taken_piece_by_piece_arrives_as_a_whole() -> None:
    sink = Sink(most=7)
    Output(sink, "sink").write(LINES[:100])
    assert sink.taken.decode() == "".join(LINES[:100])


def test_a_sink_that_will_not_wait_is_a_failure() -> None:
    with pytest.raises(Failed, match="cannot write sink: "):
        Output(Sink(most=0), "sink").write(LINES)
