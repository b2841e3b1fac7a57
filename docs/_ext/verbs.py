"""``.. verb:: dedup`` describes the arguments of a verb of the command line, generated from its parser."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import ClassVar

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from scrapy_simhash.cli.main import VERBS, module_of

#: Code in a help text: settings, options, URLs, and file names.
_CODE = re.compile(
    r"(?:--set )?SIMHASH_\w+(?:=\w+)?|(?<![\w-])--?[a-z][\w-]*|redis://\S+[^\s,;.)]|(?<= )\.[a-z]\w+(?:\.\w+)?"
)


def lines_of(verb: str) -> Iterator[str]:
    """Yield the description of *verb* as lines of reStructuredText."""
    module, does = module_of(verb), VERBS[verb]
    yield from (f"{does[0].upper()}{does[1:]}.", "")
    parser = ArgumentParser(add_help=False)
    module.add_arguments(parser)
    for action in parser._actions:
        value = "|".join(action.choices) if action.choices else action.metavar
        names = action.option_strings or [""]
        is_flag = action.nargs == 0
        yield ", ".join(
            f"``{name if is_flag else f'{name} {value or action.dest.upper()}'.strip()}``" for name in names
        )
        text = re.sub(r"([*|`\\])|_(?=\W|$)", r"\\\g<0>", action.help or "")
        text = _CODE.sub(lambda match: f"``{match[0]}``", text)
        yield from (f"    {text[0].upper()}{text[1:]}.", "")


class Verb(SphinxDirective):
    """The directive."""

    required_arguments = 1
    option_spec: ClassVar = {}

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the parsed lines."""
        lines = StringList(list(lines_of(self.arguments[0])), source=f"--help of {self.arguments[0]}")
        parent = nodes.Element()
        self.state.nested_parse(lines, self.content_offset, parent)
        return parent.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.add_directive("verb", Verb)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
