"""The sections of an overview, each a heading, a sentence, a picture and a table; one without data says why."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from scrapy_simhash.view.comparison import difference
from scrapy_simhash.view.frame import (
    LONGEST_SHOWN,
    NUMBER,
    Bar,
    bars,
    counted,
    folded,
    legend,
    link,
    meter,
    moment,
    shown,
    steps,
    table,
    visible,
)
from scrapy_simhash.view.words import FATES, PROTECTED, SKIPPED

#: Pairs of URLs after which a parameter is worth a sentence.
_PAIRS = 5
#: Share of all repeating pages in one cluster that is worth one.
_LARGE = 0.2
#: Pages of such a cluster at least, and of any that is worth one.
_MANY, _FLOOD = 10, 100
#: The least similarity that is worth advising: below it pages are hardly alike.
_LEAST = 0.5
#: Sentences of each kind, at most.
_MOST = 3


def findings(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the list of findings, nothing if there are none."""
    found = [
        *_idle_parameters(facts),
        *_large_clusters(facts),
        *_near_miss_sentences(facts),
    ]
    if found:
        yield '<section id="findings"><h2>Main findings</h2>\n<ul>'
        yield from (f"<li>{sentence}</li>" for sentence in found)
        yield "</ul></section>"


def _idle_parameters(facts: Mapping[str, Any]) -> Iterator[str]:
    idle = [row for row in facts["parameters"] if row["same"] >= _PAIRS and not row["different"]]
    for row in idle[:_MOST]:
        yield (
            f"<code>{shown(row['parameter'])}</code> on <bdi>{shown(row['host'])}</bdi> changes nothing:"
            f" in {row['same']:,} of {row['same']:,} cases another value returned the same page."
            ' <a href="#parameters">Examples</a>'
        )


def _large_clusters(facts: Mapping[str, Any]) -> Iterator[str]:
    repeats = facts["savings"]["near_duplicates"]
    for cluster in facts["largest_clusters"][:_MOST]:
        pages, copies = cluster["pages"], cluster["pages"] - 1
        if pages >= _FLOOD or (pages >= _MANY and copies > _LARGE * repeats):
            yield (
                f"{pages:,} URLs returned nearly the same page, {copies / repeats:.0%} of all near-duplicates: pages"
                f" like <bdi>{shown(cluster['first'])}</bdi>. It may be a login page, an error page or a spider trap."
                ' <a href="#clusters">Look at it</a>'
            )


def _near_miss_sentences(facts: Mapping[str, Any]) -> Iterator[str]:
    near = [one for one in facts["similarity"]["bins"] if one["near_misses"] and one["from"] >= _LEAST]
    if not near:
        return
    most = near[-1]
    yield (
        f"{counted(most['near_misses'], 'new page')} would be near-duplicates with a"
        f" <code>SIMHASH_MIN_SIMILARITY</code> of {most['from']:.2f}."
        ' <a href="#similarity">Are they the same page?</a>'
    )


#: Percent of the page that a bar may be wide.
_WIDEST = 4
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
#: What stands where a store has nothing to say.
_ONLY_IN_REPORTS = "A store does not keep this. A report does: set <code>SIMHASH_REPORT</code>."


