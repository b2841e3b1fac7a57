"""The commands that the log names: right ones, on one line, whatever a URL holds."""

from __future__ import annotations

import shlex
from pathlib import Path

from scrapy_simhash.cli.verbs import VERBS
from scrapy_simhash.crawl.drops import MOST, PROGRAM, Advice

A, B = "http://a.example/?a=1&b='2'", "http://a.example/"


def test_without_a_report_it_is_a_comparison_of_the_first_two() -> None:
    advice = Advice()
    assert advice.on_crawl() is None
    advice.first = A, B
    command = advice.on_crawl()
    assert command == advice.on_page(A, B)
    assert command is not None
    assert shlex.split(command) == [PROGRAM, "compare", A, B]
    assert advice.on_page(A, None) is None


def test_with_a_report_it_is_the_report() -> None:
    advice = Advice()
    advice.report = Path("out of here") / "report.jsonl"
    assert advice.on_crawl() is None
    advice.first = A, B
    path = str(advice.report)
    assert shlex.split(advice.on_crawl() or "") == [PROGRAM, "report", path]
    assert shlex.split(advice.on_page(A, None) or "") == [PROGRAM, "report", path, "--url", A]


def test_no_url_ends_the_line_moves_the_cursor_or_makes_it_long() -> None:
    command = Advice().on_page("http://a.example/\n2026-11-23 ERROR: \x1b[2J\u202e", B)
    assert command is not None
    assert command.isprintable()
    assert Advice().on_page(f"http://a.example/{'x' * MOST}", B) is None


def test_there_are_such_commands() -> None:
    assert {"report", "compare"} <= set(VERBS)
