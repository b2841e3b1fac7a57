"""Checks: how many of the requests that need not be sent to a host are sent all the same, to check its rules."""

from __future__ import annotations

#: At most one in so many requests is a check, and one for each doubling of what rules match.
EXPLORED = 20
#: But one of so many matches is a check in any case, so that what was skipped since the last one is still kept to be
#: sent; or one of so many times the matches of a request that is sent, so that what the checks bring comes to an end.
MOST_UNCHECKED, UNCHECKED_OF_SENT = 500, 20


class Checks:
    """Counts of one host. The bound is on what is sent, never on the links seen."""

    __slots__ = ("_explored", "_unchecked", "matched", "requests", "sent")

    def __init__(self) -> None:
        #: Requests that were sent to the host, where that is known.
        self.requests = 0
        #: Requests that were sent although they need not be.
        self.sent = 0
        #: Requests that rules matched.
        self.matched = 0
        self._explored = self._unchecked = 0

    def is_overdue(self) -> bool:
        """Tell whether one more is to be sent whatever else holds; to be asked once."""
        self._unchecked += 1
        if self._unchecked < max(MOST_UNCHECKED, UNCHECKED_OF_SENT * self.matched // max(1, self.requests)):
            return False
        self._unchecked = 0
        return True

    def is_due(self) -> bool:
        """Tell whether one more is to be sent; to be asked once."""
        if (self._explored - self.matched.bit_length()) * EXPLORED >= self.requests:
            return False
        self._explored += 1
        return True

    def use_up(self) -> None:
        """Take all that may have been sent by now as sent."""
        self._explored = self.matched.bit_length() + self.requests // EXPLORED
