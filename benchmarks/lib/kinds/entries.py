"""The thirty kinds of pages: the text that all pages of a site share, and the text that distinguishes them.

The texts of a kind have slots. A slot such as ``{town}`` has a different value on each page of a site. The value of a
slot with a digit, such as ``{time1}``, ``{sentence1}`` or ``{question1}``, is drawn for each page, so two pages may
have the same value.
"""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

from benchmarks.lib.kinds.words import VALUES, question, sentence

#: Different pages of a site.
PAGES = 20

Table = tuple[tuple[str, ...], ...]


class Kind(NamedTuple):
    """A kind of pages, in texts with slots."""

    name: str
    section: str
    """The folder in the URL."""
    topic: str
    """Nouns of its sentences."""
    title: str
    heading: str = ""
    """The ``h1``; by default the title."""
    label: str = ""
    """The text of links to the page; by default the heading."""
    lines: tuple[str, ...] = ()
    """Short lines under the heading."""
    rows: tuple[str, ...] = ()
    """Facts, each ``label: value``."""
    is_boxed: bool = False
    """Whether the facts are in a box beside the text."""
    subheading: str = ""
    person: str = ""
    """The name in JSON-LD."""
    own: tuple[str, ...] = ()
    """Sentences that are only on this page, before the shared text."""
    listed: tuple[str, ...] = ()
    table: Table = ()
    picture: str = ""
    """The alt text."""
    caption: str = ""
    has_generic_title: bool = False
    """Whether the title in the second template is the section, on all pages."""
    has_name_in_url: bool = False
    """Whether the heading is in the URL in the first template."""
    has_slug: bool = False
    """Whether the heading is in the URL in both templates."""
    is_inside: bool = False
    """Whether pages differ only inside the main text: their table or picture is after the first paragraph."""
    is_one_sided: bool = False
    """Whether the distinguishing word is on only one of two pages, and the other page has no other word instead."""
    words: tuple[int, int] = (90, 240)
    """Length of the shared text."""
    has_little_text: bool = False
    """Whether the shared text is 25 to 40 words long in the second template."""
    number: int = 0
    """The number of a page whose texts these are, with values in the slots."""


