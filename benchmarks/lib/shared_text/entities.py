"""What the pages of a site are about: sixty entities that differ in little, each with its name and own sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

#: Entities of a site.
ENTITIES = 60

#: How the own parts of the entities of a site differ: in two sentences; in a sentence that is the same but for names
#: and numbers; in a dozen such words, without a table of facts.
SENTENCES, NUMBERS, FEW = "sentences", "numbers", "few"

PLACES = (
    "Berlin", "Kiel", "Bonn", "Ulm", "Lindau", "Neustadt", "Neuburg", "Burg", "Marburg", "Fulda", "Bad Aibling",
    "Bad Doberan", "Halle", "Hof", "Passau", "Emden", "Worms", "Speyer", "Landshut", "Wismar", "Goslar", "Celle",
    "Soest", "Plauen", "Weimar", "Kempten", "Husum", "Trier", "Siegen", "Minden", "Zittau", "Pirna", "Gera", "Jena",
    "Suhl", "Coburg", "Bamberg", "Ansbach", "Aalen", "Bad Tölz", "Bad Orb", "Neuss", "Neuwied", "Hamm", "Hameln",
    "Leer", "Aurich", "Norden", "Verden", "Stade", "Buxtehude", "Rheine", "Borken", "Kleve", "Xanten", "Düren",
    "Prüm", "Daun", "Mayen", "Landau", "Lahr", "Kehl", "Singen", "Isny", "Wangen",
)  # fmt: skip
SPANISH_PLACES = (
    "Sevilla", "Bilbao", "Soria", "Toledo", "Lugo", "Vigo", "Huesca", "Teruel", "Burgos", "Cuenca", "Zamora",
    "Santa Cruz", "Santa Pola", "Villanueva", "Villafranca", "Ronda", "Cartagena", "Segovia",
)  # fmt: skip
STREETS = (
    "Harbour Street", "Mill Lane", "Station Road", "Church Street", "Garden Street", "Old Mill Road", "Castle Street",
    "New Street", "North Street", "Lime Avenue", "School Lane", "Bridge Street",
)  # fmt: skip
SPANISH_STREETS = (
    "calle del Molino", "calle Mayor", "plaza de la Iglesia", "calle del Puerto", "avenida de la Estación",
    "calle Nueva", "calle de la Fuente", "calle del Prado",
)  # fmt: skip
MONTHS = ("January", "February", "March", "April", "May", "June", "September", "October", "November")

DUTIES = {
    "Nurse": "You look after patients on a ward for internal medicine and take part in the rounds of the doctors.",
    "Head Nurse": "You lead a team of twelve on a surgical ward and draw up its rota for each month.",
    "Truck Driver": "You drive a truck of forty tons between our depots and sleep at home on four nights a week.",
    "Bus Driver": "You drive the early line to the schools and a line across the country in the afternoon.",
    "Electrician": "You wire new houses together with an apprentice and hand the plant over to the owner.",
    "Bookkeeper": "You post incoming invoices, remind customers who pay late and prepare the balance of the year.",
    "Night Porter": "You receive late guests, answer the telephone all night and set the tables for breakfast.",
    "Pastry Cook": "You bake cakes and small pastries for three cafés and try out new recipes for each season.",
    "Software Tester": "You write automatic tests for a booking system and speak with those who develop it.",
    "Dental Assistant": "You hand the instruments to the dentist, take radiographs and keep the card index.",
    "Roofer": "You cover old roofs with slate and mend the gutters of churches and farmhouses.",
    "Florist": "You bind wreaths and bouquets, water the plants in the shop and buy at the market twice a week.",
    "Crane Operator": "You unload ships with the large crane on the quay, in shifts and in nearly any weather.",
    "Payroll Clerk": "You calculate the wages of six hundred people and answer what they ask about their slips.",
    "Pharmacist": "You make ointments in our own laboratory and advise people who take many medicines at once.",
    "Welder": "You weld pipes of stainless steel for dairies from drawings and check each seam by ultrasound.",
}
ROLES_DE = {
    "Krankenpfleger": "Sie versorgen Menschen auf einer inneren Station und begleiten die Visite der Ärzte.",
    "Altenpfleger": "Sie helfen alten Menschen morgens beim Aufstehen, bei den Mahlzeiten und auf Spaziergängen.",
    "Lkw-Fahrer": "Sie fahren einen Sattelzug zwischen unseren Lagern und schlafen vier Nächte in der Woche daheim.",
    "Elektriker": "Sie verlegen Leitungen in neuen Häusern und übergeben die fertige Anlage dem Bauherrn.",
    "Buchhalter": "Sie buchen Rechnungen, mahnen säumige Kunden und bereiten den Abschluss des Jahres vor.",
    "Konditor": "Sie backen Torten und Gebäck für drei Cafés und erproben zu jeder Jahreszeit neue Rezepte.",
    "Dachdecker": "Sie decken alte Dächer mit Schiefer und flicken Regenrinnen an Kirchen und Höfen.",
    "Florist": "Sie binden Kränze und Sträuße, gießen die Pflanzen im Laden und kaufen auf dem Großmarkt ein.",
}
FEATURES = (
    "The kitchen has a window to the yard and room for a table at which four people can sit.",
    "From the balcony you look over the gardens to the river, and the evening sun comes in until nine.",
    "The parquet was sanded down last summer, and the bathroom has a tub as well as a shower.",
    "A tiled stove in the largest room still works and heats half of the flat in the cold months.",
    "All rooms open on a long corridor, at the end of which there is a small chamber without a window.",
    "The flat lies under the roof, with sloping walls and beams that can be seen in every room.",
    "A door leads from the living room to a terrace with a strip of lawn that belongs to the flat.",
    "The former shop window has been kept, so that the front room is bright and suits a studio too.",
)
RASGOS = (
    "La cocina da al patio y tiene sitio para una mesa de cuatro personas.",
    "Desde el balcón se ve el río, y el sol de la tarde entra hasta las nueve.",
    "El suelo de madera se lijó el verano pasado y el baño tiene bañera y ducha.",
    "Todas las habitaciones dan a un pasillo largo con armarios empotrados.",
    "El piso está bajo la cubierta y conserva las vigas de madera a la vista.",
)
EVENTS = {
    "Choir Evening": "Forty voices sing songs of the sea from three centuries, with an accordion and a double bass.",
    "Guided Walk": "A botanist shows which herbs grow on walls and between the rails, and what they were used for.",
    "Puppet Theatre": "The fox loses his tail, finds it again and learns why nobody wanted to tell him where it was.",
    "Reading": "The author reads from her novel about two sisters who run a ferry, and answers questions.",
    "Organ Concert": "Works by northern masters are played on an instrument that was restored last year.",
    "Repair Workshop": "Bring a lamp, a toaster or a pair of trousers, and mend it with people who know how.",
    "Silent Film": "A comedy of nineteen twenty-four is shown from an old projector, and a pianist plays to it live.",
    "Lecture on Bees": "A beekeeper explains how a swarm decides where to live, and has brought a glass hive.",
}
OBJECTS = {
    "terraced house": "The house was built about nineteen hundred, has two floors and a shed in the yard.",
    "building plot": "The plot is flat, overgrown with shrubs and can be reached by a gravel road.",
    "flat": "The flat on the second floor has a balcony to the west and is let to a family.",
    "workshop": "The workshop has an office, a gate for lorries and a pit, and has stood empty for two years.",
    "meadow": "The meadow lies beside a brook, is leased to a farmer and may not be built upon.",
    "shop": "The shop is on the ground floor of a corner house and was last used as a bakery.",
}
GOODS = {
    "Table": "It seats six people, and a leaf that is stored under the top makes room for two more.",
    "Chair": "The seat is shaped so that no cushion is needed, and four of them can be stacked.",
    "Bench": "It stands without screws, takes three adults and has a shelf for shoes underneath.",
    "Shelf": "Its boards can be set at any height, and it is fixed to the wall at two points.",
    "Bed": "The slats are made of beech, and the head can be put together on either side.",
    "Stool": "It has three legs, so that it never wobbles, and it doubles as a step for children.",
}
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
    role, place = random.choice(list(DUTIES)), random.choice(PLACES)
    start, pay, hours = _date(random), f"{random.randrange(1400, 3900) / 100:.2f}", random.randrange(20, 41)
    needed = f"A {role} is needed in {place} from {start}, for {hours} hours a week at {pay} euros an hour."
    short = f"In {place} from {start}, {hours} hours a week."
    facts = (("Place", place), ("Start", start), ("Hours a week", str(hours)))
    return Entity(
        f"{role} in {place}", place, _own(own, DUTIES[role], needed, short), facts, _posting(role, place)
    )


def _stelle(own: str, random: Random) -> Entity:
    role, place = random.choice(list(ROLES_DE)), random.choice(PLACES)
    pay, hours = f"{random.randrange(1400, 3900) / 100:.2f}".replace(".", ","), random.randrange(20, 41)
    needed = (
        f"Für {place} suchen wir ab sofort einen {role} mit {hours} Stunden in der Woche"
        f" und {pay} Euro in der Stunde."
    )
    short = f"In {place} mit {hours} Stunden, Lohn {pay} Euro."
    facts = (("Ort", place), ("Stunden", str(hours)))
    return Entity(
        f"{role} in {place}", place, _own(own, ROLES_DE[role], needed, short), facts, _posting(role, place)
    )


def _posting(role: str, place: str) -> Mapping[str, object]:
    location = {"@type": "Place", "address": {"@type": "PostalAddress", "addressLocality": place}}
    return {"@type": "JobPosting", "title": role, "jobLocation": location}


def _flat(own: str, random: Random) -> Entity:
    street, number, place = random.choice(STREETS), random.randrange(1, 120), random.choice(PLACES)
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
    return Entity(name, place, _own(own, random.choice(FEATURES), let, short), facts, structured)


def _piso(own: str, random: Random) -> Entity:
    street, number, place = (
        random.choice(SPANISH_STREETS),
        random.randrange(1, 120),
        random.choice(SPANISH_PLACES),
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
        _own(own, random.choice(RASGOS), let, short),
        facts,
        structured,
    )


def _event(own: str, random: Random) -> Entity:
    title, place, day = random.choice(list(EVENTS)), random.choice(PLACES), _date(random)
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
    return Entity(f"{title} in {place}", place, _own(own, EVENTS[title], when, short), facts, structured)


def _branch(own: str, random: Random) -> Entity:
    place, street, number = random.choice(PLACES), random.choice(STREETS), random.randrange(1, 120)
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
    thing, place, street = random.choice(list(OBJECTS)), random.choice(PLACES), random.choice(STREETS)
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
        f"{case}: {thing} in {place}", place, _own(own, OBJECTS[thing], sale, short), facts, structured
    )


def _product(own: str, random: Random) -> Entity:
    what, wood, size = random.choice(list(GOODS)), random.choice(WOODS), random.choice(SIZES)
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
    return Entity(name, "", _own(own, GOODS[what], made, short), facts, structured)


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
    return f"{random.randrange(1, 29)} {random.choice(MONTHS)}"


def related(all_of_them: Sequence[Entity], entity: Entity, random: Random) -> list[Entity]:
    """Return five other entities, as a list of related pages names them."""
    return random.sample([one for one in all_of_them if one.name != entity.name], 5)
