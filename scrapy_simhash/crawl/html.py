"""What is read of an HTML response: the tree that the spider gets as well, and the language its head names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from scrapy.http import HtmlResponse, Response


def tree_of(response: Response) -> Any:
    """Return the root of the tree, the very one that the spider gets; None for JSON that calls itself HTML."""
    root = cast("HtmlResponse", response).selector.root
    return root if hasattr(root, "iter") else None


def language_of(response: Response) -> str:
    """Return the value of ``Content-Language``, empty if there is none."""
    return (response.headers.get(b"Content-Language") or b"").decode("latin-1")
