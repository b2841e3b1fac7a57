"""Changes are fragments until a release."""

from __future__ import annotations

import re

from scrapy_simhash import __version__
from tests.docs.reader import ROOT

FOLDER = ROOT / "changelog.d"
KINDS = ("added", "changed", "fixed", "removed")


def test_a_fragment_is_named_after_its_change_and_its_kind() -> None:
    for path in FOLDER.iterdir():
        if path.name != "README.md":
            assert re.fullmatch(rf"[a-z0-9-]+\.({'|'.join(KINDS)})\.md", path.name), path.name


def test_the_changes_begin_with_this_version() -> None:
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGES.md").read_text("utf-8"), flags=re.MULTILINE)
    assert headings[0] == __version__
