"""The tests can be collected without the packages that only some of them need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: Of the extras ``redis``, ``example`` and ``dev``.
OPTIONAL = (
    "playwright",
    "redis",
    "scrapy_playwright",
    "scrapy_poet",
    "scrapy_redis",
    "spidermon",
    "web_poet",
)
#: Files that are skipped as a whole without one of them.
NEED_THEM = {
    "tests/crawls/test_redis.py": "redis",
    "tests/crawls/test_redis_live.py": "redis",
    "tests/crawls/test_tools_monitors.py": "Spidermon",
    "tests/crawls/test_tools_playwright.py": "scrapy-playwright",
    "tests/crawls/test_tools_poet.py": "scrapy-poet",
    "tests/docs/test_stores.py": "redis",
    "tests/example_project/test_shared.py": "redis",
}
#: pytest where importing one of these fails as if it were not installed.
PYTEST = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

MISSING = set(sys.argv[1].split(","))
sys.meta_path.insert(0, Missing())
import pytest
sys.exit(pytest.main(sys.argv[2:]))
"""


def collect(*paths: str) -> tuple[int, str]:
    """Collect tests where all of OPTIONAL are missing; return the exit code and what pytest writes."""
    options = ("--collect-only", "-q", "-p", "no:cacheprovider", "--color=no")
    done = subprocess.run(
        [sys.executable, "-c", PYTEST, ",".join(OPTIONAL), *options, *paths],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stdout


def test_a_file_that_needs_an_optional_package_is_skipped_and_says_which_is_missing() -> None:
    code, output = collect(*NEED_THEM, "tests/test_scope.py")
    assert code == 0, output
    for file, package in NEED_THEM.items():
        assert f"{file}::" not in output
        assert f"{package} is not installed" in output
    assert "tests/test_scope.py::" in output


@pytest.mark.slow("it collects the whole suite")
def test_every_other_file_is_collected_without_optional_packages() -> None:
    code, output = collect()
    assert code == 0, output
    collected = {line.partition("::")[0] for line in output.splitlines() if "::" in line}
    tests = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    assert tests & collected > {"tests/crawls/test_magazine.py", "tests/store/redis/test_connection.py"}
    assert collected.isdisjoint(NEED_THEM)
