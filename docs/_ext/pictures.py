"""``.. picture:: name.svg`` inserts an SVG file of ``docs/pictures`` into the HTML of the page.

An ``img`` element would not follow the light or dark theme. Inside the page, ``currentColor`` is the colour of the
text, and the classes of ``_static/site.css`` have the colours of the theme. Screen readers read the ``title`` and
``desc`` of the picture.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

FOLDER = Path(__file__).parents[1] / "pictures"


class Picture(Directive):
    """The directive: the picture, with the content of the directive as its caption."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the picture and its caption."""
        path = FOLDER / self.arguments[0]
        self.state.document.settings.record_dependencies.add(str(path))
        figure = nodes.container(classes=["picture"])
        figure += nodes.raw("", path.read_text("utf-8"), format="html")
        self.state.nested_parse(self.content, self.content_offset, figure)
        return [figure]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
