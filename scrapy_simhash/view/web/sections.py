"""The sections of an overview, each a heading, a sentence, a picture and a table; one without data says why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from scrapy_simhash.view.overview.words import EXEMPTIONS, FATES, SKIPPED
from scrapy_simhash.view.web.chart import Bar, bars, meter, steps
from scrapy_simhash.view.web.frame import link, shown

#: Percent of the page that a bar may be wide.
_WIDEST = 4
#: What a cell with a number has.
NUMBER = ' class="n"'
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
#: What stands where a store has nothing to say.
_ONLY_IN_REPORTS = "A store does not keep this. A report does: set <code>SIMHASH_REPORT</code>."


def moment(seconds: int) -> str:
    """Return a time as people read it.

    >>> moment(1_790_000_000)
    '2026-09-21 14:13:20'
    """
    try:
        return str(_EPOCH + timedelta(seconds=seconds))[:19]
    except OverflowError:
        return str(seconds)


def counted(count: int, name: str) -> str:
    """Return *count* with the *name* of what is counted.

    >>> counted(1, "host"), counted(1200, "page")
    ('1 host', '1,200 pages')
    """
    return f"{count:,} {name}" if count == 1 else f"{count:,} {name}s"


def time(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield how many pages came when, and which share of them was new."""
    yield "<h2>Pages over time</h2>"
    given, width = facts["timeline"]["bars"], facts["timeline"]["seconds"]
    if not given:
        yield '<p class="none">No page has a time.</p>'
        return
    first, last = given[0]["start"], given[-1]["start"]
    places = (last - first) // width + 1
    unit = _length(width)
    made = [
        Bar(
            (bar["start"] - first) / width,
            [("new", bar["new"]), ("repeats", bar["near_duplicates"]), ("other", bar["other"])],
            f"{moment(bar['start'])}: {bar['new']:,} new, {bar['near_duplicates']:,} near-duplicates,"
            f" {bar['other']:,} others",
            f"t{number}",
        )
        for number, bar in enumerate(given)
    ]
    yield _legend(("new", "new"), ("repeats", "near-duplicates"), ("other", "others"))
    most = max(_total(bar) for bar in given)
    # A single bar as wide as the page would say nothing.
    yield f'<figure class="chart" style="max-width: max(16rem, {places * _WIDEST}%)">'
    yield f'<span class="top">{most:,} pages in {unit}</span>'
    yield bars(made, places, f"Pages over time, at most {most:,} in {unit}")
    shares = [((bar["start"] - first) / width, bar["new"] / _total(bar)) for bar in given if _total(bar)]
    yield '<span class="top">share that was new, 0 to 100%</span>'
    yield steps(shares, places, "Share of new pages over time")
    yield f'<figcaption class="ends"><span>{moment(first)}</span><span>{moment(last + width)}</span></figcaption>'
    yield "</figure>"
    rows = (
        (
            f"t{number}",
            (
                moment(bar["start"]),
                bar["new"],
                bar["near_duplicates"],
                bar["other"],
                _pair(
                    bar["examples"]["near_duplicates"] or bar["examples"]["new"] or bar["examples"]["other"]
                ),
            ),
        )
        for number, bar in enumerate(given)
    )
    yield from _folded(
        "The same as a table, with an example of each bar",
        ("from (UTC)", "new", "near-duplicates", "others", "example"),
        rows,
    )


