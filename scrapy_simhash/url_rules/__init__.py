"""Which differences between the URLs of a host have no effect on the page, learned from verdicts. Knows no Scrapy."""

from scrapy_simhash.url_rules.evidence import Evidence, lower_bound
from scrapy_simhash.url_rules.host import EXPLORED, FETCHED, MISSING, HostRules, Skip
from scrapy_simhash.url_rules.keeping import RuleKeeper
from scrapy_simhash.url_rules.kept import KeptRules, joined, packed, parsed, place_of_site, site_at
from scrapy_simhash.url_rules.rules import Choice, UrlRules, choice, site_of
from scrapy_simhash.url_rules.trials import Look, Looks

__all__ = [
    "EXPLORED",
    "FETCHED",
    "MISSING",
    "Choice",
    "Evidence",
    "HostRules",
    "KeptRules",
    "Look",
    "Looks",
    "RuleKeeper",
    "Skip",
    "UrlRules",
    "choice",
    "joined",
    "lower_bound",
    "packed",
    "parsed",
    "place_of_site",
    "site_at",
    "site_of",
]
