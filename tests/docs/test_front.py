"""The picture in the README is what the demo prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.docs.reader import DOCS, README
from tests.docs.test_crawls import EXAMPLE

PICTURE = DOCS / "demo.svg"
NUMBER = re.compile(r"\d+(\.\d+)?")


def lines_of(picture: Path) -> list[str]:
    """Return the lines of text in a picture, in their order."""
    root = ElementTree.parse(picture).getroot()
    return [
        "".join(line.itertext()).replace("\u00a0", " ")
        for line in root.iter("{http://www.w3.org/2000/svg}text")
    ]


@pytest.mark.slow("it crawls the example site, one page after another")
def test_the_picture_in_the_readme_is_what_the_demo_prints(tmp_path: Path) -> None:
    """But for a few pages that are copies or not by the order in which they come."""
    subprocess.run(
        [sys.executable, "picture.py", str(tmp_path / "now.svg")], cwd=EXAMPLE, check=True, timeout=300
    )
    shown, now = lines_of(PICTURE), lines_of(tmp_path / "now.svg")
    assert len(shown) > 10
    assert sorted(NUMBER.sub("N", line) for line in shown) == sorted(NUMBER.sub("N", line) for line in now)
    sums = [
        [int(number) for line in lines[-6:] for number in re.findall(r"^ *(\d+)", line)]
        for lines in (shown, now)
    ]
    assert all(abs(one - other) <= 6 for one, other in zip(*sums, strict=True)), sums
    assert f"](docs/{PICTURE.name})" in README.read_text("utf-8")
