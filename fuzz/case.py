"""Case: an input that can be written to a file, minimised and read again.

=========  =======================================================  ==========================
kind       content                                                  how it becomes a page
=========  =======================================================  ==========================
``html``   markup                                                   ``parse`` of a string
``bytes``  bytes, a character each (Latin-1)                        ``parse`` of bytes
``raw``    bytes, a character each, not valid in their encoding     lxml's HTML parser, alone
``xml``    markup                                                   lxml's XML parser
``tree``   nodes, one per line: parent, kind, tag, attributes, ... ``etree.SubElement``
``text``   plain text                                               no page: ``from_text``
``script`` lines of Python, see ``calls.py``                        no page: ``exec``
=========  =======================================================  ==========================
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

from lxml import etree

from scrapy_simhash.page.text import parse

#: Kinds of content that consists of lines.
IN_LINES = ("tree", "script")


@dataclass(frozen=True)
class Case:
    """An input. *language* is the Content-Language header; *part* is the number of the element that is read."""

    kind: str
    content: str
    language: str | None = None
    part: int = 0
    keeps_entities: bool = False
    url: str = ""

    def root(self) -> etree._Element | None:
        """Return the element to read; None if the parser returns none."""
        root = self._tree()
        if root is None or not self.part:
            return root
        elements = [element for element in root.iter() if isinstance(element.tag, str)]
        return elements[self.part % len(elements)]

    def _tree(self) -> etree._Element | None:
        if self.kind == "html":
            return parse(self.content)
        if self.kind == "bytes":
            return parse(self.content.encode("latin-1"), "text/html")
        if self.kind == "tree":
            return _grown(self.content)
        parser: etree.HTMLParser[etree._Element] | etree.XMLParser[etree._Element]
        if self.kind == "raw":
            parser, body = etree.HTMLParser(encoding="utf-8", huge_tree=True), self.content.encode("latin-1")
        else:
            parser = etree.XMLParser(
                recover=True, resolve_entities=not self.keeps_entities, strip_cdata=False, no_network=True
            )
            body = self.content.encode("utf-8", "replace")
        try:
            root: etree._Element | None = etree.fromstring(body, parser)
        except etree.XMLSyntaxError:
            return None
        return root

    def pieces(self) -> list[str]:
        """Return the nodes of a tree, the lines of a script, or the characters of other content."""
        return self.content.splitlines() if self.kind in IN_LINES else list(self.content)

    def with_pieces(self, pieces: list[str]) -> Case:
        """Return a case of the same kind with different content."""
        return replace(self, content=("\n" if self.kind in IN_LINES else "").join(pieces))

    def written(self) -> str:
        """Return the case as JSON in ASCII."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def read(cls, text: str) -> Case:
        """Return the case from the result of written()."""
        return cls(**json.loads(text))


def node_line(parent: int, kind: str, tag: str, attributes: dict[str, str], text: str, tail: str) -> str:
    """Return a line of a ``tree``. *kind* is ``element``, ``comment``, ``pi`` or ``entity``."""
    return json.dumps([parent, kind, tag, attributes, text, tail])


def _grown(content: str) -> etree._Element | None:
    """Return the tree that the lines describe, without nodes that lxml refuses."""
    elements: list[etree._Element] = []
    for line in content.splitlines():
        parent, kind, tag, attributes, text, tail = json.loads(line)
        try:
            if not elements:
                elements.append(etree.Element(tag, attributes))
                elements[0].text = text
                continue
            above = elements[parent % len(elements)]
            if kind == "element":
                node = etree.SubElement(above, tag, attributes)
                node.text = text
                elements.append(node)
            else:
                node = _other_node(kind, text)
                above.append(node)
            node.tail = tail
        except ValueError:
            continue
    return elements[0] if elements else None


def _other_node(kind: str, text: str) -> etree._Element:
    if kind == "comment":
        return etree.Comment(text)
    return etree.Entity("eacute") if kind == "entity" else etree.ProcessingInstruction("pi", text)
