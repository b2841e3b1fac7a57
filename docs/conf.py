"""Sphinx configuration: only what ships with Sphinx. Warnings are errors (``make docs``)."""

from __future__ import annotations

from importlib.metadata import version as version_of

project = "scrapy-simhash"
author = "scrapy-simhash maintainers"
copyright = author
release = version_of("scrapy-simhash")
version = release

extensions = ["sphinx.ext.autodoc", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
# `code` stands for a Python name here; where a page means a document it says :doc:.
default_role = "code"
highlight_language = "text"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"

html_theme = "alabaster"
html_theme_options = {
    "description": "Near-duplicate pages, recognised while a Scrapy crawl runs",
    "fixed_sidebar": True,
    "page_width": "1000px",
}
html_show_copyright = False
