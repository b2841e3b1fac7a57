"""Write ``llms.txt``: the title and first sentence of every page, in the order of the sidebar.

Programs read this file first (https://llmstxt.org). Its links lead to the sources of the pages, which are plain text.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

_SENTENCE_END = re.compile(r"(?<=[.?!]) ")


def first_sentence(environment: BuildEnvironment, page: str) -> str:
    """Return the first sentence of the first paragraph, with titles for links to pages; empty without a paragraph."""
    for paragraph in environment.get_doctree(page).findall(nodes.paragraph):
        if not isinstance(paragraph.parent, nodes.section):
            continue
        for link in list(paragraph.findall(addnodes.pending_xref)):
            if link["reftype"] == "doc" and not link["refexplicit"]:
                target = posixpath.normpath(posixpath.join("/", posixpath.dirname(page), link["reftarget"]))
                link.replace_self(nodes.Text(environment.titles[target.lstrip("/")].astext()))
        return _SENTENCE_END.split(" ".join(paragraph.astext().split()))[0].rstrip(":")
    return ""


def line(environment: BuildEnvironment, page: str) -> str:
    """Return the line about *page*."""
    title = environment.titles[page].astext()
    return f"- [{title}](_sources/{page}.rst.txt): {first_sentence(environment, page)}"


def write(app: Sphinx, problem: Exception | None) -> None:
    """Write the file when the site is complete."""
    if problem or app.builder.name not in ("html", "dirhtml"):
        return
    root = app.config.root_doc
    index = app.env.get_doctree(root)
    parts = [f"# {app.config.project}", f"> {first_sentence(app.env, root)}"]
    for tree in index.findall(addnodes.toctree):
        pages = [
            below for _, page in tree["entries"] for below in (page, *app.env.toctree_includes.get(page, ()))
        ]
        listed = [line(app.env, page) for page in pages]
        parts += [f"## {tree['caption']}", "\n".join(listed)]
    Path(app.outdir, "llms.txt").write_text("\n\n".join(parts) + "\n", "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
