"""Walk over an lxml tree in linear time; the iterators of lxml are quadratic on some pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from lxml import etree


class Walk:
    """The nodes of a tree in document order: elements at their ``start`` and ``end``, any ``other`` node once.

    O(nodes), at any depth. ``etree.iterwalk`` is quadratic in adjacent comments.
    """

    def __init__(self, root: etree._Element) -> None:
        self._root = root
        #: Set to true at the start of an element to skip its content.
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


def elements(root: etree._Element, *tags: str, limit: int) -> Iterator[etree._Element]:
    """Yield the first *limit* elements with one of *tags*, in document order. O(nodes).

    When lxml frees an element, it walks up to the nearest ancestor in use. Keeping the parents in use reduces this
    walk from one step per level to a single step.
    """
    parents = []
    for element in islice(root.iter(*tags), limit):
        parents.append(element.getparent())
        yield element


def texts(element: etree._Element, max_nodes: int) -> Iterator[str]:
    """Yield the texts of the first *max_nodes* nodes in *element*. O(max_nodes).

    ``itertext()`` is quadratic in adjacent comments, and unbounded.
    """
    for event, node in islice(Walk(element), 2 * max_nodes):
        text = node.text if event == "start" else None if node is element else node.tail
        if text:
            yield text


def beginning(element: etree._Element, max_nodes: int, max_length: int) -> str:
    """Return the text of the first *max_nodes* nodes of *element*, at most *max_length* characters."""
    text = ""
    for part in texts(element, max_nodes):
        text += part[: max_length - len(text)]
        if len(text) == max_length:
            break
    return text


class AnyAncestor:
    """Tests whether an element or one of its ancestors meets a condition, testing each element once.

    O(nodes) for all elements of a page, instead of O(nodes x depth). Create an instance per page, because it stores
    the results.
    """

    def __init__(self, test: Callable[[etree._Element], bool]) -> None:
        self._test = test
        self._known: dict[etree._Element, bool] = {}

    def __call__(self, element: etree._Element | None) -> bool:
        """Return whether *element* or one of its ancestors passes the test; False for None."""
        path = []
        while element is not None and element not in self._known:
            path.append(element)
            element = element.getparent()
        is_found = element is not None and self._known[element]
        for element in reversed(path):
            is_found = is_found or self._test(element)
            self._known[element] = is_found
        return is_found
