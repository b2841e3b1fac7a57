"""Policy: what is to be done about a page, by the settings. Knows no Scrapy."""

from scrapy_simhash.policy.decision import Decision, Exemption, RequestedAction
from scrapy_simhash.policy.places import Places
from scrapy_simhash.policy.policy import Case, Policy, is_done

__all__ = ["Case", "Decision", "Exemption", "Places", "Policy", "RequestedAction", "is_done"]
