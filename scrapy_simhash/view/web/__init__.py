"""Pages of HTML in one file, in which nothing of what they show runs or is loaded."""

from scrapy_simhash.view.web.frame import ascii_lines, head, visible
from scrapy_simhash.view.web.overview_page import overview_lines, policy

__all__ = ["ascii_lines", "head", "overview_lines", "policy", "visible"]
