"""A filter is added in page/text/main_text.py alone: the compiled filters have it too, once compiled again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MAIN_TEXT = Path("scrapy_simhash", "page", "text", "main_text.py")

#: What the page "Where to add" of the documentation says: a name in REASONS, a call in classify(), a function.
CHANGES = {
    '"edge", "inset")': '"edge", "inset", "tiny")',
    "    if not _find_offer(page):": "    _leave_out_tiny(page)\n    if not _find_offer(page):",
    "def _list_kept": """TINY_TOKENS = 2
TINY = 6


def _leave_out_tiny(page: Columns) -> None:
    for i in range(page.blocks):
        if page.reasons[i] == KEPT and page.tokens[i] < TINY_TOKENS and not page.is_heading[i]:
            page.reasons[i] = TINY


def _list_kept""",
}

READ = """
from scrapy_simhash import PageFingerprinter, kernel
from scrapy_simhash.page import text
html = "<h1>Tide</h1><p>Share<p>The ship that went out to the sea came home with the tide, and nobody had seen the "
html += "fog or the buoy in the bay, not even the man on the quay.<p>Print<p>Yes, no"
document = PageFingerprinter().extract(html)
assert kernel.NAME == "native", kernel.REASON
assert document == text.extract(text.parse(html)), document
print([part.text for part in document.paragraphs if part.boilerplate == "tiny"])
"""


@pytest.mark.slow("it builds the kernel")
def test_a_filter_that_is_added_in_one_file_is_compiled_too(tmp_path: Path) -> None:
    ignore = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd")
    shutil.copytree(ROOT / "scrapy_simhash", tmp_path / "scrapy_simhash", ignore=ignore)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / name)
    source = (tmp_path / MAIN_TEXT).read_text("utf-8")
    for old, new in CHANGES.items():
        assert source.count(old) == 1
        source = source.replace(old, new)
    (tmp_path / MAIN_TEXT).write_text(source, "utf-8")
    run(tmp_path, "setup.py", "-q", "build_ext", "--inplace", SCRAPY_SIMHASH_BUILD="require")
    assert run(tmp_path, "-c", READ, SCRAPY_SIMHASH_KERNEL="native") == "['Share', 'Print']\n"


def run(folder: Path, *arguments: str, **environment: str) -> str:
    """Run Python in *folder*, where it finds the copy; return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(folder), **environment}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