def time(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield how many pages came when, and which share of them was new."""
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
    yield legend(("new", "new"), ("repeats", "near-duplicates"), ("other", "others"))
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
        (moment(bar["start"]), bar["new"], bar["near_duplicates"], bar["other"], _example_of(bar["examples"]))
        for bar in given
    )
    heads = ("from (UTC)", "new", "near-duplicates", "others", "example")
    yield from folded("The same as a table, with an example of each bar", table(heads, rows, "t"))


def _example_of(examples: Mapping[str, Any]) -> str:
    return _pair(examples["near_duplicates"] or examples["new"] or examples["other"])


def hosts(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield which hosts have the most pages that repeat another one."""
    yield from _shares(facts["hosts"], "host", lambda row: f"<bdi>{shown(row['host'])}</bdi>", "h")


def patterns(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield which URL patterns have the most pages that repeat another one."""
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
            f"<code>{shown(row['parameter'])}</code><br><small><bdi>{shown(row['host'])}</bdi></small>",
            row["same"],
            row["different"],
            _pair(row["same_example"]) + _pair(row["different_example"], "another page"),
        )
        for row in facts["parameters"]
    )
    yield from table(("parameter", "same page", "another page", "examples"), rows, "q", shows=10)


def similarity(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield how alike the pages are that were compared."""
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
    yield legend(
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
            f"{one['from']:.2f} to {one['to']:.2f}",
            one["near_duplicates"],
            one["near_misses"],
            "".join(_pair(pair) for pair in one["examples"]["near_duplicates"][:2])
            + "".join(_pair(pair, "near miss") for pair in one["examples"]["near_misses"][:2]),
        )
        for one in reversed(given)
    )
    heads = ("threshold", "near-duplicates", "near misses", "examples")
    ids = [bar.href for bar in reversed(made)]
    yield from folded("The same as a table, with examples to judge by eye", table(heads, rows, ids))


def actions(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was dropped, and what each other action would have dropped."""
    saved = facts["savings"]
    if facts["action"]:
        rows = (
            (f"<code>{shown(action)}</code>", count, _examples(facts, "action", action))
            for action, count in facts["action"].items()
        )
        yield from table(("done", "pages", "examples"), rows, "a")
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
        ((f"<code>{action}</code>", drops, more) for action, drops, more in every),
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


def protected(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield why less was done than was asked for."""
    yield from _values(facts, "protected", PROTECTED, "Nothing was protected from an action.")


def skipped(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield why pages were not compared, and what became of those that were seen before."""
    yield from _values(
        facts, "reason", {**SKIPPED, **FATES}, "Every page was compared, and none was seen before."
    )


def _values(facts: Mapping[str, Any], key: str, words: Mapping[str, str], none: str) -> Iterator[str]:
    if not facts[key]:
        yield f'<p class="none">{_nothing(facts, none)}</p>'
        return
    rows = (
        (
            f"<code>{shown(value)}</code><br><small>{shown(words.get(value, ''))}</small>",
            count,
            _examples(facts, key, value),
        )
        for value, count in facts[key].items()
    )
    yield from table((key, "pages", "examples"), rows, key)


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
            told(row),
            row["pages"],
            row["near_duplicates"],
            f"{row['near_duplicates'] / row['pages']:.0%}"
            + meter(row["near_duplicates"], row["pages"], most),
            _pair(row["example"]),
        )
        for row in given
    )
    yield from table((name, "pages", "near-duplicates", "share", "example"), rows, prefix, shows=10)
    if found["count"] > len(given):
        yield f"<p><small>Shown: {len(given):,} of {found['count']:,}, those with most such pages.</small></p>"


def _examples(facts: Mapping[str, Any], key: str, value: str) -> str:
    return "".join(_pair(example) for example in facts["examples"][key].get(value, ()))


def _pair(example: Mapping[str, Any] | None, how: str = "repeats") -> str:
    if example is None:
        return ""
    other = f"<br><small>{how}</small> {link(example['other'])}" if example["other"] else ""
    return f"<p>{link(example['url'])}{other}</p>"


def _length(seconds: int) -> str:
    for length, name in _UNITS:
        if seconds % length == 0:
            count = seconds // length
            return f"{'an' if name == 'hour' else 'a'} {name}" if count == 1 else f"{count:,} {name}s"
    return f"{seconds} seconds"


def _total(bar: Mapping[str, Any]) -> int:
    return int(bar["new"] + bar["near_duplicates"] + bar["other"])


def url_rules(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the rules of each host with their evidence."""
    hosts = facts.get("url_rules")
    if not hosts:
        why = "No rule is nearly proven."
        if hosts is None:
            why = "A report does not keep this. A store does: set <code>SIMHASH_STORE</code> to a folder."
        yield f'<p class="none">{why}</p>'
        return
    yield (
        '<p class="lede">Differences of URLs that have no effect on the page.'
        " <code>SIMHASH_URL_RULES = 'skip'</code> skips such requests.</p>"
    )
    rows = (
        (
            f"<bdi>{shown(host['host'])}</bdi>",
            f"<code>{shown(rule['rule'])}</code>",
            f"stage {rule['stage']}" if rule["active"] else "no",
            rule["pairs"],
            rule["different"],
            rule["saved"],
            f"{rule['loss']:.1%}",
        )
        for host in hosts
        for rule in host["rules"]
    )
    yield from table(("host", "rule", "active", "equal pairs", "different", "saved", "loss at most"), rows)


_HEADS = ("pages", "identical", "least alike", "first page")


def clusters(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the section of clusters, the largest first, each with members to look at."""
    given = facts["largest_clusters"]
    if not given:
        yield '<p class="none">No page is a near-duplicate of another one.</p>'
        return
    less = f"The largest {len(given):,} of {facts['clusters']:,}. " if len(given) < facts["clusters"] else ""
    yield (
        f'<p class="lede">{less}Open one to see members, and which parts of their URLs differ from that of the first'
        " page.</p>"
    )
    yield (
        '<p class="search" hidden><label for="search">Search URLs</label> <input id="search" type="search"'
        ' autocomplete="off" spellcheck="false"> <output for="search" aria-live="polite"></output></p>'
    )
    heads = "".join(f'<th scope="col"{NUMBER if name != _HEADS[-1] else ""}>{name}</th>' for name in _HEADS)
    yield f'<div class="wide"><table id="clusters-table"><thead><tr>{heads}</tr></thead><tbody>'
    for number, cluster in enumerate(given):
        yield from _row(number, cluster, facts["source"])
    yield "</tbody></table></div>"


def _row(number: int, cluster: Mapping[str, Any], source: Mapping[str, str]) -> Iterator[str]:
    least = [member["threshold"] for member in cluster["members"] if member["threshold"] is not None]
    told = f"{min(least):.2f}" if least else ""
    yield (
        f'<tr id="c{number}"><td{NUMBER} data-head="pages">{cluster["pages"]:,}</td>'
        f'<td{NUMBER} data-head="identical">{cluster["identical"]:,}</td>'
        f'<td{NUMBER} data-head="{"least alike" if told else ""}">{told}</td>'
        f"<td><details><summary><bdi>{shown(cluster['first'])}</bdi></summary>"
    )
    yield f"<p>Seen first: {link(cluster['first'])}</p>"
    if cluster["preferred"] not in (None, cluster["first"]):
        yield f"<p>Preferred: {link(cluster['preferred'])}</p>"
    yield "<ul>"
    for member in cluster["members"]:
        yield f"<li>{_url(member['url'], cluster['first'])}{_likeness(member)}</li>"
    rest = cluster["pages"] - 1 - len(cluster["members"])
    if rest > 0:
        yield f"<li><small>{rest:,} more</small></li>"
    yield "</ul>"
    if cluster["members"]:
        member = min(cluster["members"], key=_by_likeness)
        if command := _command(cluster["first"], member["url"], source):
            yield f"<p><small>Which words differ:</small> <code>{command}</code></p>"
    yield "</details></td></tr>"


def _by_likeness(member: Mapping[str, Any]) -> float:
    return 1.0 if member["threshold"] is None else float(member["threshold"])


def _url(url: str, first: str) -> str:
    if len(url) > LONGEST_SHOWN or url == first:
        return link(url)
    return link(
        url,
        "".join(
            shown(piece) if is_common else f"<mark>{shown(piece)}</mark>"
            for piece, is_common in difference(url, first)
        ),
    )


def _likeness(member: Mapping[str, Any]) -> str:
    if member["exact"]:
        return " <small>identical text</small>"
    told = []
    if member["distance"] is not None:
        told.append(f"distance {member['distance']}")
    if member["similarity"] is not None:
        told.append(f"similarity {member['similarity']:.3g}")
    if member["threshold"] is not None:
        told.append(f"a near-duplicate up to SIMHASH_MIN_SIMILARITY = {member['threshold']:.3g}")
    return f" <small>{', '.join(told)}</small>" if told else ""


def _command(first: str, other: str, source: Mapping[str, str]) -> str | None:
    """Return what to type to see the words of two pages, None if that could not be typed safely."""
    words = ["scrapy-simhash", "compare", first, other]
    if source["kind"] == "store":
        words += ["--store", source["name"]]
    quoted = [shlex.quote(word) for word in words]
    is_plain = all(len(word) <= LONGEST_SHOWN and visible(word) == word for word in quoted)
    if not is_plain or not all(url.startswith(("http://", "https://")) for url in (first, other)):
        return None
    return " ".join(map(shown, quoted))
