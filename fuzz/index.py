"""Live random lives of an index on the C extension and as a scan; both must give the same answers.

    python fuzz/index.py --seconds 30              # as long as you like; --json for programs
    python fuzz/index.py --seconds 300 --sanitize  # with sanitizers, and short of memory: Linux with gcc
    python fuzz/index.py --replay FILE             # live one reproducer again

Plans, limits, values and calls are drawn. Exit status 1, and a file that reproduces it, for every difference, every
broken invariant and every crash; 2 where it cannot run. The same seed makes the same lives, as many as the time
allows.
"""

from __future__ import annotations

import sys
from pathlib import Path

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "example_project"))

from fuzz.watch import main

if __name__ == "__main__":
    sys.exit(main("index", (__doc__ or "").partition("\n")[0]))
