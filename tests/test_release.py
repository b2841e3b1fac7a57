"""Releases: version, changes and workflows."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from packages import release
from scrapy_simhash import __version__

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FRAGMENTS = {
    "faster.changed.md": "A search took\na second: it takes half of one.\n",
    "floods.added.md": "Floods are logged.\n",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The inputs and outputs of a release, with a released version and two fragments."""
    (tmp_path / "scrapy_simhash").mkdir()
    shutil.copy(ROOT / "scrapy_simhash" / "__init__.py", tmp_path / "scrapy_simhash")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "changelog.d").mkdir()
    for name, text in FRAGMENTS.items():
        (tmp_path / "changelog.d" / name).write_text(text, "utf-8")
    (tmp_path / "CHANGES.md").write_text("# Changes\n\n## 0.0.1 (2020-01-01)\n\nThe first.\n", "utf-8")
    return tmp_path


def test_a_release_collects_the_fragments_by_kind_and_is_made_once(checkout: Path) -> None:
    said = " ".join(release.problems(checkout, "v8"))
    assert all(word in said for word in (f"must be v{__version__}", "no section", "has 2 fragments"))
    release.prepare(checkout, "9.1.0", "2030-02-03")
    assert (checkout / "CHANGES.md").read_text("utf-8") == (
        "# Changes\n\n## 9.1.0 (2030-02-03)\n\n"
        "### Added\n\n- Floods are logged.\n\n"
        "### Changed\n\n- A search took a second: it takes half of one.\n\n"
        "## 0.0.1 (2020-01-01)\n\nThe first.\n"
    )
    assert release.version_of(checkout) == "9.1.0"
    with pytest.raises(release.Refused, match=r"has 9\.1\.0 already"):
        release.prepare(checkout, "9.1.0", "2030-02-04")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_pins_actions_and_has_only_read_permission_unless_it_publishes(path: Path) -> None:
    text = path.read_text("utf-8")
    for used in re.findall(r"uses: ([^.].+)", text):
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", used)
    assert "\npermissions: {}\n" in text
    granted = re.findall(r"^      ([\w-]+: write)", text, re.MULTILINE)
    assert granted == ["id-token: write"] * (path.stem == "publish")
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")


def test_the_lowest_tested_versions_are_the_lowest_allowed_ones() -> None:
    pyproject, tox = ((ROOT / name).read_text("utf-8") for name in ("pyproject.toml", "tox.ini"))
    listed = re.search(r"^dependencies = \[\n(.*?)^\]", pyproject, re.MULTILINE | re.DOTALL)
    assert listed
    for name, least in re.findall(r'"([a-z0-9]+)>=([^"]+)"', listed[1]):
        assert re.search(rf"^    {name}=={re.escape(least)}(\.0)?$", tox, re.MULTILINE), name
