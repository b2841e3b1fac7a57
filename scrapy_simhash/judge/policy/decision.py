"""RequestedAction and Decision: what is asked for, and what is done."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from scrapy_simhash.action import Action


class Exemption(str, Enum):
    """Why the action that was asked for was not applied to a page, or only a part of it."""

    MIN_DEPTH = "min_depth"
    """It is nearer to the start than ``SIMHASH_MIN_DEPTH``."""
    URL = "url"
    """``SIMHASH_ACTION_ALLOW``, ``SIMHASH_ACTION_DENY`` or their ``_DOMAINS`` settings exclude its URL."""
    ITSELF = "itself"
    """It has the same URL as the page that it repeats: another request for the same one."""
    BUDGET = "budget"
    """It is among the first ``SIMHASH_CLUSTER_BUDGET`` pages of its cluster."""
    START = "start"
    """The links of a start page are followed."""
    LISTING = "listing"
    """The links of a page that lists others are followed."""
    PAGINATION = "pagination"
    """It is another page of the same listing."""
    LANGUAGE = "language"
    """It is the same page for readers of another language or country."""
    PRODUCT = "product"
    """It is about a thing on sale, perhaps in another size or colour."""


class RequestedAction(NamedTuple):
    """What is asked for."""

    action: Action
    is_explicit: bool = False
    """Whether the request itself asks for it, not the settings."""


class Decision(NamedTuple):
    """What is done about a page, and why not more."""

    action: Action | None
    """None when there was no question: the page repeats nothing, and is not known to be as it was."""
    exemption: Exemption | None = None
    """Why the page was spared what was asked for, or its links were; None if it was not."""

    @property
    def loses_items(self) -> bool:
        """Whether the items of the page are dropped."""
        return self.action is not None and Action.DROP_ITEMS in self.action

    @property
    def loses_links(self) -> bool:
        """Whether the requests of the page are dropped."""
        return self.action is not None and Action.DROP_LINKS in self.action
