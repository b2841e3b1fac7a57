"""The figures of ``kernel`` as a person reads them, beside what is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.lib.readers import NATIVE, PURE
from benchmarks.lib.report import opening, table

WAYS = ("to fingerprint", "to fingerprint, no sketch", "to document", "main text to fingerprint")

#: What is wanted: at most so much of the parse, at most so many microseconds.
WANTED_SHARE = {NATIVE: 0.15, PURE: 1.0}
WANTED_US = {"English, 1,000 words": 40.0, "Chinese, 2,000 characters": 40.0}


def pages_as_text(result: Mapping[str, Any], kernels: Sequence[str]) -> str:
    """Return the table of the pages."""
    rows = [["parse (Scrapy's own)", *_page_cells(result["parse"]), ""]]
    for kernel in kernels:
        for way in WAYS:
            wanted = f"<= {WANTED_SHARE[kernel]:g}" if way == WAYS[0] else ""
            rows.append([f"{kernel}: {way}", *_page_cells(result[kernel][way]), wanted])
    head = ["a page", "median ms", "mean ms", "sums / parse", "median of ratios", "wanted"]
    size = result["bytes"]
    return "\n".join(
        [
            f"PAGES: {result['pages']}, median {size['median']:,.0f}, mean {size['mean']:,.0f} bytes",
            table(head, rows),
        ]
    )


def _page_cells(one: Mapping[str, float]) -> list[str]:
    return [
        f"{one['median_ms']:.3f}",
        f"{one['mean_ms']:.3f}",
        f"{one['ratio_of_sums']:.3f}",
        f"{one['median_ratio']:.3f}",
    ]


def texts_as_text(result: Mapping[str, Any]) -> str:
    """Return the table of the texts, and who is not in it."""
    sets = result["texts"]
    sizes = [
        ["set", "texts", "characters", "bytes"],
        *(
            [
                f"{one['short']}: {one['name']}",
                f"{one['texts']}",
                f"{one['characters']:,.0f}",
                f"{one['bytes']:,.0f}",
            ]
            for one in sets
        ),
    ]
    lines = ["TEXTS: microseconds for the median text", table(sizes[0], sizes[1:]), ""]
    names = list(sets[0]["microseconds"]) if sets else []
    head = ["", *(one["short"] for one in sets)]
    rows = [[name, *(_us(one["microseconds"][name]) for one in sets)] for name in names]
    rows.append(["wanted of native", *(_us(WANTED_US.get(one["name"]), "<= ") for one in sets)])
    lines.append(table(head, rows))
    failed = {f"{name} raised {reason}" for one in sets for name, reason in one["failed"].items()}
    missing = [f"{name} is missing: {reason}" for name, reason in result.get("missing", {}).items()]
    return "\n".join([*lines, *sorted(failed), *missing])


def _us(value: float | None, before: str = "") -> str:
    return "-" if value is None else f"{before}{value:,.1f}" if value < 100 else f"{before}{value:,.0f}"


def as_text(result: Mapping[str, Any]) -> str:
    """Return *result* as a person reads it."""
    kernels = result["kernels"]
    parts = [
        f"{opening(result)}\nfrom {result['from']},"
        f" {result['repeats']} rounds; kernels: {', '.join(kernels)}",
        pages_as_text(result["pages"], kernels),
        texts_as_text(result),
    ]
    extraction = result.get("extraction")
    if extraction:
        rows = [
            [
                name,
                f"{one['median_ms']:.2f}",
                f"{one['trafilatura_by_sums']:.1f}",
                f"{one['trafilatura_by_median_ratio']:.1f}",
            ]
            for name, one in extraction.items()
        ]
        head = ["bytes to main text", "median ms", "trafilatura / it, sums", "median of ratios"]
        parts.append(f"EXTRACTION, parse included\n{table(head, rows)}")
    threads = result["threads"]
    rows = [
        [
            f"{kernel}: {what}",
            *(f"{one['per_second'][number]:,.0f}" for number in ("1", "2")),
            f"{one['speed_up']['median']:.2f}",
            f"{one['speed_up']['least']:.2f} to {one['speed_up']['greatest']:.2f}",
        ]
        for kernel in kernels
        for what, one in threads[kernel].items()
    ]
    parts.append(
        f"THREADS: {threads['pages']} pages of {threads['median_bytes']:,.0f} bytes, {threads['texts']} texts of"
        f" {threads['text_bytes']:,.0f} (medians); {threads['cores']} cores\n"
        + table(["a second", "1 thread", "2 threads", "2 / 1", "range"], rows)
    )
    memory = result["memory"]
    if memory is None:
        parts.append("MEMORY: this system does not tell how much a process has")
    else:
        columns = ("first_pages", "same_again", "huge_page")
        rows = [
            [kernel, *(f"{memory[kernel][column] / 1024:,.0f}" for column in columns)] for kernel in kernels
        ]
        head = [
            "growth in KiB",
            f"{memory['pages']:,} pages",
            "the same again",
            f"a page of {memory['huge_bytes'] / 1e6:.0f} MB",
        ]
        parts.append(f"MEMORY\n{table(head, rows)}")
    return "\n\n".join(parts)
