"""Actions: the parts of a page that are dropped, and their names in settings and meta."""

from __future__ import annotations

from enum import Flag


class Action(Flag):
    """The parts of a page that are dropped.

    >>> Action.DROP_LINKS in Action.DROP_PAGE, Action.DROP_ITEMS in Action.MARK
    (True, False)
    """

    MARK = 0
    """Nothing is dropped."""
    DROP_ITEMS = 1
    """The items of the page are dropped; the callback runs."""
    DROP_LINKS = 2
    """The requests of the page are dropped; the callback runs."""
    DROP_PAGE = 7
    """The callback does not run, so there are no items and no requests."""

    @classmethod
    def named(cls, words: object) -> Action:
        """Return the action for *words*: a name in `ACTIONS`, several names separated by commas, or a list of names.

        Several actions are combined. Raises ValueError for any other value.

        >>> Action.named("drop_items, drop_links") == Action.DROP_ITEMS | Action.DROP_LINKS
        True
        """
        if isinstance(words, str):
            words = words.split(",")
        if not isinstance(words, list | tuple | set | frozenset):
            raise ValueError(f"not an action: {words!r}")
        parts = [word.strip() if isinstance(word, str) else word for word in words]
        if not parts or any(part not in ACTIONS for part in parts):
            raise ValueError(f"not an action: {words!r}")
        action = cls.MARK
        for part in parts:
            action |= cls[part.upper()]
        return action

    def keeping_links(self) -> Action:
        """Return the action without its effect on links.

        >>> str(Action.DROP_PAGE.keeping_links()), str(Action.DROP_LINKS.keeping_links())
        ('drop_items', 'mark')
        """
        return Action.DROP_ITEMS if Action.DROP_ITEMS in self else Action.MARK

    def __str__(self) -> str:
        """Return the name used in settings and meta.

        >>> str(Action.DROP_ITEMS | Action.DROP_LINKS), str(Action.MARK)
        ('drop_items,drop_links', 'mark')
        """
        # In Python 3.10 a combination of flags has no name.
        is_both = self == Action.DROP_ITEMS | Action.DROP_LINKS
        return "drop_items,drop_links" if is_both else str(self.name).lower()


#: Names of actions.
ACTIONS = ("mark", "drop_items", "drop_links", "drop_page")
