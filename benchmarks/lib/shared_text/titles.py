"""Generated sites with long titles, whose pages differ by a word or two of them: towns, numbers, dates, names, sizes.

The other sites of this package have short titles. Here a title has 3 to 15 words, most of which all pages of the site
share (``Project Manager (m/f/d) in Évora | Halden``), and a page says 5 to 60 words of its own among 30 to 800 shared
ones. Some sites have a table of numbers, a gender tag, the site's name in the title, or a counter or the date of an
update there; a third of the pages is posted again with other dates, counters and related links. All pages of a site
have different slots; no two slots ever mean the same thing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import product
from random import Random
from typing import Any, NamedTuple

from benchmarks.lib.shared_text.entities import WORDS
from benchmarks.lib.shared_text.sites import Page, shared_sentences

#: A share of the pages is posted again.
REPOSTED = 1 / 3
#: Words of the own text.
TINY, SHORT, LONG = 5, 20, 60


class Slots(NamedTuple):
    """What tells a page from the others of its site."""

    title: str
    facts: str
    """A sentence with the slots again and what else differs; the least that a page says of its own."""


class TitlePlan(NamedTuple):
    """What a site with long titles is like."""

    kind: str
    shared: int
    """Words that all pages share, some 10 more or fewer."""
    own: int
    """Words of its own that a page says, about so many."""
    language: str = "en"
    tag: str = ""
    """A gender tag in each title, or another word that all have."""
    has_name: bool = False
    """Whether the site's name stands in each title element."""
    changing_title: str = ""
    """What a title element says that differs in each repost: a counter, the date of an update."""
    is_nested: bool = False
    """Whether ``div`` elements alone make the page."""
    texts: int = 1
    """So many different shared texts the site has, each on its share of the pages."""

    @property
    def name(self) -> str:
        """A name that says what the plan says."""
        flags = [self.tag, "name" * self.has_name, self.changing_title.partition("{")[0].strip(" -(")]
        flags += ["nested" * self.is_nested, f"{self.texts} texts" * (self.texts > 1)]
        return " ".join([self.kind, self.language, str(self.shared), str(self.own), *filter(None, flags)])


_VIEWS, _UPDATED = " ({n} views)", " - updated {date}"
TITLES = (
    TitlePlan("jobs", 400, SHORT),
    TitlePlan("jobs", 400, SHORT, tag="(m/f/d)"),
    TitlePlan("jobs", 400, SHORT, "de", tag="(m/w/d)", has_name=True),
    TitlePlan("jobs", 400, SHORT, "es", tag="(h/f)", is_nested=True),
    TitlePlan("jobs", 120, TINY, tag="(m/v/x)", has_name=True, texts=4),
    TitlePlan("jobs", 800, LONG, tag="(m/k)", is_nested=True),
    TitlePlan("jobs", 400, SHORT, tag="(m/f/d)", changing_title=_VIEWS),
    TitlePlan("branches", 60, TINY),
    TitlePlan("branches", 250, TINY, has_name=True, is_nested=True),
    TitlePlan("branches", 30, SHORT, "de"),
    TitlePlan("tides", 30, TINY),
    TitlePlan("tides", 120, TINY, has_name=True, is_nested=True),
    TitlePlan("timetables", 250, SHORT),
    TitlePlan("timetables", 60, TINY, has_name=True),
    TitlePlan("minutes", 400, SHORT),
    TitlePlan("minutes", 120, LONG, has_name=True, changing_title=_UPDATED),
    TitlePlan("people", 250, LONG),
    TitlePlan("people", 800, TINY, has_name=True, is_nested=True),
    TitlePlan("goods", 120, TINY, has_name=True),
    TitlePlan("goods", 400, SHORT, is_nested=True),
    TitlePlan("seasons", 250, SHORT),
    TitlePlan("seasons", 60, LONG, has_name=True),
    TitlePlan("offices", 400, TINY, "de", has_name=True),
    TitlePlan("offices", 60, SHORT, "es", is_nested=True),
    TitlePlan("flats", 400, SHORT, "es", has_name=True),
    TitlePlan("flats", 60, TINY),
    TitlePlan("lots", 120, SHORT, is_nested=True),
    TitlePlan("lots", 800, SHORT, has_name=True, changing_title=_VIEWS),
)


