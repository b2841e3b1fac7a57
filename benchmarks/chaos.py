"""Tell whether stores keep their promises while crawlers are killed, disks are full and connections are cut.

    python benchmarks/chaos.py                                  # SQLite and Redis, 20 seconds each
    python benchmarks/chaos.py --seed 7 --seconds 300 --stores redis
    python benchmarks/chaos.py --seed 7 --plan                  # what would happen, and when

Several crawlers, each a process, claim pages whose cluster is known, in one store: a file that one of them at a time
can write to, or a ``redis-server`` behind a proxy. A plan that is drawn from the seed lets things go wrong:

* crawlers are killed (SIGKILL) and replaced by others, or stopped (SIGSTOP) and continued;
* no file of a crawler may grow (RLIMIT_FSIZE, as with a full disk or a quota; on Linux only);
* the server is killed and started again, stopped, or full (``maxmemory``);
* connections are cut again and again, cut in the middle of a reply, held up, or deliver a few bytes at a time.

When all of it has passed, every crawler must get an answer again. Then they end, and of everything they were told:

* a page of which a claim was acknowledged is in the store, as of that claim or a later one;
* of each cluster at most one page was called new, and one if all claims were answered; all got the same cluster;
* no page was called a duplicate of itself, or of a page of another cluster;
* no page was called settled that no run has delivered and ended in order, or that was taken back since;
* no page was called live long after the crawlers had ended that claimed it;
* no crawler has ended by itself, and the store opens, and ``info --check`` finds nothing damaged in it.

The program ends with status 1 if anything is otherwise. A seed has one plan; what exactly is under way when a fault
comes is up to the machine. Not tested: a power failure, several machines.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.chaos_plan import REDIS, SQLITE, plan
from benchmarks.lib.chaos_stage import stage
from benchmarks.lib.report import environment, opening, progress, table

STORES = (SQLITE, REDIS)
#: Faults of which a table tells more than the number.
SHOWN = 20


def run(store: str, seed: int, seconds: float, crawlers: int) -> dict[str, Any]:
    """Return what came of the plan of *seed* for a *store*."""
    faults = plan(store, seed, seconds, crawlers)
    with (
        tempfile.TemporaryDirectory() as folder,
        stage(store, Path(folder), crawlers, seed) as (play, means),
    ):
        play.act(faults, means, lambda begun: progress(f"{store}: fault {begun} of {len(faults)} ..."))
        found = play.end()
    progress("")
    ledger = play.ledger
    return {
        "plan": dict(Counter(fault.kind for fault in faults)),
        "lives": ledger.lives,
        "tried": len(ledger.tries),
        "acknowledged": ledger.heard.total(),
        "refused": ledger.refused.total(),
        "pages": play.pages,
        "faults": found,
    }


def as_text(result: dict[str, Any]) -> str:
    """Return *result* as a person reads it."""
    head = ["lives", "tried", "acknowledged", "refused", "pages"]
    stores = result["stores"]
    rows = [
        [store, *(f"{one[name]:,}" for name in head), str(len(one["faults"]))]
        for store, one in stores.items()
    ]
    faults = [f"  {store}: {fault}" for store, one in stores.items() for fault in one["faults"][:SHOWN]]
    plans = [
        f"{store}: " + ", ".join(f"{count} x {kind}" for kind, count in sorted(one["plan"].items()))
        for store, one in stores.items()
    ]
    return "\n".join([opening(result), "", table(["", *head, "faults"], rows), *faults, "", *plans])


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, let things go wrong, print a table or JSON; 1 if anything is not as it should be."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0, help="which plan (default: 0)")
    parser.add_argument("--seconds", type=float, default=20, help="for each store (default: 20)")
    parser.add_argument("--crawlers", type=int, default=3, metavar="N", help="at once (default: 3)")
    parser.add_argument("--stores", nargs="+", choices=STORES, default=STORES, help="default: sqlite redis")
    parser.add_argument("--plan", action="store_true", help="print the plan only, as JSON lines")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(given)
    if options.plan:
        for store in options.stores:
            for fault in plan(store, options.seed, options.seconds, options.crawlers):
                print(json.dumps({"store": store, **fault._asdict()}))
        return 0
    result: dict[str, Any] = {
        **environment(__file__, given),
        "stores": {
            store: run(store, options.seed, options.seconds, options.crawlers) for store in options.stores
        },
    }
    print(json.dumps(result, indent=2) if options.json else as_text(result))
    return int(any(one["faults"] for one in result["stores"].values()))


if __name__ == "__main__":
    sys.exit(main())
