"""Policy: what is to be done about a page, by the settings. Knows no Scrapy."""

from scrapy_simhash.judge.policy.decision import Decision, Exemption, RequestedAction
from scrapy_simhash.judge.policy.policy import Case, Policy, is_done
from scrapy_simhash.judge.policy.url_filter import UrlFilter

__all__ = ["Case", "Decision", "Exemption", "Policy", "RequestedAction", "UrlFilter", "is_done"]