class TitleSite(NamedTuple):
    """A generated site with long titles."""

    plan: TitlePlan
    name: str
    host: str
    words: int
    pages: tuple[Page, ...]
    """Every entity once, as a crawl from list to list meets them, then the reposts."""


def title_sites(seed: int = 0, plans: Sequence[TitlePlan] = TITLES) -> Iterator[TitleSite]:
    """Yield the site of each plan; *seed* draws everything."""
    for number, plan in enumerate(plans):
        yield make_title_site(plan, number, seed)


def make_title_site(plan: TitlePlan, number: int = 0, seed: int = 0) -> TitleSite:
    """Return the site of *plan*; *number* makes its host and its text different from those of the same plan."""
    random = Random(f"{seed} {number} {plan.name}")
    organisation, town = random.choice(WORDS.organisations), random.choice(WORDS.towns[plan.language])
    host = f"www.{organisation.lower().replace(' ', '-')}-titles-{number}.example"
    shared = [_prose(plan, organisation, town, random) for _ in range(plan.texts)]
    all_of_them = _all_slots(plan, random)
    own = [_own(plan, slots, random) for slots in all_of_them]
    titles = [slots.title for slots in all_of_them]

    def page(i: int, is_repost: bool) -> Page:
        date = f"{random.randrange(1, 29)} {random.choice(WORDS.title_months)} {2026 if is_repost else 2025}"
        heading = titles[i]
        changing = plan.changing_title.format(n=random.randrange(2, 4000), date=date)
        title = heading + changing + (f" | {organisation}" if plan.has_name else "")
        counted = WORDS.changing[plan.language].format(
            days=random.randrange(2, 90), seen=f"{random.randrange(11, 9999):,}", date=date
        )
        body = _laid_out(plan, heading, own[i], shared[i % plan.texts], counted)
        links = "".join(
            f'<li><a href="/{j}">{escape(titles[j])}</a></li>' for j in random.sample(range(len(titles)), 4)
        )
        html = (
            f'<!doctype html><html lang="{plan.language}"><head><meta charset="utf-8"><title>{escape(title)}</title>'
            f'</head><body><div><a href="/">{organisation}</a> <a href="/s">Search</a> <a href="/c">Contact</a></div>'
            f"{body}<div><h3>{WORDS.related[plan.language]}</h3><ul>{links}</ul></div>"
            f"<div><p>{organisation}. All rights reserved.</p></div></body></html>"
        )
        return Page(
            f"https://{host}/{'again' if is_repost else 'page'}/{i}", html, f"{i} {heading}", is_repost
        )

    pages = [page(i, False) for i in range(len(all_of_them))]
    again = random.sample(range(len(all_of_them)), int(len(all_of_them) * REPOSTED))
    pages += [page(i, True) for i in again]
    return TitleSite(plan, f"titles: {plan.name}", host, len(" ".join(shared[0]).split()), tuple(pages))


def _laid_out(plan: TitlePlan, heading: str, own: Sequence[str], shared: Sequence[str], counted: str) -> str:
    """Return the middle of a page: heading, own text before or inside the shared one, what changes."""
    half = len(shared) // 2
    first, second = " ".join(shared[:half]), " ".join(shared[half:])
    if plan.is_nested:
        parts = [
            f"<div>{first}</div>" if first else "",
            *own,
            f"<div>{second}</div>",
            f"<div>{counted}</div>",
        ]
        return f'<div class="r"><div class="c"><h1>{escape(heading)}</h1>{"".join(parts)}</div></div>'
    parts = [f"<p>{counted}</p>", *own, f"<p>{first}</p>" if first else "", f"<p>{second}</p>"]
    return f"<main><h1>{escape(heading)}</h1>{''.join(parts)}</main>"


