"""Walk: the nodes of a tree in their order, without recursion."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree


class Walk:
    """The nodes of a tree in their order: elements at their ``start`` and their ``end``, any ``other`` node once.

    O(nodes), whatever the depth. ``etree.iterwalk`` takes time with the square of the comments side by side.
    """

    def __init__(self, root: etree._Element) -> None:
        self._root = root
        #: Set this at the start of an element to pass over what is inside.
        self.skips = False

    def __iter__(self) -> Iterator[tuple[str, etree._Element]]:
        yield "start", self._root
        stack = [(self._root, self._inside(self._root))]
        while stack:
            element, children = stack[-1]
            for child in children:
                if isinstance(child.tag, str):
                    yield "start", child
                    stack.append((child, self._inside(child)))
                    break
                yield "other", child
            else:
                stack.pop()
                yield "end", element

    def _inside(self, element: etree._Element) -> Iterator[etree._Element]:
        skips, self.skips = self.skips, False
        return iter(()) if skips else element.iterchildren()
