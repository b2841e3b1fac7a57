"""The glossary: its terms are used, and what it names in the code exists."""

from __future__ import annotations

import ast
import re

from scrapy_simhash import Reason, Status, names
from scrapy_simhash.action import ACTIONS
from scrapy_simhash.config import setting_names
from scrapy_simhash.fingerprinter import SCHEME
from scrapy_simhash.page.text.main_text import REASONS
from tests.docs.reader import DOCS, PACKAGE, words

PAGE = DOCS / "glossary.rst"
#: Each term with its explanation.
TERMS = {
    term: words(text)
    for term, text in re.findall(
        r"^ {4}(\w.*)\n((?: {8}\S.*\n)+)",
        PAGE.read_text("utf-8").partition(":sorted:")[2],
        flags=re.MULTILINE,
    )
}
#: Values that users read and write.
VALUES = {*ACTIONS, *REASONS, *(value.value for values in (Status, Reason) for value in values), SCHEME}


def defined_names() -> set[str]:
    """Return the names of all classes and functions of the package."""
    return {
        node.name
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
    }


def test_what_the_glossary_names_exists() -> None:
    literals = set(re.findall(r"``(.+?)``", " ".join(TERMS.values()))) - {'<link rel="canonical">'}
    meta = {value for name, value in vars(names).items() if name.startswith("META_")}
    known = {*setting_names(), *meta, *VALUES, *defined_names()}
    assert {literal for literal in literals if literal.removesuffix("()") not in known} == set()
