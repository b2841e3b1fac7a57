"""Sphinx configuration. ``make docs`` treats warnings as errors, and needs no network."""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import inventories

_package = metadata("scrapy-simhash")

project = "scrapy-simhash"
author = "scrapy-simhash maintainers"
copyright = author
release = _package["Version"]
version = release

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    # in _ext/
    "llms_txt",
    "pictures",
    "setting_links",
    "verbs",
]
exclude_patterns = ["_build"]
# `name` in backticks is a Python name; links to pages use :doc:.
default_role = "code"
# Figures that several pages state are in figures.json, which benchmarks write with --docs; |bytes-new| inserts a
# value. Shares have no leading zero: .998.
_LEADING_ZERO = re.compile(r"\b0(?=\.)")
rst_prolog = "\n".join(
    f".. |{name}| replace:: {_LEADING_ZERO.sub('', figure['value'])}"
    for name, figure in json.loads(Path(__file__).with_name("figures.json").read_text("utf-8")).items()
)
highlight_language = "text"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"

intersphinx_mapping = inventories.mapping()
# Roles for pages, labels and terms never refer to other projects.
intersphinx_disabled_reftypes = ["std:doc", "std:label", "std:term"]

# The copy button copies only the input of a session, without prompts and output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"scrapy-simhash {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "_ext" / "search_scorer.js")
html_show_copyright = False
html_theme_options: dict[str, object] = {
    "light_css_variables": {
        "color-brand-primary": "#0b6b4f",
        "color-brand-content": "#0b6b4f",
        "color-admonition-title-background--warning": "#ffedd9",
    },
    "dark_css_variables": {
        "color-brand-primary": "#5ecfa4",
        "color-brand-content": "#5ecfa4",
        "color-admonition-title-background--warning": "#3d2b12",
    },
    "top_of_page_buttons": [],
}
# If pyproject.toml has the URL of the repository, pages link to their source there.
_urls = dict(line.split(", ", 1) for line in _package.get_all("Project-URL") or ())
if "Repository" in _urls:
    html_theme_options |= {
        "source_repository": _urls["Repository"],
        "source_branch": "main",
        "source_directory": "docs/",
        "top_of_page_buttons": ["view", "edit"],
    }
