"""Draw what the demo prints: ``python picture.py [FILE]``, by default the picture in the README.

The site is crawled one page after another, so that the same page is the original each time. Of the report the picture
has the cluster of one story and the sums.
"""

from __future__ import annotations

import argparse
import re
from html import escape
from pathlib import Path

from crawler.running import items_of
from demo import SPIDER, crawl, report, summary
from magazine.server import serving
from magazine.truth import Truth

PICTURE = Path(__file__).parents[1] / "docs" / "demo.svg"
#: Which story's cluster is shown.
STORY = "night-pilot"
COMMAND = "$ make demo"
NO_BREAK = "\u00a0"

#: Pixels: a character is WIDTH wide, as the picture says to whoever draws it.
WIDTH, HEIGHT, MARGIN = 8.4, 20, 20
COLOURS = {
    "ground": "#111827",
    "text": "#e5e7eb",
    "dim": "#9ca3af",
    "original": "#6ee7b7",
    "number": "#fcd34d",
}


def shown(lines: list[str]) -> list[str]:
    """Return what the picture has of *lines*, the report: its title, the cluster of STORY and the sums.

    The time is left out: one page after another takes longer than a demo does.
    """
    starts = [number for number, line in enumerate(lines) if re.match(r"  \S", line)]
    ends = [*starts[1:], lines.index("", starts[0])]
    clusters = [lines[start:end] for start, end in zip(starts, ends, strict=True)]
    cluster = max((one for one in clusters if STORY in one[0]), key=len)
    sums = next(number for number, line in enumerate(lines) if re.match(r"\d+ pages in ", line))
    return [
        COMMAND,
        "",
        lines[0],
        "",
        *cluster,
        "  ...",
        "",
        lines[sums].partition(" in ")[0],
        *lines[sums + 1 : sums + 6],
    ]


def drawn(lines: list[str]) -> str:
    """Return an SVG picture of *lines* as a terminal shows them."""
    width = round(2 * MARGIN + WIDTH * max(map(len, lines)))
    height = 2 * MARGIN + HEIGHT * len(lines)
    rows = [
        f'<text x="{MARGIN}" y="{y}" textLength="{WIDTH * len(line):.1f}">{coloured(line)}</text>'
        for y, line in zip(range(MARGIN + 14, height, HEIGHT), lines, strict=False)
        if line
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"',
            ' font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14">',
            "<title>What make demo prints</title>",
            f'<rect width="{width}" height="{height}" rx="10" fill="{COLOURS["ground"]}"/>',
            f'<g fill="{COLOURS["text"]}">',
            *rows,
            "</g>",
            "</svg>",
            "",
        ]
    )


def coloured(line: str) -> str:
    """Return *line* as SVG, its first number or path in the colour of its kind.

    Its spaces do not break: of others a picture keeps one.
    """
    line = line.replace(" ", NO_BREAK)
    for pattern, colour in (
        (r"(\s\s)([/\w]\S*)", "original"),
        (r"(\s{4})(\d+\sbits)", "dim"),
        (r"(\s*)(\d+)(?=\s)", "number"),
        (r"()(\$\s.*)", "dim"),
    ):
        if match := re.match(pattern, line):
            span = f'<tspan fill="{COLOURS[colour]}">{escape(match[2], quote=False)}</tspan>'
            return f"{match[1]}{span}{escape(line[match.end() :], quote=False)}"
    return escape(line, quote=False)


def main() -> int:
    """Crawl the site and write the picture."""
    parser = argparse.ArgumentParser(description="Draw what the demo prints as an SVG picture.")
    parser.add_argument(
        "file", nargs="?", type=Path, default=PICTURE, help="where to (default: docs/demo.svg)"
    )
    file = parser.parse_args().file
    with serving() as server:
        stats = crawl(server.url)
    lines = report(summary(items_of(SPIDER), stats, Truth.load())).splitlines()
    file.write_text(drawn(shown(lines)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
