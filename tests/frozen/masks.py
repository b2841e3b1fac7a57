"""What differs from run to run, or from machine to machine, and is masked: ports, folders, times, durations."""

from __future__ import annotations

import re

#: In this order.
MASKS = (
    (r"(127\.0\.0\.1|localhost):\d+", r"\1:PORT"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?", "TIME"),
    (r"\b\d+(\.\d+)? (ms|seconds?|s)\b", "SECONDS"),
    (r"\b[\d,]+ bytes", "SIZE bytes"),
    # It is made of the key of a page, whose URL has a port.
    (r"\"id\": \"[0-9a-f]{16}\"", '"id": "ID"'),
    # How many requests the URL rule of the example saved depends on chance.
    (r"(29, 0, 1790000000, |29 +1\.7 % +|\"saved\": )\d+", r"\1SAVED"),
    (r'"(\w*time|\w*seconds|bytes|at|began|ended|first_seen|last_seen)": [\d.]+', r'"\1": NUMBER'),
)


def masked(text: str, folder: str) -> str:
    """Return *text* without what depends on the run; *folder* is where it ran."""
    text = text.replace(folder, "FOLDER")
    for pattern, mask in MASKS:
        text = re.sub(pattern, mask, text)
    return text
