"""RequestSkipped, and what the log says at the end of what was skipped on a host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

from scrapy_simhash.observers.url_rules import group_in, rule_of

if TYPE_CHECKING:
    from scrapy_simhash.observers.url_rules import HostRules


class RequestSkipped(IgnoreRequest):
    """A request was not sent, since by URL rules it would bring nothing new."""

    def __init__(self, url: str, rules: tuple[str, ...]) -> None:
        is_of_group = any(map(group_in, rules))
        reason = (
            "URLs like it bring nothing new" if is_of_group else "its page has been fetched under another URL"
        )
        super().__init__(f"{url} was skipped: {reason} ({', '.join(rules)})")
        self.rules = rules
        """The rules, as ``scrapy-simhash rules`` shows them."""


def closing_line(name: str, host: HostRules, *, skips: bool) -> str:
    """Return which rules there are on the host with this *name*, and what they save."""
    groups = {group: host.novelty.rows[group] for group in host.novelty.told}
    without_effect = host.in_force if host.skipped else []
    losses = [
        *(host.evidence[rule].loss for rule in without_effect if rule not in host.pinned),
        *(row.loss for group, row in groups.items() if rule_of(group) not in host.pinned),
    ]
    # Nothing was estimated of what somebody has pinned.
    loss = f"estimated loss <= {100 * max(losses):.1f} %" if losses else "pinned"
    total = host.checks.requests + host.saved if skips else host.pages
    found = [
        *([f"without effect on {name}: {', '.join(without_effect)}"] if without_effect else ()),
        *([f"nothing new on {name}: {', '.join(groups)}"] if groups else ()),
    ]
    end = "were skipped" if skips else "SIMHASH_URL_RULES = 'skip' would have saved them"
    return f"URL rules: {'; '.join(found)} ({host.saved:,} of {total:,} requests; {loss}); {end}"
