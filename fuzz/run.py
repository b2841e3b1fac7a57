"""Read inputs that nobody wrote with the compiled kernel and with pure Python; both must say the same.

    python fuzz/run.py --seconds 30              # as long as you like; --json for programs
    python fuzz/run.py --seconds 300 --sanitize  # with the compiler's sanitizers: Linux with gcc
    python fuzz/run.py --threads 4               # inputs read at once in threads, and in forks
    python fuzz/run.py --replay FILE             # read one reproducer again

Exit status 1, and a file that reproduces it, for every difference and every crash; 2 where it cannot run.
The same seed makes the same cases, as many as the time allows.
"""

from __future__ import annotations

import sys
from pathlib import Path

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "example_project"))

from fuzz.watch import main

if __name__ == "__main__":
    sys.exit(main("pages", (__doc__ or "").partition("\n")[0]))