def _own(plan: TitlePlan, slots: Slots, random: Random) -> list[str]:
    """Return the blocks of text of its own that a page has."""
    if plan.kind == "tides":
        rows = "".join(
            f"<tr><td>{day}</td>{''.join(_tide(random) for _ in range(4))}</tr>" for day in range(1, 15)
        )
        return [f"<p>{slots.facts}</p><table>{rows}</table>"]
    said = [slots.facts]
    remarks = list(WORDS.remarks[plan.language])
    random.shuffle(remarks)
    while remarks and len(" ".join(said).split()) + 6 < plan.own:
        said.append(remarks.pop().format(name=random.choice(WORDS.names), n=random.randrange(2, 990)))
    return [f"<p>{escape(' '.join(said))}</p>"]


def _tide(random: Random) -> str:
    time, height = f"{random.randrange(24):02}:{random.randrange(60):02}", random.randrange(2, 70) / 10
    return f"<td>{time} {height}</td>"


def _prose(plan: TitlePlan, organisation: str, town: str, random: Random) -> list[str]:
    """Return shared sentences with as many words as the plan wants, give or take half a sentence."""
    files = (
        ("jobs", "general", "branches", "events", "flats", "notices")
        if plan.language == "en"
        else (plan.language,)
    )
    return [text.format(org=organisation, hq=town) for text in shared_sentences(files, plan.shared, random)]


def _all_slots(plan: TitlePlan, random: Random) -> list[Slots]:
    """Return the slots of all pages: every combination of what differs in the titles of the kind."""
    differing = _differing(plan, random)
    title, facts = WORDS.title_texts[plan.kind][plan.language]
    found = []
    for values in product(*differing.values()):
        named = {**dict(zip(differing, values, strict=True)), "tag": f" {plan.tag}" if plan.tag else ""}
        found.append(Slots(title.format(**named), facts.format_map(_Drawn(named, random))))
    return found


class _Drawn(dict[str, Any]):
    """What a text names; where it has ``{a name}`` or ``{2-90}``, a name or a number below the second is drawn."""

    def __init__(self, named: Mapping[str, Any], random: Random) -> None:
        super().__init__(named)
        self._random = random

    def __missing__(self, key: str) -> str:
        if key == "a name":
            return str(self._random.choice(WORDS.names))
        return str(self._random.randrange(*map(int, key.split("-"))))


def _differing(plan: TitlePlan, random: Random) -> dict[str, Sequence[Any]]:
    """Return what differs in the titles of a kind, by the name of the slot."""
    match plan.kind:
        case "jobs":  # of three employers, of whom the title says nothing
            firms = random.sample(WORDS.names, 3)
            return {"firm": firms, "role": WORDS.roles[plan.language], "town": WORDS.title_towns}
        case "branches":
            return {"town": _towns(random, 42)}
        case "tides":
            return {"town": _towns(random, 30)}
        case "timetables":
            return {"number": random.sample(range(2, 99), 4), "town": _towns(random, 12)}
        case "minutes":
            days = product(range(2, 28, 9), WORDS.title_months, (2024, 2025))
            return {"day": sorted(" ".join(map(str, day)) for day in days)}
        case "people":
            return {"name": random.sample(WORDS.first_names, 4), "family": WORDS.names[:14]}
        case "goods":
            return {"colour": WORDS.colours, "size": WORDS.sizes}
        case "seasons":
            return {"year": range(2012, 2024), "season": WORDS.seasons}
        case "offices":
            return {"office": WORDS.offices, "town": _towns(random, 8)}
        case "flats":
            return {"n": random.sample(range(1, 99), 5), "street": WORDS.names[:12]}
        case "lots":
            return {"number": random.sample(range(1, 400), 60)}
        case _:
            raise ValueError(f"no kind of sites: {plan.kind}")


def _towns(random: Random, count: int) -> list[str]:
    """Return so many names of towns, most of them made up."""
    made = map("".join, product(*WORDS.parts_of_towns))
    return random.sample([*WORDS.title_towns, *made], count)
