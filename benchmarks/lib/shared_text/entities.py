"""What the pages of a site are about: sixty entities that differ in little, each with its name and own sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple

#: What names and sentences are drawn from.
WORDS: Any = SimpleNamespace(**json.loads(Path(__file__).with_name("words.json").read_text("utf-8")))

#: Entities of a site.
ENTITIES = 60

#: How the own parts of the entities of a site differ: in two sentences; in a sentence that is the same but for names
#: and numbers; in a dozen such words, without a table of facts.
SENTENCES, NUMBERS, FEW = "sentences", "numbers", "few"


WOODS, SIZES = ("Oak", "Ash", "Walnut", "Dark Oak"), ("Small", "Large", "Extra Large")


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
        """The name as it stands in a URL."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")


def entities(kind: str, language: str, own: str, random: Random) -> list[Entity]:
    """Return the sixty entities of a site, with different names and different own sentences."""
    make = _MAKERS[kind, language]
    found: dict[str, Entity] = {}
    said: set[tuple[str, ...]] = set()
    while len(found) < ENTITIES:
        entity = make(own, random)
        if entity.name not in found and entity.own not in said:
            found[entity.name] = entity if own != FEW else entity._replace(facts=())
            said.add(entity.own)
    return list(found.values())


def _job(own: str, random: Random) -> Entity:
    role, place = random.choice(list(WORDS.duties)), random.choice(WORDS.places)
    start, pay, hours = _date(random), f"{random.randrange(1400, 3900) / 100:.2f}", random.randrange(20, 41)
    needed = f"A {role} is needed in {place} from {start}, for {hours} hours a week at {pay} euros an hour."
    short = f"In {place} from {start}, {hours} hours a week."
    facts = (("Place", place), ("Start", start), ("Hours a week", str(hours)))
    return Entity(
        f"{role} in {place}",
        place,
        _own(own, WORDS.duties[role], needed, short),
        facts,
        _posting(role, place),
    )


def _stelle(own: str, random: Random) -> Entity:
    role, place = random.choice(list(WORDS.german_duties)), random.choice(WORDS.places)
    pay, hours = f"{random.randrange(1400, 3900) / 100:.2f}".replace(".", ","), random.randrange(20, 41)
    needed = (
        f"Für {place} suchen wir ab sofort einen {role} mit {hours} Stunden in der Woche"
        f" und {pay} Euro in der Stunde."
    )
    short = f"In {place} mit {hours} Stunden, Lohn {pay} Euro."
    facts = (("Ort", place), ("Stunden", str(hours)))
    return Entity(
        f"{role} in {place}",
        place,
        _own(own, WORDS.german_duties[role], needed, short),
        facts,
        _posting(role, place),
    )


def _posting(role: str, place: str) -> Mapping[str, object]:
    location = {"@type": "Place", "address": {"@type": "PostalAddress", "addressLocality": place}}
    return {"@type": "JobPosting", "title": role, "jobLocation": location}


def _flat(own: str, random: Random) -> Entity:
    street, number, place = (
        random.choice(WORDS.streets),
        random.randrange(1, 120),
        random.choice(WORDS.places),
    )
    rooms, area, rent = random.randrange(1, 6), random.randrange(28, 140), random.randrange(310, 1900)
    let = f"{rooms} rooms with {area} square metres are let at {street} {number} in {place} for {rent} euros a month."
    short = f"The flat has {rooms} rooms, {area} square metres and costs {rent} euros."
    facts = (
        ("Rooms", str(rooms)),
        ("Area", f"{area} m²"),
        ("Rent", f"{rent} €"),
        ("Street", f"{street} {number}"),
    )
    address = {"@type": "PostalAddress", "streetAddress": f"{street} {number}", "addressLocality": place}
    structured = {"@type": "RealEstateListing", "name": f"{street} {number}, {place}", "address": address}
    name = f"{rooms}-room flat, {street} {number}, {place}"
    return Entity(name, place, _own(own, random.choice(WORDS.features), let, short), facts, structured)


def _piso(own: str, random: Random) -> Entity:
    street, number, place = (
        random.choice(WORDS.spanish_streets),
        random.randrange(1, 120),
        random.choice(WORDS.spanish_places),
    )
    rooms, area, rent = random.randrange(1, 6), random.randrange(28, 140), random.randrange(310, 1900)
    let = (
        f"Se alquilan {rooms} habitaciones con {area} metros cuadrados en {street} {number} de {place}"
        f" por {rent} euros al mes."
    )
    short = f"El piso tiene {rooms} habitaciones y {area} metros y cuesta {rent} euros."
    facts = (("Habitaciones", str(rooms)), ("Superficie", f"{area} m²"), ("Alquiler", f"{rent} €"))
    address = {"@type": "PostalAddress", "streetAddress": f"{street} {number}", "addressLocality": place}
    structured = {"@type": "RealEstateListing", "name": f"{street} {number}, {place}", "address": address}
    return Entity(
        f"Piso en {street} {number}, {place}",
        place,
        _own(own, random.choice(WORDS.spanish_features), let, short),
        facts,
        structured,
    )


