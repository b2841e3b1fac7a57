"""What programs print that kill processes and look for faults."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from benchmarks.lib.report import opening, table

#: Faults of which a table tells more than the number.
SHOWN = 20


def show(result: dict[str, Any], counts: Sequence[str], *, as_json: bool) -> int:
    """Print *result*: the *counts* in it as a table, or all of it as JSON; return 1 if there are faults, else 0."""
    faults = result["faults"]
    if as_json:
        print(json.dumps(result, indent=2))
    else:
        row = [*(f"{result[name]:,}" for name in counts), str(len(faults))]
        print("\n".join([opening(result), "", table([*counts, "faults"], [row])]))
        for fault in faults[:SHOWN]:
            print(f"  {fault}")
    return int(bool(faults))
