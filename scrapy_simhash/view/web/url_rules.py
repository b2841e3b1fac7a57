"""The section of an overview about URL rules: which differences of URLs have no effect, and what they save."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scrapy_simhash.view.web.frame import shown
from scrapy_simhash.view.web.sections import table


def url_rules(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the rules of each host with their evidence."""
    yield "<h2>URL rules</h2>"
    hosts = facts.get("url_rules")
    if not hosts:
        why = "No rule is nearly proven."
        if hosts is None:
            why = "A report does not keep this. A store does: set <code>SIMHASH_DIR</code>."
        yield f'<p class="none">{why}</p>'
        return
    yield (
        '<p class="lede">Differences of URLs that have no effect on the page.'
        " <code>SIMHASH_URL_RULES = 'skip'</code> skips such requests.</p>"
    )
    rows = (
        (
            None,
            (
                f"<bdi>{shown(host['host'])}</bdi>",
                f"<code>{shown(rule['rule'])}</code>",
                f"stage {rule['stage']}" if rule["in_force"] else "no",
                rule["pairs"],
                rule["different"],
                rule["saved"],
                f"{rule['loss']:.1%}",
            ),
        )
        for host in hosts
        for rule in host["rules"]
    )
    yield from table(("host", "rule", "in force", "equal pairs", "different", "saved", "loss at most"), rows)
