"""Schemes in use: in the fingerprinter, the settings, stores, a detector, and other processes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from scrapy_simhash import (
    Config,
    NearDuplicateDetector,
    PageFingerprinter,
    Status,
)
from scrapy_simhash.cli.postings import header_line, parsed_header
from scrapy_simhash.config import SCHEMES
from scrapy_simhash.detector import header_for
from scrapy_simhash.page.schemes import SCHEMES as BUILT_IN
from scrapy_simhash.page.schemes import Page
from scrapy_simhash.store import Header
from tests.golden.texts import STORY
from tests.page.schemes.own import BY_LINKS

OWN = "tests.page.schemes.own.BY_LINKS"


def test_a_detector_compares_by_the_scheme() -> None:
    detector = NearDuplicateDetector(Config(scheme="moz"))
    assert detector.check(STORY, "https://example.com/ferry").status is Status.NEW
    printed = STORY.replace("<main>", "<nav>Print</nav><main>")
    again = detector.check(printed, "https://example.com/ferry?print=1")
    assert (again.status, again.duplicate_of) == (Status.NEAR_DUPLICATE, "https://example.com/ferry")
    assert detector.sites is None


def test_a_custom_scheme_reads_the_tree_and_the_url() -> None:
    fingerprinter = PageFingerprinter(Config(min_shingles=1), scheme=OWN)
    assert fingerprinter.scheme == f"{OWN}-3"
    linked = STORY.replace("</main>", "</main><a href=/fog>Fog</a>")
    prints = [
        fingerprinter.read(html, url=url).fingerprint
        for html, url in [(STORY, ""), (linked, "https://example.com/"), (linked, "https://example.org/")]
    ]
    values = [one.value for one in prints if one is not None]
    assert values[0] == BY_LINKS.value(Page(fingerprinter.extract(STORY)))
    assert [one.features - prints[0].features for one in prints if one and prints[0]] == [0, 1, 1]


def test_a_setting_without_effect_on_the_scheme_is_a_warning() -> None:
    assert Config(scheme="moz") == Config(scheme="moz", rule="classic")
    with pytest.warns(UserWarning, match=r"SIMHASH_MIN_SIMILARITY .0\.9. has no effect"):
        assert Config(scheme="moz", min_similarity=0.9) == Config(scheme="moz")


@pytest.mark.parametrize("name", [*SCHEMES, OWN])
def test_the_header_of_a_store_names_the_scheme_and_restores_its_setting(name: str) -> None:
    config = Config(scheme=name)
    header = header_for(config)
    version = BUILT_IN[name].version if name in BUILT_IN else BY_LINKS.version
    assert header.scheme == f"{name}-{version}"
    assert header_for(Config.from_settings(header.settings)) == header
    assert Header.from_dict(header.to_dict()) == parsed_header(header_line(header)) == header
    assert header.settings["SIMHASH_SCHEME"] == name


def test_the_default_imports_no_scheme_modules() -> None:
    program = (
        "import sys; from scrapy_simhash import PageFingerprinter;"
        f"PageFingerprinter().from_html({STORY!r});"
        "print([name for name in sys.modules if 'schemes' in name])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout == "[]\n"
