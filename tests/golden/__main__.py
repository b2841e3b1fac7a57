"""Compare the current fingerprints and explanations with the committed ones; ``--write`` replaces them.

python -m tests.golden [--write]
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser

from tests.golden import explanations, recipe


def main() -> int:
    """Return 0 if nothing has changed or the changes were written."""
    parser = ArgumentParser("python -m tests.golden", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="replace what is committed")
    write = parser.parse_args().write
    changes = recipe.changes(recipe.made(), recipe.committed())
    print(*changes, sep="\n")
    print(f"{len(changes)} fingerprints differ from {recipe.FILE.name}")
    differing = explanations.changes()
    print(*differing, sep="\n")
    print(f"{len(differing)} files differ in {explanations.FOLDER.name}")
    if write:
        recipe.write(recipe.made())
        explanations.write(explanations.made())
        return 0
    return 1 if changes or differing else 0


if __name__ == "__main__":
    sys.exit(main())