def hosts(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield which hosts have the most pages that repeat another one."""
    yield "<h2>Hosts</h2>"
    yield from _shares(facts["hosts"], "host", lambda row: f"<bdi>{shown(row['host'])}</bdi>", "h")


def patterns(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield which URL patterns have the most pages that repeat another one."""
    yield "<h2>URL patterns</h2>"
    yield (
        '<p class="lede">A pattern of which nearly all pages are near-duplicates can often be left out of the'
        " crawl.</p>"
    )
    yield from _shares(
        facts["url_patterns"],
        "pattern",
        lambda row: f"<small><bdi>{shown(row['host'])}</bdi></small><br><code>{shown(row['pattern'])}</code>",
        "u",
    )


def parameters(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield which parameters of URLs change nothing."""
    yield "<h2>Query parameters</h2>"
    if not facts["parameters"]:
        yield '<p class="none">No two URLs differ in one parameter only.</p>'
        return
    yield (
        '<p class="lede">URLs that differ in one parameter only: was it the same page? With'
        ' <code>SIMHASH_URL_RULES = "skip"</code> a crawl learns which parameters change nothing, and saves such'
        " requests.</p>"
    )
    rows = (
        (
            f"q{number}",
            (
                f"<code>{shown(row['parameter'])}</code><br><small><bdi>{shown(row['host'])}</bdi></small>",
                row["same"],
                row["different"],
                _pair(row["same_example"]) + _pair(row["different_example"], "another page"),
            ),
        )
        for number, row in enumerate(facts["parameters"])
    )
    yield from table(("parameter", "same page", "another page", "examples"), rows, shows=10)


def similarity(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield how alike the pages are that were compared."""
    yield "<h2>Similarity</h2>"
    found = facts["similarity"]
    if not found["bins"]:
        yield f'<p class="none">{_no_similarity(facts)}</p>'
        return
    yield (
        '<p class="lede">Pairs of pages by their threshold, the greatest <code>SIMHASH_MIN_SIMILARITY</code> with'
        f" which they are near-duplicates. Identical texts are left out: {found['identical']:,}."
        " Look at the pairs next to the place where the colours meet; <code>scrapy-simhash tune</code> turns your"
        " answers into a setting.</p>"
    )
    yield _legend(
        ("repeats", "near-duplicates"), ("missed", "near misses: new pages, with the most similar page")
    )
    given = found["bins"]
    made = [
        Bar(
            round(one["from"] * 50),
            [("repeats", one["near_duplicates"]), ("missed", one["near_misses"])],
            f"{one['from']:.2f} to {one['to']:.2f}: {one['near_duplicates']:,} near-duplicates,"
            f" {one['near_misses']:,} near misses",
            f"s{round(one['from'] * 100)}",
        )
        for one in given
    ]
    most = max(one["near_duplicates"] + one["near_misses"] for one in given)
    yield '<figure class="chart">'
    yield f'<span class="top">{counted(most, "pair")}</span>'
    yield bars(made, 50, f"Pairs of pages by threshold, most {most:,}")
    yield '<figcaption class="ends">' + "".join(f"<span>{n / 5:g}</span>" for n in range(6)) + "</figcaption>"
    yield "</figure>"
    rows = (
        (
            f"s{round(one['from'] * 100)}",
            (
                f"{one['from']:.2f} to {one['to']:.2f}",
                one["near_duplicates"],
                one["near_misses"],
                "".join(_pair(pair) for pair in one["examples"]["near_duplicates"][:2])
                + "".join(_pair(pair, "near miss") for pair in one["examples"]["near_misses"][:2]),
            ),
        )
        for one in reversed(given)
    )
    yield from _folded(
        "The same as a table, with examples to judge by eye",
        ("threshold", "near-duplicates", "near misses", "examples"),
        rows,
    )


def floods(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield which pages came under very many URLs."""
    yield "<h2>Floods</h2>"
    if not facts["floods"]:
        yield '<p class="none">No page came under 100 URLs of a host or more.</p>'
        return
    rows = (
        (
            f"f{number}",
            (
                f"<bdi>{shown(flood['host'])}</bdi><br><code>{shown(flood['pattern'])}</code>",
                flood["pages"],
                f"{link(flood['first'])}" + "".join(f"<p>{link(url)}</p>" for url in flood["urls"][:3]),
            ),
        )
        for number, flood in enumerate(facts["floods"])
    )
    yield (
        '<p class="lede">One page under many URLs of a host. With <code>SIMHASH_URL_RULES = "skip"</code> a crawl'
        " requests no more of URLs that bring nothing new.</p>"
    )
    yield from table(("host and most frequent pattern", "URLs", "the page, and some of its URLs"), rows)


def actions(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was dropped, and what each other action would have dropped."""
    yield "<h2>What was dropped, and what each action would drop</h2>"
    saved = facts["savings"]
    if facts["action"]:
        rows = (
            (f"a{number}", (f"<code>{shown(action)}</code>", count, _examples(facts, "action", action)))
            for number, (action, count) in enumerate(facts["action"].items())
        )
        yield from table(("done", "pages", "examples"), rows)
    else:
        yield f'<p class="none">{_nothing(facts, "No action was taken.")}</p>'
    if not saved["near_duplicates"]:
        return
    count, same = saved["near_duplicates"], saved["identical"]
    led = saved["led_to"]
    lost = "unknown: no line has a referer" if led is None else f"at most {led:,}"
    lost_new = "" if led is None else f", of which {saved['led_to_new']:,} are new pages"
    every = (
        ("mark", "nothing", "nothing"),
        ("drop_items", f"the items of {counted(count, 'page')}", "nothing"),
        ("drop_links", f"the links of {counted(count, 'page')}", f"{lost}{lost_new}"),
        ("drop_page", f"the callback of {counted(count, 'page')}, so items and links", f"{lost}{lost_new}"),
    )
    yield "<h3>If all near-duplicates had the same action</h3>"
    yield from table(
        ("SIMHASH_ACTION", "drops", "responses that only such pages linked to"),
        ((None, (f"<code>{action}</code>", drops, more)) for action, drops, more in every),
    )
    yield (
        f"<p>Identical texts, which <code>SIMHASH_EXACT_ACTION</code> treats apart: {same:,}. Start pages, listings"
        " and what else <code>SIMHASH_PROTECT</code> names keep more than this table says.</p>"
    )
    if saved["led_to_example"]:
        page, referer = saved["led_to_example"]["url"], saved["led_to_example"]["other"]
        yield f"<p>A new page that was linked from such a page: {link(page)}, from {link(referer)}</p>"
    if saved["unchanged"]:
        yield (
            f"<p>Unchanged since an earlier crawl: {counted(saved['unchanged'], 'page')}."
            " <code>SIMHASH_REVISIT_ACTION</code> can drop them.</p>"
        )


def exemptions(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield why less was done than was asked for."""
    yield "<h2>Exemptions</h2>"
    yield from _values(facts, "exemption", EXEMPTIONS, "Nothing was exempted from an action.")


def skipped(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield why pages were not compared, and what became of those that were seen before."""
    yield "<h2>Not compared, and seen before</h2>"
    yield from _values(
        facts, "reason", {**SKIPPED, **FATES}, "Every page was compared, and none was seen before."
    )


def _values(facts: Mapping[str, Any], key: str, words: Mapping[str, str], none: str) -> Iterator[str]:
    if not facts[key]:
        yield f'<p class="none">{_nothing(facts, none)}</p>'
        return
    rows = (
        (
            f"{key}{number}",
            (
                f"<code>{shown(value)}</code><br><small>{shown(words.get(value, ''))}</small>",
                count,
                _examples(facts, key, value),
            ),
        )
        for number, (value, count) in enumerate(facts[key].items())
    )
    yield from table((key, "pages", "examples"), rows)


def _nothing(facts: Mapping[str, Any], told: str) -> str:
    return _ONLY_IN_REPORTS if facts["source"]["kind"] == "store" else told


def _no_similarity(facts: Mapping[str, Any]) -> str:
    if facts["source"]["kind"] == "store":
        return _ONLY_IN_REPORTS
    same = facts["similarity"]["identical"]
    return f"No pair has a threshold. Identical texts: {same:,}." if same else "No pair has a threshold."


def _shares(found: Mapping[str, Any], name: str, told: Any, prefix: str) -> Iterator[str]:
    given = found["rows"]
    if not given:
        yield '<p class="none">No page was compared.</p>'
        return
    most = max(row["pages"] for row in given)
    rows = (
        (
            f"{prefix}{number}",
            (
                told(row),
                row["pages"],
                row["near_duplicates"],
                f"{row['near_duplicates'] / row['pages']:.0%}"
                + meter(row["near_duplicates"], row["pages"], most),
                _pair(row["example"]),
            ),
        )
        for number, row in enumerate(given)
    )
    yield from table((name, "pages", "near-duplicates", "share", "example"), rows, shows=10)
    if found["count"] > len(given):
        yield f"<p><small>Shown: {len(given):,} of {found['count']:,}, those with most such pages.</small></p>"


def _examples(facts: Mapping[str, Any], key: str, value: str) -> str:
    return "".join(_pair(example) for example in facts["examples"][key].get(value, ()))


def _pair(example: Mapping[str, Any] | None, how: str = "repeats") -> str:
    if example is None:
        return ""
    other = f"<br><small>{how}</small> {link(example['other'])}" if example["other"] else ""
    return f"<p>{link(example['url'])}{other}</p>"


def table(
    heads: Sequence[str], rows: Iterable[tuple[str | None, Sequence[str | int]]], shows: int | None = None
) -> Iterator[str]:
    """Yield a table; each of *rows* has an id and its cells. Beyond the first *shows* rows they are folded."""
    given = list(rows)
    yield from _table(heads, given[:shows])
    if shows is not None and len(given) > shows:
        yield f"<details><summary>{len(given) - shows:,} more</summary>"
        yield from _table(heads, given[shows:])
        yield "</details>"


def _table(heads: Sequence[str], rows: Iterable[tuple[str | None, Sequence[str | int]]]) -> Iterator[str]:
    numbers: set[int] = set()
    body = []
    for name, cells in rows:
        numbers.update(place for place, cell in enumerate(cells) if isinstance(cell, int))
        row = "".join(map(_cell, cells, heads))
        body.append(f'<tr id="{name}">{row}</tr>' if name else f"<tr>{row}</tr>")
    head = "".join(
        f'<th scope="col"{NUMBER if place in numbers else ""}>{name}</th>' for place, name in enumerate(heads)
    )
    yield f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>'
    yield from body
    yield "</tbody></table></div>"


def _folded(
    summary: str, heads: Sequence[str], rows: Iterable[tuple[str | None, Sequence[str | int]]]
) -> Iterator[str]:
    yield f"<details><summary>{summary}</summary>"
    yield from table(heads, rows)
    yield "</details>"


def _cell(value: str | int, head: str) -> str:
    # On a phone, where there is no head, a number says what it is.
    return f'<td{NUMBER} data-head="{head}">{value:,}</td>' if isinstance(value, int) else f"<td>{value}</td>"


def _legend(*entries: tuple[str, str]) -> str:
    told = "".join(f'<li><span class="key {name}"></span>{text}</li>' for name, text in entries)
    return f'<ul class="legend">{told}</ul>'


def _length(seconds: int) -> str:
    for length, name in _UNITS:
        if seconds % length == 0:
            count = seconds // length
            return f"{'an' if name == 'hour' else 'a'} {name}" if count == 1 else f"{count:,} {name}s"
    return f"{seconds} seconds"


def _total(bar: Mapping[str, Any]) -> int:
    return int(bar["new"] + bar["near_duplicates"] + bar["other"])
