"""The choice of the implementation, by environment variable and built modules, in separate processes, and the
stored hash.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from types import ModuleType

import pytest

from scrapy_simhash import kernel

#: An installation without the compiled modules.
WITHOUT = """
import sys
class Without:
    def __init__(self, finder):
        self.finder = finder
    def __getattr__(self, name):
        return getattr(self.finder, name)
    def find_spec(self, name, path=None, target=None):
        if not name.startswith("scrapy_simhash.kernel._"):
            return self.finder.find_spec(name, path, target)
sys.meta_path[:] = map(Without, sys.meta_path)
"""
#: Import errors of a built extension: missing library, lxml with another layout, missing module.
REASONS = [
    ImportError("libm.so.9: cannot open shared object file"),
    ValueError("lxml.etree._Element size changed"),
    ModuleNotFoundError("No module named 'lxml'", name="lxml"),
]

NOT_BUILT = (
    f"it is not built for this Python ({platform.python_implementation()} {platform.python_version()})"
)


def run(program: str, wanted: str | None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != kernel.VARIABLE}
    if wanted is not None:
        environment[kernel.VARIABLE] = wanted
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120
    )


CRAWL = """
import logging, scrapy
from scrapy.crawler import CrawlerProcess

class Pages(scrapy.Spider):
    name, start_urls = "pages", ["data:,"]
    def parse(self, response): pass

process = CrawlerProcess({"ADDONS": {"scrapy_simhash.Addon": 500}, "LOG_LEVEL": "WARNING"})
process.crawl(Pages)
process.start()
from scrapy_simhash import kernel; print(kernel.NAME, kernel.REASON)
"""


@pytest.mark.parametrize(
    ("begin", "wanted", "said", "reason"),
    [
        ("", None, "", ""),
        (WITHOUT, None, f"pure {NOT_BUILT}", NOT_BUILT),
        ("", "pure", "pure SCRAPY_SIMHASH_KERNEL is pure", ""),
        (WITHOUT, "pure", "pure SCRAPY_SIMHASH_KERNEL is pure", ""),
    ],
)
def test_a_crawl_warns_with_the_remedy_if_the_extension_is_missing(
    begin: str, wanted: str | None, said: str, reason: str
) -> None:
    done = run(begin + CRAWL, wanted)
    assert done.returncode == 0
    assert said in done.stdout
    log = done.stderr
    if reason:
        assert f"25 times as long: {reason}. Install a C compiler" in log
        assert "SCRAPY_SIMHASH_BUILD=require pip install" in log
    else:
        assert "C extension" not in log


class Choice:
    """Choose again in this process, with an import error."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch
        for name in ("native", "hamming", "NAME", "REASON"):
            monkeypatch.setattr(kernel, name, None)

    def of(self, wanted: str | None, reason: Exception | None = None) -> tuple[str, str]:
        def refuse(name: str) -> ModuleType:
            if reason is not None:
                raise reason
            return ModuleType(name)

        self._patch.setattr(kernel, "import_module", refuse)
        if wanted is None:
            self._patch.delenv(kernel.VARIABLE, raising=False)
        else:
            self._patch.setenv(kernel.VARIABLE, wanted)
        kernel.choose()
        return kernel.NAME, kernel.REASON


@pytest.fixture
def choice(monkeypatch: pytest.MonkeyPatch) -> Choice:
    return Choice(monkeypatch)


@pytest.mark.parametrize("wanted", ["Native", "fast", " pure", "0"])
def test_any_other_value_is_an_error_that_lists_the_choices(choice: Choice, wanted: str) -> None:
    said = f"SCRAPY_SIMHASH_KERNEL must be auto, pure or native, got {wanted!r}"
    with pytest.raises(ImportError, match=re.escape(said)):
        choice.of(wanted)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModuleNotFoundError(name="scrapy_simhash.kernel._native"), NOT_BUILT),
        *(
            (reason, f"it is built, but cannot be imported ({type(reason).__name__}: {reason})")
            for reason in REASONS
        ),
    ],
)
def test_the_reason_for_pure_python_is_logged_or_an_error_if_the_kernel_is_forced(
    choice: Choice, error: Exception, reason: str
) -> None:
    for wanted in (None, "auto"):
        assert choice.of(wanted, error) == ("pure", reason)
    said = f"SCRAPY_SIMHASH_KERNEL is native, but the C extension cannot be used: {reason}"
    with pytest.raises(ImportError, match=re.escape(said)) as caught:
        choice.of("native", error)
    assert caught.value.__cause__ is error


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


def test_an_interrupt_while_the_kernel_starts_does_not_crash() -> None:
    done = run(INTERRUPTED, None)
    assert (done.returncode, done.stdout.strip()) == (0, "interrupted")