KINDS = (
    Kind("jobs, town in the title", "jobs", "shop customer till shift team branch manager",
         "Sales Assistant - {town}", heading="Sales Assistant", label="Sales Assistant in {town}"),
    Kind("jobs, town in the facts", "jobs", "warehouse truck pallet shift delivery loading contract",
         "Warehouse Clerk", label="Warehouse Clerk in {town}", is_boxed=True,
         rows=("Town: {town}", "Contract: full time, permanent", "Hours: 38 a week", "Start: as soon as possible")),
    Kind("jobs, levels", "careers", "project report client figure budget meeting career", "{level}", has_slug=True,
         is_one_sided=True),
    Kind("events of a series", "events", "reading writer story ticket library chair", "Evening of Short Stories",
         lines=("{date}",), label="Short Stories, {date}"),
    Kind("concerts of a tour", "tour", "song band stage ticket guitar concert drummer", "The Lantern Tour",
         rows=("Town: {town}", "Venue: {venue}", "Doors: 7 p.m."), label="The Lantern Tour in {town}"),
    Kind("courses", "courses", "lesson teacher language certificate beginner book class", "Spanish for Beginners",
         rows=("Course number: {course}", "Start: {date}", "Lessons: 12"), label="Spanish from {date}"),
    Kind("real estate", "flats", "flat landlord lease kitchen balcony cellar deposit", "Flat to let",
         rows=("Address: {address}", "Rooms: {rooms1}", "Area: {area1}", "Rent: on request"),
         label="Flat to let, {address}"),
    Kind("hotel rooms", "rooms", "breakfast guest bed bath porch towel terrace", "{suite}", has_generic_title=True,
         has_name_in_url=True),
    Kind("branches of a chain", "branches", "book shelf reader novel cashier gift paper", "Bookshop in {town}",
         heading="Our bookshop", label="{town}", rows=("Address: {address}", "Opening hours: {hours1}"),
         is_boxed=True),
    Kind("doctors of a clinic", "doctors", "patient ward nurse treatment clinic surgery therapy", "Dr {person}",
         lines=("{subject}",), has_generic_title=True, has_name_in_url=True),
    Kind("products, sizes", "products", "board shelf bracket screw wood wall surface", "Oak Shelf Board",
         rows=("Size: {size}", "Material: solid oak", "Price: on request"), label="Oak Shelf Board {size}"),
    Kind("products, colours", "products", "jacket hood pocket zip sleeve lining fabric", "Rain Jacket Marlow",
         lines=("Colour: {colour}",), rows=("Price: on request",), picture="Rain Jacket Marlow, {colour}",
         label="Rain Jacket Marlow, {colour}"),
    Kind("spare parts", "parts", "belt motor drum machine bearing pump seal", "Drive Belt for Washing Machines",
         rows=("Part number: {part}", "Delivery: three days"), label="Drive Belt {part}"),
    Kind("trade catalogue", "catalogue", "bolt thread nut steel head washer load", "Hexagon Bolts",
         table=(("Thread", "Length", "Head", "Pack"), ("M6", "{millimetres}", "{millimetres1}", "200"),
                ("M8", "{millimetres2}", "{millimetres3}", "100"), ("M10", "{millimetres4}", "{millimetres5}", "50")),
         label="Hexagon Bolts from {millimetres}", is_inside=True),
    Kind("books, editions", "books", "novel chapter translator page preface poem publisher", "The River and the Town",
         rows=("ISBN: {isbn}", "Edition: {edition}", "Language: English"), label="The River and the Town, {edition}"),
    Kind("cars of a dealer", "cars", "car gearbox tyre warranty workshop seat boot", "Torwick Estate 1.6",
         rows=("First registration: {month}", "Mileage: {mileage}", "Fuel: petrol", "Price: on request"),
         label="Torwick Estate, {mileage}"),
    Kind("annual reports", "reports", "report share balance company dividend trustee budget", "{year} Annual report",
         heading="Annual report", label="{year}"),
    Kind("house numbers", "streets", "house roof brick garden window porch tenant", "{house} Harbour Street",
         has_name_in_url=True),
    Kind("court decisions", "decisions", "judge claim court defendant hearing clause statute",
         "Decision of the Court of Appeal", rows=("Case number: {case}", "Date: {date}", "Chamber: second chamber"),
         label="Decision {case}"),
    Kind("quiz questions", "quiz", "planet bird king bridge mountain painter ship", "The Quiz of the Day",
         own=("{sentence1}", "{sentence2}", "{question1}"), label="Question {house}", is_inside=True,
         words=(190, 240)),
    Kind("exercises", "exercises", "number function curve root table sum triangle", "Exercise {exercise}",
         own=("{sentence1}", "{question1}"), has_generic_title=True),
    Kind("tickets of an archive", "tickets", "server printer password driver folder screen cable", "Ticket archive",
         rows=("Ticket: {ticket}", "Status: {status1}", "Reporter: {person}"), own=("{sentence1}",),
         label="Ticket {ticket}"),
    Kind("incidents", "incidents", "server network backup cable switch region router", "Incident report",
         lines=("{date}", "Affected: {service1} in {town}"), label="Incident of {date}"),
    Kind("weather by town", "weather", "cloud storm rain wind shower frost thunder", "Weather in {town}",
         table=(("", "Morning", "Noon", "Evening"),
                ("Temperature", "{temperature1}", "{temperature2}", "{temperature3}"),
                ("Wind", "{wind1}", "{wind2}", "{wind3}")),
         has_generic_title=True, has_name_in_url=True, has_little_text=True),
    Kind("timetables", "timetables", "bus ticket stop fare passenger driver tram", "{line}",
         table=(("Stop", "First", "Second", "Last"), ("{stop1}", "{time1}", "{time2}", "{time3}"),
                ("{stop2}", "{time4}", "{time5}", "{time6}"), ("{stop3}", "{time7}", "{time8}", "{time9}")),
         has_generic_title=True, has_name_in_url=True),
    Kind("sports matches", "matches", "match goal league player referee keeper corner", "League match",
         lines=("{team} - {guest1}", "Result: {score1}"), label="{team} - {guest1}", has_little_text=True),
    Kind("recipes with variants", "recipes", "soup pot spoon leek broth knife bowl",
         "How to cook Leek Soup with {variant} at home",
         heading="Leek Soup with {variant}", has_name_in_url=True,
         listed=("three leeks", "one litre of broth", "200 g of {variant}", "salt and pepper")),
    Kind("gallery pictures", "gallery", "picture camera frame print light colour photographer",
         "Pictures of the Harbour",
         picture="{view}", caption="{view}", label="{view}", is_inside=True, has_little_text=True),
    Kind("people of a directory", "staff", "desk letter visitor door faculty student form", "Staff directory",
         subheading="{person}", person="{person}", rows=("Phone: {phone}", "Room: {house}", "Floor: second floor"),
         label="{person}"),
    Kind("software releases", "releases", "command file setting library module server test",
         "Marlin {version} released", listed=("{sentence1}", "{sentence2}", "{sentence3}"), has_name_in_url=True),
)  # fmt: skip


def kind_named(name: str) -> Kind:
    """Return the kind with this name."""
    return next(kind for kind in KINDS if kind.name == name)


class _Slots(dict[str, str]):
    """The values of the slots of page *number* of a site."""

    def __init__(self, kind: Kind, site: str, number: int) -> None:
        self._topic, self._site, self._number = kind.topic.split(), site, number

    def __missing__(self, slot: str) -> str:
        name = slot.rstrip("0123456789")
        if name == slot:
            value = Random(f"{self._site} {name}").sample(VALUES[name], PAGES)[self._number]
        else:
            random = Random(f"{self._site} {slot} {self._number}")
            written = {"sentence": sentence, "question": question}.get(name)
            value = written(self._topic, random) if written else random.choice(VALUES[name])
        return self.setdefault(slot, value)


def entries(kind: Kind, site: str) -> list[Kind]:
    """Return the texts of each page of a site, whose name is the seed: those of its kind with values in the slots."""
    heading = kind.heading or kind.title
    texts = kind._replace(heading=heading, label=kind.label or heading)
    return [
        Kind(*_filled(tuple(texts), _Slots(kind, site, number)))._replace(number=number)
        for number in range(PAGES)
    ]


def _filled(text: Any, slots: _Slots) -> Any:
    if isinstance(text, tuple):
        return tuple(_filled(part, slots) for part in text)
    return text.format_map(slots) if isinstance(text, str) else text
