"""Sentences and values for generated pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import product
from random import Random

#: Words of sentences: adjectives, nouns, participles and verbs. All words begin with a consonant, so their article is
#: "a".
_WORDS = {
    name: words.split()
    for name, words in {
        "a": "bright broad calm careful clear common complete direct fair firm free friendly full general good great"
        " local long low main modern new plain proper public quick quiet reliable safe separate short simple small"
        " special steady strong useful warm wide",
        "c": "board building change choice committee condition country decision description detail direction"
        " district family form group harbour house list market matter member message month morning neighbour number"
        " part partner path person place plan point problem question reason result river road room rule season street"
        " summer table valley village visitor week window winter word year",
        "p": "accepted arranged checked chosen counted delivered described explained found given improved kept known"
        " made measured named planned prepared provided received recorded repeated required sent shown taken tested"
        " used",
        "v": "accept bring change check choose collect consider describe explain find follow give improve keep know"
        " measure move need offer plan prefer prepare provide read receive record remember repair report show support"
        " take test use want",
    }.items()
}
#: Patterns of sentences, with slots for these words, and {t} for a noun of the topic.
_FORMS = """
The {a} {t} of the {c} is {p} by the {c} before it is {p} with the {t}.
We {v} the {t} and the {c} for all of those who {v} a {a} {c}.
If you {v} the {t}, then you should {v} the {c} that is {p} at the {c}.
There is a {a} {t} for each {c}, and there is a {a} {c} which has been {p} since the {c}.
It is not the {c} but the {a} {t} that is {p} when they {v} the {c}.
Most of the {t} is {p} in the {c}, where the {a} {c} has been {p} for many years.
Before the {t} can be {p}, the {c} must be {p} as it was during the {c}.
You will {v} a {a} {t} in every {c}, because this is how we {v} the {c}.
With the {t} comes a {c} that can be {p} without the {c} of the {t}.
Each of our {t}s is {p} under the {a} {c} and will be {p} again after the {c}.
As soon as the {c} has been {p}, we {v} the {t} to the {c} by which it was {p}.
They {v} the {c} of the {t} more than any {c}, and so it is {p} at once.
No {t} is {p} from the {c} unless the {c} has a {a} {t} and a {a} {c}.
What is {p} for the {t} may be {p} for the {c} as well, but not while we {v} the {c}.
Those who {v} the {c} have to {v} the {t} only once, even though the {c} is {a}.
Our {a} {c} has {p} the {t} with the {c}, and it does so for the {a} {c} too.
Between the {c} and the {t} there should be a {a} {c} that they {v} themselves.
Please {v} the {t} to us if the {c} was not {p} as it is {p} in the {c}.
The {c} of this {t} does not come from the {c}, nor is it {p} on the {a} {c}.
Over the {c} the {t} has become a {a} {c}, about which we {v} a little here.
""".strip().splitlines()
_QUESTIONS = """
Which {t} of the {c} was {p} first, and why was it not {p} with the {c}?
How many of the {t}s are {p} if the {a} {t} is {p} twice by the {c}?
What do you {v} when the {c} of the {t} has been {p} from the {c}?
Where is the {a} {t} to be {p} after they {v} the {c}?
""".strip().splitlines()


def sentence(topic: Sequence[str], random: Random, forms: Sequence[str] = _FORMS) -> str:
    """Return a sentence with nouns of *topic*."""
    words = {"t": topic, **_WORDS}
    return re.sub(r"{(\w)}", lambda slot: random.choice(words[slot[1]]), random.choice(forms))


def question(topic: Sequence[str], random: Random) -> str:
    """Return a question with nouns of *topic*."""
    return sentence(topic, random, _QUESTIONS)


def _each(form: str, *words: str) -> list[str]:
    """Return *form* with each combination of words; these are separated by spaces or by ``|``."""
    return [
        form.format(*one) for one in product(*(list_.split("|" if "|" in list_ else None) for list_ in words))
    ]


def _numbers(form: str, first: int, end: int, step: int = 1) -> list[str]:
    return [form.format(number) for number in range(first, end, step)]


_DAYS = [date(2026, 1, 5) + timedelta(days=5 * number) for number in range(60)]
#: The values of each slot of a kind.
VALUES: dict[str, Sequence[str]] = {
    "address": _each("{1} {0} Road", "Mill Castle Station Church", "3 8 14 21 37 46 59"),
    "area": _numbers("{} m²", 38, 118),
    "case": _each("{} {}/24", "4 C|7 U|11 S", " ".join(map(str, range(101, 260)))),
    "colour": "amber beige black blue bronze brown coral cream crimson emerald gold green grey ivory lilac mint navy"
    " olive orange petrol pink purple red rose sand silver teal turquoise white yellow".split(),
    "course": _each("{}-{}", "A B C", "1041 1058 1073 2016 2027 2049 3012 3055"),
    "date": [f"{day.day} {day:%B %Y}" for day in _DAYS],
    "edition": _numbers("{}th edition", 4, 40),
    "exercise": _each("{}.{}", "2 3 4 5 6 7", "1 2 3 4 5 6 7 8 9"),
    "guest": "Barrowby Calder Dunholm Elmstead Farley Glenrow Hartwell Kelby Linden Marlow Norwood".split(),
    "hours": _each("{} a.m. to {} p.m.", "7 8 8.30 9 9.30 10", "5 6 6.30 7 8"),
    "house": _numbers("{}", 2, 90),
    "isbn": _numbers("978-3-{:05}-17-4", 1_204, 99_000, 371),
    "level": _each("{1}{0}{2}", "Data Analyst|Project Manager|Buyer|Tax Consultant|Test Engineer", "Senior |Junior |",
    " II|"),
    "line": _numbers("Line {}", 1, 60),
    "mileage": _numbers("{:,} km", 14_150, 180_000, 1_310),
    "millimetres": _numbers("{} mm", 4, 240, 2),
    "month": _each("{} {}", "March May July October", "2017 2018 2019 2020 2021 2022"),
    "part": _numbers("{}-40", 20_417, 91_000, 913),
    "person": _each("{} {}", "Anna Boris Clara Daniel Edith Felix Greta Hugo", "Abbot Baines Carver Dunmore Elkins"
    " Falk Garrow Hollis Ingram Jarvis Keller Lomax Marsh Norling"),
    "phone": _numbers("0431 {}", 20_140, 99_000, 791),
    "rooms": "2 rooms|2.5 rooms|3 rooms|3.5 rooms|4 rooms|5 rooms".split("|"),
    "score": _each("{}:{}", "0 1 2 3 4", "0 1 2 3"),
    "service": "Backup|Billing|Calendar|Chat|File storage|Login|Mail|Search|Telephony|Web hosting".split("|"),
    "size": _each("{} x {} cm", "40 60 80 100 120 140", "20 25 30 35 40 50"),
    "status": "open|closed|solved|waiting for reply|rejected".split("|"),
    "stop": "Bridge Castle College Docks Fairground Hospital Library Market Museum Park Station Stadium"
    " Theatre".split(),
    "subject": "Heart surgery|Children's medicine|Skin diseases|Eye medicine|Bone surgery|Allergies|Radiology"
    "|Nutrition|Sleep medicine|Sports medicine|Neurology|Urology|Dental surgery|Rheumatism|Lung medicine|Pain therapy"
    "|Geriatrics|Hand surgery|Kidney diseases|Psychiatry|Vascular surgery|Anaesthesia".split("|"),
    "suite": _each("{} {}", "Garden Harbour Lighthouse Orchard Meadow Captain", "Room Suite Studio Loft"),
    "team": _each("{} {}", "Ashford Brigg Corby Denby Esk Frome", "City Rovers Town United"),
    "temperature": _numbers("{} °C", -4, 29),
    "ticket": _numbers("#{}", 10_233, 88_000, 1_097),
    "time": [f"{hour}.{minute:02}" for hour in range(5, 24) for minute in range(2, 60, 7)],
    "town": "Aberdeen Bergen Bonn Bremen Cardiff Chester Coburg Dover Exeter Ghent Hamburg Jena Kiel Leeds Lincoln"
    " Malmo Namur Oxford Passau Preston Rostock Stirling Trier Utrecht Winchester York".split(),
    "variant": "Almonds Bacon Barley Beans Carrots Celery Chestnuts Chickpeas Fennel Ham Lentils Mushrooms Nettles"
    " Parsnips Peas Potatoes Prawns Pumpkin Salmon Sausages Spinach Walnuts".split(),
    "venue": _each("{} {}", "Apollo City Empire Forum River Union", "Arena Hall Stage Theatre"),
    "version": _each("{}.{}", "2 3 4 5", "0 1 2 3 4 5 6 7"),
    "view": _each("{} {}", "Fishing boats|Two children|Market stalls|Old lamps|Washing lines|Cyclists",
    "at the quay|by the church|in the rain|under the bridge"),
    "wind": _numbers("{} km/h", 3, 60),
    "year": _numbers("{}", 1991, 2026),
}  # fmt: skip
#: Names of sites, menu entries, and headings of the text that all pages of a site share.
NAMES = _each("{}{}", "Har Nord Wes Brim Cal Fen Tor Lun Mar Stan", "wick dale mere holm ford gate")
MENU = "News Contact Services Team Downloads Press Careers Help Search Partners Forum Shop Archive Gallery".split()
SUBHEADINGS = ("About us", "At a glance", "Good to know", "How it works", "Please note", "What we offer")
