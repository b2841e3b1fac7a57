"""The sites: what is shared, how own and shared text lie beside each other, and which page repeats which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks.lib.shared_text.entities import (
    ENTITIES,
    FEW,
    NUMBERS,
    SENTENCES,
    WORDS,
    Entity,
    entities,
    related,
)
from benchmarks.lib.shared_text.templates import JSON_LD, NESTED, SEMANTIC, Content, render

#: Entities of a site that are posted again.
REPOSTS = 20

#: Where the own sentences lie: in a paragraph of their own; inside paragraphs of shared text; there, and the shared
#: text itself names the entity at two places.
APART, MIXED, NAMED = "apart", "mixed", "named"

#: Sentences that the entities of a series share, and no others.
SERIES_SENTENCES = 6


class Page(NamedTuple):
    """A page of a site and the truth about it."""

    url: str
    html: str
    entity: str
    """The name of the entity: pages of one entity repeat each other, pages of two never do."""
    is_repost: bool


class Plan(NamedTuple):
    """What a site is like."""

    kind: str
    shared: int
    """Words of prose that all pages share, some 10 more or fewer."""
    is_marked: bool = False
    """Whether ``main``, ``article`` or a role says where the main text is."""
    own: str = SENTENCES
    """What differs between entities: two sentences, one with names and numbers, or a dozen words."""
    layout: str = APART
    template: str = SEMANTIC
    is_structured: bool = False
    """Whether pages have structured data."""
    has_site_title: bool = False
    """Whether the ``title`` element of all pages is the name of the site."""
    language: str = "en"
    markup: str = JSON_LD
    """The form of the structured data."""
    is_series: bool = False
    """Whether several entities have one heading and one description: one event on many days, one job in many
    places."""

    @property
    def name(self) -> str:
        """A name that says what the plan says, different for each of PLANS."""
        flags = [self.language] * (self.language != "en") + ["marked"] * self.is_marked
        flags += [self.markup] * self.is_structured + ["site-title"] * self.has_site_title
        flags += ["series"] * self.is_series
        return " ".join([self.kind, str(self.shared), self.own, self.layout, self.template, *flags])


PLANS = (
    Plan("jobs", 60, is_marked=True),
    Plan("jobs", 120, own=NUMBERS, template=NESTED, is_structured=True),
    Plan("jobs", 250, layout=MIXED, template=NESTED),
    Plan("jobs", 500, is_marked=True, layout=NAMED, is_structured=True),
    Plan("jobs", 500, own=NUMBERS),
    Plan("jobs", 120, own=FEW, is_marked=True),
    Plan("flats", 120, own=NUMBERS),
    Plan("flats", 320, is_marked=True, template=NESTED, is_structured=True),
    Plan("flats", 500, own=NUMBERS, layout=MIXED, template=NESTED),
    Plan("events", 60, template=NESTED, own=NUMBERS, has_site_title=True),
    Plan("events", 250, is_marked=True, own=NUMBERS, is_structured=True),
    Plan("events", 320, own=FEW, template=NESTED),
    Plan("events", 500, layout=NAMED),
    Plan("branches", 120, is_marked=True, own=NUMBERS, template=NESTED),
    Plan("branches", 320, own=NUMBERS, is_structured=True),
    Plan("branches", 250, own=FEW, is_marked=True),
    Plan("branches", 500, layout=MIXED, has_site_title=True),
    Plan("notices", 120, layout=MIXED),
    Plan("notices", 250, own=FEW, layout=MIXED, template=NESTED),
    Plan("notices", 400, is_marked=True, own=NUMBERS, template=NESTED),
    Plan("products", 60, own=NUMBERS, is_structured=True),
    Plan("products", 250, is_marked=True, template=NESTED),
    Plan("products", 400, own=NUMBERS, layout=MIXED),
    Plan("jobs", 250, is_marked=True, own=NUMBERS, language="de"),
    Plan("jobs", 400, layout=MIXED, template=NESTED, language="de"),
    Plan("flats", 120, template=NESTED, language="es"),
    Plan("flats", 320, own=NUMBERS, is_structured=True, language="es"),
)


class Site(NamedTuple):
    """A generated site."""

    plan: Plan
    name: str
    host: str
    words: int
    """Words of the shared prose."""
    pages: tuple[Page, ...]
    """Every entity once, then the reposts: the order in which the site was filled."""


def sites(seed: int = 0) -> Iterator[Site]:
    """Yield the site of each of PLANS; *seed* draws the shared prose, the entities and the order of everything."""
    for number, plan in enumerate(PLANS):
        yield make_site(plan, number, seed)


def make_site(plan: Plan, number: int = 0, seed: int = 0) -> Site:
    """Return the site of *plan*; *number* makes its host and its text different from those of the same plan."""
    random = Random(f"{seed} {number} {plan.name}")
    organisation, town = random.choice(WORDS.organisations), random.choice(WORDS.towns[plan.language])
    host = f"www.{organisation.lower().replace(' ', '-')}-{number}.example"
    files = (plan.kind, "general") if plan.language == "en" else (plan.language,)
    shared = [text.format(org=organisation, hq=town) for text in shared_sentences(files, plan.shared, random)]
    their_order = _Order.drawn(plan, len(shared), random)
    all_of_them = entities(plan.kind, plan.language, plan.own, random)
    series = _Series(plan, shared, random) if plan.is_series else None
    numbers = random.sample(range(10_000, 100_000), ENTITIES + REPOSTS)
    urls = {
        one.name: f"https://{host}/{plan.kind}/{numbers[i]}/{one.slug}" for i, one in enumerate(all_of_them)
    }

    def page(entity: Entity, url: str, is_repost: bool) -> Page:
        posted = f"{2026 if is_repost else 2025}-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}"
        heading = series.heading(entity) if series else entity.name
        about = {
            **entity.structured,
            **({"name": heading} if series and plan.kind == "products" else {}),
            # What differs between an advert and its repost says nothing about what is advertised.
            "url": url,
            "identifier": url.split("/")[4],
            "datePosted": posted,
        }
        changing = WORDS.changing[plan.language].format(
            days=random.randrange(2, 90), seen=_count(random, plan.language), date=posted
        )
        chosen = related(all_of_them, entity, random)
        content = Content(
            language=plan.language,
            organisation=organisation,
            title=organisation if plan.has_site_title else f"{heading} | {organisation}",
            heading=heading,
            entity=entity,
            changing=changing,
            paragraphs=[
                *their_order.paragraphs(entity, shared, WORDS.leads[plan.language]),
                *([series.description(entity)] if series else []),
            ],
            related=[(urls[one.name], one.name) for one in chosen],
            structured=about if plan.is_structured else None,
            markup=plan.markup,
            is_marked=plan.is_marked,
        )
        return Page(url, render(plan.template, content), entity.name, is_repost)

    pages = [page(entity, urls[entity.name], False) for entity in all_of_them]
    for entity, own_number in zip(
        random.sample(all_of_them, REPOSTS), numbers[len(all_of_them) :], strict=True
    ):
        pages.append(page(entity, f"https://{host}/{plan.kind}/{own_number}/{entity.slug}", True))
    return Site(plan, plan.name, host, sum(len(text.split()) for text in shared), tuple(pages))


class _Series:
    """What the entities of a site share that have one heading: a description."""

    def __init__(self, plan: Plan, shared: Sequence[str], random: Random) -> None:
        self._kind = plan.kind
        self._bank = [text for text in (*_bank(plan.kind), *_bank("general")) if text not in shared]
        self._random = random
        self._descriptions: dict[str, str] = {}

    def heading(self, entity: Entity) -> str:
        """Return the name without what tells the entity from others of its series."""
        if self._kind == "products":
            return entity.name.removesuffix(" Small").removesuffix(" Extra Large").removesuffix(" Large")
        return str(entity.structured.get("title") or entity.structured["name"])

    def description(self, entity: Entity) -> str:
        heading = self.heading(entity)
        if heading not in self._descriptions:
            chosen = self._random.sample(self._bank, SERIES_SENTENCES)
            self._descriptions[heading] = " ".join(f"{heading}: {text}" for text in chosen)
        return self._descriptions[heading]


class _Order(NamedTuple):
    """Where a site has its own and its shared sentences: the same on all of its pages."""

    layout: str
    lengths: tuple[int, ...]
    """Shared sentences of each paragraph."""
    at: int
    """The paragraph before which, or in which, the own sentences stand."""

    @classmethod
    def drawn(cls, plan: Plan, sentences: int, random: Random) -> _Order:
        lengths: list[int] = []
        while sum(lengths) < sentences:
            lengths.append(min(random.randrange(2, 5), sentences - sum(lengths)))
        return cls(plan.layout, tuple(lengths), random.randrange(min(2, len(lengths))))

    def paragraphs(self, entity: Entity, shared: Sequence[str], leads: tuple[str, str]) -> list[str]:
        """Return the prose of a page."""
        groups: list[list[str]] = []
        rest = list(shared)
        for length in self.lengths:
            groups.append(rest[:length])
            rest = rest[length:]
        if self.layout == APART:
            groups.insert(self.at, list(entity.own))
        else:
            # The first own sentence is at the start, the second one between shared sentences.
            groups[self.at][0:0] = entity.own[:1]
            groups[self.at][2:2] = entity.own[1:]
        if self.layout == NAMED:
            groups[-1].insert(0, leads[0].format(name=entity.name))
            groups[len(groups) // 2].append(leads[1].format(name=entity.name))
        return [" ".join(group) for group in groups]


def shared_sentences(files: Sequence[str], most: int, random: Random) -> list[str]:
    """Return sentences of *files* with some *most* words, give or take half a sentence."""
    bank = [sentence for file in files for sentence in _bank(file)]
    chosen: list[str] = []
    words = 0
    for sentence in random.sample(bank, len(bank)):
        count = len(sentence.split())
        if abs(words + count - most) < abs(words - most):
            chosen.append(sentence)
            words += count
    return chosen


def _count(random: Random, language: str) -> str:
    count = f"{random.randrange(11, 9999):,}"
    return count if language == "en" else count.replace(",", ".")


@cache
def _bank(name: str) -> tuple[str, ...]:
    file = Path(__file__).with_name("sentences") / f"{name}.txt"
    return tuple(file.read_text("utf-8").splitlines())
