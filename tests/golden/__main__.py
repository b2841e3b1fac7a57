"""Compare today's fingerprints with the committed ones: ``python -m tests.golden``; ``--write`` replaces them."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path


def main() -> int:
    """Return 0 when nothing has changed, or what has was written."""
    parser = ArgumentParser("python -m tests.golden", description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace the committed fingerprints")
    write = parser.parse_args().write
    # As pytest does, see pyproject.toml.
    sys.path.insert(0, str(Path(__file__).parents[2] / "example_project"))
    from tests.golden import recipe

    changes = recipe.changes(recipe.made(), recipe.committed())
    print(*changes, sep="\n")
    print(f"{len(changes)} fingerprints differ from {recipe.FILE.name}")
    if write:
        recipe.write(recipe.made())
        return 0
    return 1 if changes else 0


if __name__ == "__main__":
    sys.exit(main())
