"""Two parts that never end, an almanac and a finder: no page of the annex links to them, nor do they link to it.

They are made when they are asked for. Every month of the almanac links to the one before and the one after it; the
finder takes any number of facts about a lost thing, and offers to take one more.
"""

import re

from magazine.page import MAIN_HOST, Address
from magazine.templates.markup import Link

from tests.annex.page import AnnexPage, pager, sheet
from tests.annex.standing import read_text

ALMANAC = "/annex/almanac"
FINDER = "/annex/finder"

MONTHS = "January February March April May June July August September October November December".split()
FACTS = ("brass", "wooden", "left-handed", "borrowed")

# Years are counted from the lighting of the lamp.
_FIRST = (214, 5)
_MONTH = re.compile(rf"{ALMANAC}/(-?\d{{1,18}})/(0[1-9]|1[0-2])")
_FACTS = re.compile(rf"{FINDER}(?:\?it-is=[\w-]{{1,40}}(?:&it-is=[\w-]{{1,40}})*)?")
_JUNE = "On the first Sunday the nets are blessed, and so is anyone who stands too near."


def endless_page(address: Address) -> AnnexPage | None:
    """Return the page at *address*, None if it is in neither part. The same address gives the same page."""
    if address.host != MAIN_HOST:
        return None
    if address.target == ALMANAC:
        return _almanac()
    if found := _MONTH.fullmatch(address.target):
        return _month(int(found[1]), int(found[2]))
    return _finder(address.target) if _FACTS.fullmatch(address.target) else None


def month_path(year: int, month: int) -> str:
    """Return the path of a month's page.

    >>> month_path(214, 5), month_path(-3, 12)
    ('/annex/almanac/214/05', '/annex/almanac/-3/12')
    """
    return f"{ALMANAC}/{year}/{month:02}"


def _almanac() -> AnnexPage:
    links = [Link(month_path(*_FIRST), _name(*_FIRST))]
    said = "For this year, for those before it, and for those that have not been thought of."
    return sheet(ALMANAC, "almanac-entry", "The almanac of Saltmere", said, links=links, home=ALMANAC)


def _month(year: int, month: int) -> AnnexPage:
    number = year * 12 + month - 1
    before, after = divmod(number - 1, 12), divmod(number + 1, 12)
    previous, following = month_path(before[0], before[1] + 1), month_path(after[0], after[1] + 1)
    title, text = read_text("standing/almanac")
    head, links = pager(previous, following)
    text = f"{_name(year, month)}. {text}" + (f"\n{_JUNE}" if month == 6 else "")
    path = month_path(year, month)
    return sheet(path, "month", title, text, links=links, head=head, home=ALMANAC, family="month")


def _name(year: int, month: int) -> str:
    when = f"in the year {year} of the lamp" if year > 0 else f"{1 - year} years before the lamp"
    return f"{MONTHS[month - 1]}, {when}"


def _finder(target: str) -> AnnexPage:
    title, text = read_text("standing/finder")
    also = "&" if "?" in target else "?"
    links = [Link(f"{target}{also}it-is={fact}", f"It is {fact.replace('-', ' ')}") for fact in FACTS]
    return sheet(target, "finder", title, text, links=links, home=FINDER, family="finder")
