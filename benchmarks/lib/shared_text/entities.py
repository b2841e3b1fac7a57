"""What the pages of a site are about: sixty entities that differ in little, each with its name and own sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple

#: What names and sentences are drawn from.
WORDS: Any = SimpleNamespace(**json.loads(Path(__file__).with_name("words.json").read_text("utf-8")))

#: Entities of a site.
ENTITIES = 60

#: How the unique texts of the entities of a site differ: in two sentences; in a sentence that is the same except for
#: names and numbers; in a dozen such words, without a table of facts.
SENTENCES, NUMBERS, FEW = "sentences", "numbers", "few"


class Entity(NamedTuple):
    """What a page, and each repost of it, is about."""

    name: str
    """The heading; different for each entity of a site."""
    place: str
    """Empty for a product."""
    own: tuple[str, ...]
    """One or two sentences; no two entities of a site have the same."""
    facts: tuple[tuple[str, str], ...]
    """Labels and values for a table or list; may be empty."""
    structured: Mapping[str, object]
    """The schema.org object without what differs between an advert and its repost."""

    @property
    def slug(self) -> str:
        """The name in a URL."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")


def entities(kind: str, language: str, own: str, random: Random) -> list[Entity]:
    """Return the sixty entities of a site, with different names and different own sentences."""
    texts = WORDS.entities[f"{kind} {language}"]
    found: dict[str, Entity] = {}
    said: set[tuple[str, ...]] = set()
    while len(found) < ENTITIES:
        entity = _entity(texts, own, random)
        if entity.name not in found and entity.own not in said:
            found[entity.name] = entity if own != FEW else entity._replace(facts=())
            said.add(entity.own)
    return list(found.values())


def _entity(texts: Mapping[str, Any], own: str, random: Random) -> Entity:
    """Draw the slots of an entity in their order, and fill the texts with them."""
    values = {"place": ""}
    for slot, source in texts["slots"].items():
        values[slot] = _drawn(source, random)
        # Some words have a sentence that is about them.
        words = getattr(WORDS, source, None)
        if isinstance(words, Mapping):
            values["said"] = words[values[slot]]
    name = texts["name"].format(**values)
    values["initials"] = re.sub(r"[a-z ]+", "", name)
    about, sentence, short = (texts[text].format(**values) for text in ("about", "sentence", "short"))
    return Entity(
        name,
        values["place"],
        {SENTENCES: (about, sentence), NUMBERS: (sentence,), FEW: (short,)}[own],
        tuple((label, value.format(**values)) for label, value in texts["facts"]),
        _filled(texts["structured"], values),
    )


def _drawn(source: str, random: Random) -> str:
    """Return a date, one of the words that *source* names, or a number of the range that it is."""
    if source == "date":
        return f"{random.randrange(1, 29)} {random.choice(WORDS.months)}"
    if hasattr(WORDS, source):
        return str(random.choice(list(getattr(WORDS, source))))
    first, point, cents, last = re.fullmatch(r"(\d+?)(?:(\D)(\d\d))?-(.+)", source).groups(default="")  # type: ignore[union-attr]
    number = str(random.randrange(int(first + cents), int(last.replace(point, ""))))
    return f"{number[:-2]}{point}{number[-2:]}" if point else number


def _filled(thing: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, object]:
    return {
        name: _filled(value, values) if isinstance(value, Mapping) else value.format(**values)
        for name, value in thing.items()
    }


def related(all_of_them: Sequence[Entity], entity: Entity, random: Random) -> list[Entity]:
    """Return five other entities, as a list of related pages names them."""
    return random.sample([one for one in all_of_them if one.name != entity.name], 5)