def _event(own: str, random: Random) -> Entity:
    title, place, day = random.choice(list(WORDS.events)), random.choice(WORDS.places), _date(random)
    hall, time = (
        random.choice(("town hall", "old granary", "school", "museum")),
        f"{random.randrange(14, 21)}:30",
    )
    price = random.randrange(4, 39)
    when = f"It takes place on {day} at {time} in the {hall} of {place}, and a ticket costs {price} euros."
    short = f"On {day} at {time} in the {hall} of {place}."
    facts = (("Date", day), ("Time", time), ("Place", f"{hall}, {place}"))
    structured = {
        "@type": "Event",
        "name": title,
        "startDate": day,
        "location": {"@type": "Place", "name": place},
    }
    return Entity(
        f"{title} in {place}", place, _own(own, WORDS.events[title], when, short), facts, structured
    )


def _branch(own: str, random: Random) -> Entity:
    place, street, number = (
        random.choice(WORDS.places),
        random.choice(WORDS.streets),
        random.randrange(1, 120),
    )
    phone = f"0{random.randrange(200, 999)} {random.randrange(10000, 99999)}"
    where = f"You find our branch in {place} at {street} {number}, and its telephone number is {phone}."
    people, since = random.randrange(2, 15), random.randrange(1890, 2015)
    about = f"{people} people work here, and the branch has been in {place} since {since}."
    short = f"Our branch in {place} is at {street} {number}."
    facts = (("Address", f"{street} {number}, {place}"), ("Telephone", phone))
    address = {"@type": "PostalAddress", "streetAddress": f"{street} {number}", "addressLocality": place}
    structured = {
        "@type": "BankOrCreditUnion",
        "name": f"Branch {place}",
        "address": address,
        "telephone": phone,
    }
    return Entity(f"Branch {place}", place, _own(own, about, where, short), facts, structured)


def _notice(own: str, random: Random) -> Entity:
    thing, place, street = (
        random.choice(list(WORDS.objects)),
        random.choice(WORDS.places),
        random.choice(WORDS.streets),
    )
    case, number, folio = (
        f"{random.randrange(1, 250)} K {random.randrange(20, 27)}",
        random.randrange(1, 120),
        random.randrange(9, 9000),
    )
    sale = (
        f"The {thing} at {street} {number} in {place}, folio {folio} of the land register, will be sold by auction on"
        f" {_date(random)} at {random.randrange(8, 15)}:15 in room {random.randrange(1, 320)}."
    )
    short = f"To be sold: {thing} at {street} {number} in {place}, folio {folio}."
    facts = (("File", case), ("Value", f"{random.randrange(9, 900)},000 €"), ("Place", place))
    structured = {"@type": "Event", "name": f"Auction {case}", "location": {"@type": "Place", "name": place}}
    return Entity(
        f"{case}: {thing} in {place}", place, _own(own, WORDS.objects[thing], sale, short), facts, structured
    )


def _product(own: str, random: Random) -> Entity:
    what, wood, size = random.choice(list(WORDS.goods)), random.choice(WOODS), random.choice(SIZES)
    width, depth, weight = (random.randrange(*span) for span in ((30, 220), (30, 110), (3, 60)))
    price, name = f"{random.randrange(19, 990)}.90", f"{wood} {what} {size}"
    made = f"The {name} is {width} by {depth} centimetres, weighs {weight} kilograms and costs {price} euros."
    short = f"It measures {width} by {depth} centimetres and costs {price} euros."
    facts = (
        ("Width", f"{width} cm"),
        ("Depth", f"{depth} cm"),
        ("Weight", f"{weight} kg"),
        ("Price", f"{price} €"),
    )
    structured = {
        "@type": "Product",
        "name": name,
        "sku": re.sub(r"[a-z ]+", "", name),
        "offers": {"@type": "Offer", "price": price, "priceCurrency": "EUR"},
    }
    return Entity(name, "", _own(own, WORDS.goods[what], made, short), facts, structured)


_MAKERS: dict[tuple[str, str], Callable[[str, Random], Entity]] = {
    ("jobs", "en"): _job,
    ("jobs", "de"): _stelle,
    ("flats", "en"): _flat,
    ("flats", "es"): _piso,
    ("events", "en"): _event,
    ("branches", "en"): _branch,
    ("notices", "en"): _notice,
    ("products", "en"): _product,
}


def _own(own: str, sentence: str, facts: str, short: str) -> tuple[str, ...]:
    """Return the own sentences that *own* asks for."""
    return {SENTENCES: (sentence, facts), NUMBERS: (facts,), FEW: (short,)}[own]


def _date(random: Random) -> str:
    return f"{random.randrange(1, 29)} {random.choice(WORDS.months)}"


def related(all_of_them: Sequence[Entity], entity: Entity, random: Random) -> list[Entity]:
    """Return five other entities, as a list of related pages names them."""
    return random.sample([one for one in all_of_them if one.name != entity.name], 5)
