"""Compare today's behaviour with the committed one, file by file; ``--write`` replaces what is committed.

python -m tests.frozen [--write] [--new-stores]

What is frozen, each as text in ``held/``: verdicts, meta, flags, stats and log lines of crawls of the example site;
outputs, exit statuses and errors of the commands; what today makes of a store and an export that are committed.
Ports, times, folders and seconds are masked. Write anew only in a commit of its own that says what changed and why.
The store and the export stay as they are until a layout can no longer be read: ``--new-stores`` makes them anew.
"""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import ArgumentParser
from difflib import unified_diff
from pathlib import Path

HELD = Path(__file__).with_name("held")


def main() -> int:
    """Return 0 when nothing has changed, or what has was written."""
    parser = ArgumentParser("python -m tests.frozen", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="replace what is committed")
    parser.add_argument("--new-stores", action="store_true", help="make the store and the export anew first")
    options = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":
        # What is learned of URLs depends a little on the hashes of their parts.
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        return subprocess.run(
            [sys.executable, "-m", "tests.frozen", *sys.argv[1:]], env=environment
        ).returncode
    # As pytest does, see pyproject.toml.
    sys.path.insert(0, str(Path(__file__).parents[2] / "example_project"))
    from tests.frozen import commands, crawls, stores

    if options.new_stores:
        stores.write()
    made = {**crawls.made(), **commands.made(), **stores.made()}
    held = {file.stem: file.read_text("utf-8") for file in HELD.glob("*.txt")}
    changed = [name for name in sorted({*held, *made}) if held.get(name) != made.get(name)]
    for name in changed:
        before, after = (texts.get(name, "").splitlines(keepends=True) for texts in (held, made))
        sys.stdout.writelines(unified_diff(before, after, f"held/{name}.txt", f"today/{name}.txt", n=1))
    print(f"{len(changed)} of {len(made)} files differ")
    if not options.write:
        return 1 if changed else 0
    HELD.mkdir(exist_ok=True)
    for name in changed:
        if name in made:
            (HELD / f"{name}.txt").write_text(made[name], "utf-8")
        else:
            (HELD / f"{name}.txt").unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
