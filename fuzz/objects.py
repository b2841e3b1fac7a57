"""Call the objects of the compiled modules in wrong orders and with wrong arguments; they may only raise exceptions.

    python fuzz/objects.py --seconds 30              # as long as you like; --json for programs
    python fuzz/objects.py --seconds 300 --sanitize  # with sanitizers: Linux with gcc
    python fuzz/objects.py --replay FILE             # make the calls of one reproducer again

Objects, calls and arguments are drawn. Exit status 1, and a file with the calls, for a crash, a SystemError, an
exception that nothing can catch and an index that is not what it should be; 2 where it cannot run. The same seed
makes the same calls, as many as the time allows.
"""

from __future__ import annotations

import sys
from pathlib import Path

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "example_project"))

from fuzz.watch import main

if __name__ == "__main__":
    sys.exit(main("objects", (__doc__ or "").partition("\n")[0]))
