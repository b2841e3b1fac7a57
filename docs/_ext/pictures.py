"""``.. picture:: name.svg`` puts a drawing of ``docs/pictures`` into the page itself.

An image in an ``img`` element does not know which colours the reader has chosen with the button of the theme. Inside
of the page, ``currentColor`` is the colour of the text, and the classes of ``_static/site.css`` those of the theme. A
screen reader is given the ``title`` and ``desc`` of the drawing.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

FOLDER = Path(__file__).parents[1] / "pictures"


class Picture(Directive):
    """The drawing as it is, and below it the content of the directive as a caption."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the drawing and its caption."""
        path = FOLDER / self.arguments[0]
        self.state.document.settings.record_dependencies.add(str(path))
        figure = nodes.container(classes=["picture"])
        figure += nodes.raw("", path.read_text("utf-8"), format="html")
        self.state.nested_parse(self.content, self.content_offset, figure)
        return [figure]


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
