"""Which URLs of a host bring nothing new: by what in them has no effect, and by their groups. Knows no Scrapy."""

from scrapy_simhash.observers.url_rules.cut_url import groups, grows
from scrapy_simhash.observers.url_rules.evidence import EXPLORED, Evidence, lower_bound
from scrapy_simhash.observers.url_rules.host import FETCHED, MISSING, HostRules, Skip
from scrapy_simhash.observers.url_rules.kept import (
    KeptRules,
    RuleKeeper,
    joined,
    packed,
    parsed,
)
from scrapy_simhash.observers.url_rules.novelty import SLOWED_AFTER, STOPPED_AFTER, Row, group_in, rule_of
from scrapy_simhash.observers.url_rules.rules import Choice, Origin, UrlRules, choice, site_of
from scrapy_simhash.observers.url_rules.trials import Look, Looks

__all__ = [
    "EXPLORED",
    "FETCHED",
    "MISSING",
    "SLOWED_AFTER",
    "STOPPED_AFTER",
    "Choice",
    "Evidence",
    "HostRules",
    "KeptRules",
    "Look",
    "Looks",
    "Origin",
    "Row",
    "RuleKeeper",
    "Skip",
    "UrlRules",
    "choice",
    "group_in",
    "groups",
    "grows",
    "joined",
    "lower_bound",
    "packed",
    "parsed",
    "rule_of",
    "site_of",
]
