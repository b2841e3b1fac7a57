"""Prepare and check a release: ``python packages/release.py prepare 0.2.0``, later ``check v0.2.0``.

The version stands in ``scrapy_simhash/__init__.py`` and nowhere else; a release is a tag with a ``v`` before it.
``prepare`` writes the version, gathers the fragments of ``changelog.d/`` in ``CHANGES.md`` and deletes them.
``check`` says what stands against publishing what is tagged; the workflow that publishes runs it first.
"""

from __future__ import annotations

import argparse
import re
import sys
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: The kinds of fragments, in the order of the headings.
KINDS = ("added", "changed", "fixed", "removed")
_VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)
_URLS = re.compile(r"^\[project\.urls\]\n(.*?)(?=^\[)", re.MULTILINE | re.DOTALL)


class Refused(Exception):
    """What was asked for cannot be done; the message says why."""


def version_of(root: Path) -> str:
    """Return the version of the package in the checkout *root*."""
    found = _VERSION.search((root / "scrapy_simhash" / "__init__.py").read_text("utf-8"))
    if found is None:
        raise Refused("scrapy_simhash/__init__.py has no __version__")
    return found[1]


def fragments_of(root: Path) -> list[Path]:
    """Return the fragments, by kind and then by name."""
    return [path for kind in KINDS for path in sorted((root / "changelog.d").glob(f"*.{kind}.md"))]


def prepare(root: Path, version: str, day: str) -> None:
    """Write *version* and its changes, released on *day*.

    Raises Refused, before anything is written, if there is nothing to release, or if fragments are left beside a
    section that is already written: the first version has one, which tells what there is and not what changed.
    """
    path = root / "CHANGES.md"
    changes = path.read_text("utf-8")
    fragments = fragments_of(root)
    heading = f"## {version} ({day})\n"
    written = f"## {version} (unreleased)\n"
    if written in changes:
        if fragments:
            names = ", ".join(fragment.name for fragment in fragments)
            raise Refused(
                f"CHANGES.md has a text for {version}: write what is new of {names} into it, delete them"
            )
        changes = changes.replace(written, heading)
    elif f"## {version} (" in changes:
        raise Refused(f"CHANGES.md has {version} already")
    elif not fragments:
        raise Refused("changelog.d/ has no fragments: nothing has changed since the last release")
    else:
        section = heading
        for kind in KINDS:
            texts = [p.read_text("utf-8") for p in fragments if p.name.endswith(f".{kind}.md")]
            if texts:
                section += f"\n### {kind.capitalize()}\n\n"
                section += "".join(f"- {' '.join(text.split())}\n" for text in texts)
        changes = re.sub(r"^## ", lambda _: f"{section}\n## ", changes, count=1, flags=re.MULTILINE)
    path.write_text(changes, "utf-8")
    package = root / "scrapy_simhash" / "__init__.py"
    package.write_text(
        _VERSION.sub(f'__version__ = "{version}"', package.read_text("utf-8")), "utf-8", newline="\n"
    )
    for fragment in fragments:
        fragment.unlink()


def problems(root: Path, tag: str) -> list[str]:
    """Return what stands against publishing the checkout *root* under *tag*, a sentence each."""
    version = version_of(root)
    changes = (root / "CHANGES.md").read_text("utf-8")
    urls = _URLS.search((root / "pyproject.toml").read_text("utf-8"))
    given = [line for line in (urls[1] if urls else "").splitlines() if line and not line.startswith("#")]
    found = []
    if tag != f"v{version}":
        found.append(f"The tag is {tag}, but scrapy_simhash.__version__ is {version}: it must be v{version}.")
    if not re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", changes, re.MULTILINE):
        found.append(
            f"CHANGES.md has no section {version} with a date: python packages/release.py prepare {version}"
        )
    if left := fragments_of(root):
        found.append(f"changelog.d/ still has {len(left)} fragments, such as {left[0].name}.")
    if not given:
        found.append("[project.urls] in pyproject.toml is empty: fill in the addresses of the project.")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit status: 0, or 1 with sentences on standard error."""
    parser = argparse.ArgumentParser(description="Prepare a release, or check what is tagged.")
    commands = parser.add_subparsers(dest="command", required=True)
    preparing = commands.add_parser("prepare", help="write version and changes")
    preparing.add_argument("version", help="such as 0.2.0")
    checking = commands.add_parser("check", help="say what stands against publishing")
    checking.add_argument("tag", help="such as v0.2.0")
    options = parser.parse_args(arguments)
    try:
        if options.command == "prepare":
            prepare(ROOT, options.version, datetime.now(timezone.utc).date().isoformat())
            return 0
        found = problems(ROOT, options.tag)
    except Refused as error:
        found = [str(error)]
    print(*found, sep="\n", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
