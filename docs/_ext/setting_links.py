"""Make literals with a setting links: ``SIMHASH_STORE`` to the reference, ``JOBDIR`` to Scrapy's documentation.

``SIMHASH_STORE = "memory"`` also becomes a link. Headings are not changed.
"""

from __future__ import annotations

import re

import inventories
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

PAGE = "reference/settings"
_LITERAL = re.compile(r"([A-Z][A-Z0-9_]+)(?: = .+)?")


def entries(environment: BuildEnvironment) -> dict[str, str]:
    """Return the anchor of each setting with a section on the page of settings, by name."""
    sections = environment.get_doctree(PAGE).findall(nodes.section)
    return {section[0].astext(): section["ids"][0] for section in sections}


def link(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Make the literals of *page* that name a setting links."""
    # Cached in the environment, because reading the page of settings again for each page takes long.
    kept = vars(app.env)
    if "_setting_anchors" not in kept:
        kept["_setting_anchors"] = entries(app.env)
    ours, scrapys = kept["_setting_anchors"], inventories.settings()
    for literal in list(doctree.findall(nodes.literal)):
        named = _LITERAL.fullmatch(literal.astext())
        inside = literal.parent
        while inside is not None and not isinstance(inside, (nodes.reference, nodes.title)):
            inside = inside.parent
        if named is None or inside is not None:
            continue
        if named[1] in ours:
            uri = app.builder.get_relative_uri(page, PAGE) + "#" + ours[named[1]]
            reference = nodes.reference("", "", internal=True, refuri=uri)
        elif named[1] in scrapys:
            reference = nodes.reference("", "", internal=False, refuri=scrapys[named[1]])
        else:
            continue
        literal.replace_self(reference)
        reference += literal


def forget(app: Sphinx, environment: BuildEnvironment) -> None:
    """Drop the anchors of an earlier build, because the environment is stored in a file."""
    vars(environment).pop("_setting_anchors", None)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("env-updated", forget)
    app.connect("doctree-resolved", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
