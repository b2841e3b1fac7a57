"""Which implementation runs: said by the environment and by what was built, in processes of their own. Its hash."""

from __future__ import annotations

import os
import platform
import random
import subprocess
import sys

import pytest
from xxhash import xxh3_64_intdigest

from scrapy_simhash import kernel

SHOW = "from scrapy_simhash import PageFingerprinter, kernel; PageFingerprinter(); print(kernel.NAME, kernel.REASON)"
#: What an installation without the compiled modules is like: nothing finds them.
WITHOUT = """
import sys
class Without:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, path=None, target=None):
        if not name.startswith("scrapy_simhash.kernel._"):
            return self.finder.find_spec(name, path, target)
sys.meta_path[:] = map(Without, sys.meta_path)
"""
#: One that was built, and cannot be imported, for a reason that stands in front of it.
BROKEN = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name == "scrapy_simhash.kernel._native":
            raise {reason}
sys.meta_path.insert(0, Refuse())
"""
#: A library is missing, lxml has another layout, a module that it imports is missing.
REASONS = [
    (
        'ImportError("libm.so.9: cannot open shared object file")',
        "ImportError: libm.so.9: cannot open shared object file",
    ),
    ('ValueError("lxml.etree._Element size changed")', "ValueError: lxml.etree._Element size changed"),
    (
        'ModuleNotFoundError("No module named \'lxml\'", name="lxml")',
        "ModuleNotFoundError: No module named 'lxml'",
    ),
]
CRAWL = """
import scrapy
from scrapy.crawler import CrawlerProcess
class Idle(scrapy.Spider):
    name = "idle"
    start_urls = []
process = CrawlerProcess({"ADDONS": {"scrapy_simhash.Addon": 500}, "TELNETCONSOLE_ENABLED": False})
process.crawl(Idle)
process.start()
"""

NOT_BUILT = (
    f"it is not built for this Python ({platform.python_implementation()} {platform.python_version()})"
)

needs_the_kernel = pytest.mark.skipif(kernel.native is None, reason=f"pure Python runs: {kernel.REASON}")


def run(program: str, wanted: str | None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != kernel.VARIABLE}
    if wanted is not None:
        environment[kernel.VARIABLE] = wanted
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120
    )


@needs_the_kernel
@pytest.mark.parametrize("wanted", [None, "", "auto", "native"])
def test_the_kernel_runs_where_it_was_built(wanted: str | None) -> None:
    done = run(SHOW, wanted)
    assert (done.stdout.strip(), done.stderr) == ("native", "")


def test_pure_python_runs_where_it_is_asked_for() -> None:
    done = run(SHOW, "pure")
    assert (done.stdout.strip(), done.stderr) == ("pure SCRAPY_SIMHASH_KERNEL is pure", "")


@pytest.mark.parametrize("wanted", ["Native", "fast", " pure", "0"])
def test_anything_else_is_an_error_that_says_what_there_is(wanted: str) -> None:
    done = run(SHOW, wanted)
    assert done.returncode == 1
    assert f"SCRAPY_SIMHASH_KERNEL must be auto, pure or native, got {wanted!r}" in done.stderr


@pytest.mark.parametrize("wanted", [None, "auto"])
def test_without_the_compiled_module_pure_python_runs(wanted: str | None) -> None:
    done = run(WITHOUT + SHOW, wanted)
    assert done.stdout.strip() == f"pure {NOT_BUILT}"
    assert (done.returncode, done.stderr) == (0, "")


def test_without_the_compiled_module_asking_for_it_is_an_error() -> None:
    done = run(WITHOUT + SHOW, "native")
    assert done.returncode == 1
    assert (
        f"ImportError: SCRAPY_SIMHASH_KERNEL is native, but the compiled kernel cannot be used: {NOT_BUILT}"
    ) in done.stderr


@pytest.mark.parametrize(("reason", "told"), REASONS)
def test_a_kernel_that_cannot_be_imported_is_told_from_one_that_is_not_built(reason: str, told: str) -> None:
    done = run(BROKEN.format(reason=reason) + SHOW, None)
    assert done.stdout.strip() == f"pure it is built, but cannot be imported ({told})"
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("reason", "told"), REASONS)
def test_a_kernel_that_cannot_be_imported_is_an_error_with_its_cause_where_it_is_asked_for(
    reason: str, told: str
) -> None:
    done = run(BROKEN.format(reason=reason) + SHOW, "native")
    assert done.returncode == 1
    assert f"\n{told}\n" in done.stderr
    assert "The above exception was the direct cause" in done.stderr
    assert f"cannot be used: it is built, but cannot be imported ({told})" in done.stderr


@pytest.mark.parametrize(
    ("wanted", "name"), [pytest.param("native", "native", marks=needs_the_kernel), ("pure", "pure")]
)
def test_the_log_of_a_crawl_names_the_kernel(wanted: str, name: str) -> None:
    done = run(CRAWL, wanted)
    (line,) = [line for line in done.stderr.splitlines() if "Marking near-duplicates: " in line]
    assert f"kernel {name}" in line


@needs_the_kernel
def test_the_hash_is_the_packages_for_every_length_and_start() -> None:
    assert kernel.native is not None
    content = random.Random(3).randbytes(5_000_001)
    pieces = [content[:length] for length in (*range(1_101), 4_095, 4_096, 4_097, 100_003, len(content))]
    pieces += [content[start : start + n] for start in range(16) for n in (3, 8, 16, 17, 129, 241, 1_024)]
    pieces += [bytes([byte]) * n for byte in (0, 1, 0x7F, 0x80, 0xFF) for n in (*range(300), 1_025, 65_536)]
    assert [len(piece) for piece in pieces if kernel.native.digest(piece) != xxh3_64_intdigest(piece)] == []


INTERRUPTED = """
import sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "inspect":
            raise KeyboardInterrupt
sys.modules.pop("inspect", None)
sys.meta_path.insert(0, Interrupt())
try:
    import scrapy_simhash.kernel
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupt_while_the_kernel_starts_is_an_interrupt_and_no_crash() -> None:
    done = run(INTERRUPTED, None)
    assert (done.returncode, done.stdout.strip()) == (0, "interrupted")
