"""Parse and format times, in whole seconds of Unix time."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from functools import lru_cache

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
#: First and last second of the years 1 to 9999.
_FIRST, _LAST = -62_135_596_800, 253_402_300_799


@lru_cache(maxsize=256)
def written(seconds: int) -> str | int:
    """Return a time in ISO 8601, in UTC; outside the years 1 to 9999, return the number.

    >>> written(1_790_000_000), written(2**62)
    ('2026-09-21T14:13:20Z', 4611686018427387904)
    """
    if not _FIRST <= seconds <= _LAST:
        return seconds
    return f"{(_EPOCH + timedelta(seconds=seconds)).isoformat().removesuffix('+00:00')}Z"


def parsed(value: object) -> int:
    """Return the Unix time in *value*: a number of seconds, or an ISO 8601 date and time (UTC without a time zone).

    Fractions of a second are dropped. Raises ValueError for any other value.

    >>> parsed("2026-09-21T14:13:20Z"), parsed("2026-09-21 16:13:20.5+02:00"), parsed("1790000000.5")
    (1790000000, 1790000000, 1790000000)
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _whole(value)
    if not isinstance(value, str):
        raise ValueError("is not a number of seconds or a date")
    text = value.strip()
    try:
        return _whole(float(text))
    except ValueError:
        pass
    try:
        # Python 3.10 parses neither a final Z nor every number of decimal places.
        moment = datetime.fromisoformat(re.sub(r"[.,]\d+", "", re.sub("[Zz]$", "+00:00", text)))
    except ValueError:
        raise ValueError("is not a number of seconds or a date like 2026-09-21T14:13:20Z") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return (moment - _EPOCH) // timedelta(seconds=1)


#: Number of seconds in each unit.
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400}


def duration(text: str) -> int:
    """Return the seconds in *text*: a number and a unit, ``s``, ``m``, ``h``, ``d`` or ``w``. Raises ValueError.

    >>> duration("6h"), duration("30d"), duration("90s")
    (21600, 2592000, 90)
    """
    found = re.fullmatch(r"([0-9]{1,6})([smhdw])", text.strip())
    if found is None:
        raise ValueError("is not a number with a unit, such as 6h or 30d")
    return int(found[1]) * _UNITS[found[2]]


def _whole(seconds: float) -> int:
    if not _FIRST <= seconds <= _LAST:
        raise ValueError("is not within the years 1 to 9999")
    return int(seconds // 1)
