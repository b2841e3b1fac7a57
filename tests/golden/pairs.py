"""A dozen pairs of pages, one of each kind that users ask about, and their expected verdicts."""

from __future__ import annotations

import json
from typing import NamedTuple


class Pair(NamedTuple):
    """Two pages as HTML, in order of arrival."""

    a: str
    b: str
    is_near: bool
    """Whether they are near-duplicates."""


LOCK = (
    "The lock at Ebben has been opened by hand for a hundred and twenty years, and this spring the last keeper who"
    " learned it from his father will put down the windlass. Boats will then call a number, and a pump will do in"
    " four minutes what took two people a quarter of an hour.",
    "Anton Brix is sixty-four and has kept a book of every boat since 1981. The longest was a barge with gravel for"
    " the new bridge, which had to be let in at an angle, and the smallest a tin tub with two boys and a dog in it."
    " He let the tub through at night, because the boys were more afraid of their mother than of the dark.",
    "The waterways office says that nobody loses his work. Three of the keepers go to the weir at Holm, where the"
    " gates still need somebody who can hear when a bearing runs dry, and the fourth is Brix himself, who says that"
    " he has a hedge to cut. On the first of May the lock is open to everybody from ten to five.",
)
SCHLEUSE = (
    "Die Schleuse in Ebben wird seit hundertzwanzig Jahren von Hand bedient, und in diesem Frühjahr legt der letzte"
    " Wärter, der es von seinem Vater gelernt hat, die Kurbel aus der Hand. Die Boote rufen dann eine Nummer an, und"
    " eine Pumpe braucht vier Minuten für das, was zwei Leute eine Viertelstunde gekostet hat.",
    "Anton Brix ist vierundsechzig und führt seit 1981 ein Buch über jedes Boot. Das längste war ein Kahn mit Kies"
    " für die neue Brücke, der schräg hineinmusste, und das kleinste ein Waschzuber mit zwei Jungen und einem Hund."
    " Den Zuber ließ er nachts durch, weil die Jungen ihre Mutter mehr fürchteten als die Dunkelheit.",
    "Das Wasseramt sagt, dass niemand seine Arbeit verliert. Drei der Wärter gehen an das Wehr in Holm, wo die Tore"
    " noch jemanden brauchen, der hört, wenn ein Lager trocken läuft, und der vierte ist Brix selbst, der eine Hecke"
    " zu schneiden hat. Am ersten Mai steht die Schleuse von zehn bis fünf für alle offen.",
)
ORCHARD = (
    "The orchard behind the school has forty trees, and until this year nobody could say what half of them were. So"
    " the seventh form cut apples in two, drew the pips, counted the days until they were ripe and wrote to a man"
    " in the next valley who knows six hundred kinds by their smell.",
    "Thirty-one have names now. One is a cider apple that the register had as lost since the war, and another is"
    " only a seedling that somebody must have spat out by the fence. The class has grafted the lost one on nine"
    " young stems, which are to be had at the market for the price of the string.",
)
EMPLOYER = (
    "We are the hospital group of the northern coast, with six houses and four thousand people who work in them. We"
    " pay by the collective agreement of the public service and add a supplement for every weekend that you work.",
    "You get thirty days of leave, a room in our house for staff for the first half year, a ticket for bus and ferry,"
    " and a place in the day nursery beside the main house, which is open from five in the morning. People with a"
    " disability are preferred if they can do the work as well. Please apply with one file of at most ten"
    " megabytes, in which we find your certificates, and name the number of the advert.",
)
NURSE = (
    "For the children's ward in Holm we look for a nurse who keeps calm when twelve bells ring at once. You know"
    " infusions and small veins, you can explain to parents what happens next, and you do nights in turn with five"
    " colleagues who have been there for years.",
)
COOK = (
    "In the kitchen of our house in Ebben you cook for three hundred people at noon, half of them on a diet. You plan"
    " the week with the dietician, you buy fish from the harbour and vegetables from two farms, and you teach two"
    " apprentices how to hold a knife.",
)
BOOT = (
    "A boot for wet paths, made in our own workshop from cowhide of three millimetres, with a sole that is sewn on"
    " and can be sewn on again. The tongue is closed at both sides up to the fifth eyelet, so that a brook of ten"
    " centimetres stays where it is. Wear it for two weeks on short walks before you go far.",
    "Wash it with a brush and cold water, fill it with paper, and never dry it on a stove. Grease it when the leather"
    " looks grey. We send it within two days, and take it back within a month if it was worn indoors only.",
)
NOTICE = (
    "We are sorry, but the page that you asked for is not here any more, or has never been. Perhaps the address was"
    " typed with a mistake, or a link on another page is out of date. Try the search above, go back to the front"
    " page, or write to us and say where you found the link. We answer every letter within three days.",
)
NEWS = '<nav><a href="/">Front page</a> <a href="/town">Town</a> <a href="/river">River</a></nav>'
FOOT = "<footer>Printed and published by the Ebben Courier, Market Street 4</footer>"
BLOG = '<div class="sidebar"><p>About me</p><p>Older entries</p></div>'


def page(
    title: str, paragraphs: tuple[str, ...], before: str = "", after: str = "", language: str = "en"
) -> str:
    """Return a page with *title* as its title and its heading."""
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return (
        f'<html lang="{language}"><head><meta charset="utf-8"><title>{title}</title></head><body>{before}<main>'
        f"<h1>{title}</h1>{text}</main>{after}</body></html>"
    )


def job(title: str, place: str, own: tuple[str, ...]) -> str:
    """Return a job advert of the same employer, with structured data."""
    data = {
        "@context": "https://schema.org",
        "@type": "JobPosting",
        "title": title,
        "jobLocation": {"@type": "Place", "address": place},
    }
    script = f'<script type="application/ld+json">{json.dumps(data)}</script>'
    return page(title, (*own, *EMPLOYER), before=f'{script}<nav><a href="/jobs">All adverts</a></nav>')


def boot(colour: str) -> str:
    """Return the product page of a boot in one colour."""
    title = f"Walking boot Holm, {colour}"
    data = {"@context": "https://schema.org", "@type": "Product", "name": title, "color": colour}
    script = f'<script type="application/ld+json">{json.dumps(data)}</script>'
    return page(title, (f"Colour: {colour}. 189.00 euros.", *BOOT), before=script)


def listing(number: int, names: tuple[str, ...]) -> str:
    """Return one page of a list of entries."""
    rows = "".join(
        f'<li><a href="/e/{name}">{name} of the river</a><p>What the {name} does, and where it was seen.</p></li>'
        for name in names
    )
    pages = '<a href="?page=1">1</a> <a href="?page=2">2</a>'
    return (
        f"<html lang='en'><head><title>Birds, page {number}</title></head><body>{NEWS}<main><h1>Birds</h1><ul>{rows}"
        f"</ul>{pages}</main>{FOOT}</body></html>"
    )


TITLE = "The last keeper of the lock"
LATER = (
    "Added in the evening: the office has moved the day to the second of May, since the first is a Sunday."
)
PAIRS = {
    "print-view": Pair(page(TITLE, LOCK, NEWS, FOOT), page(TITLE, LOCK), True),
    "reprint": Pair(
        page(TITLE, LOCK, NEWS, FOOT),
        page(TITLE, LOCK, BLOG, "<p>Taken from the Courier with thanks.</p>").replace(
            "<h1>", "<h1>River diary: "
        ),
        True,
    ),
    "corrected-word": Pair(
        page(TITLE, LOCK, NEWS, FOOT),
        page(TITLE, LOCK, NEWS, FOOT)
        .replace("three of the keepers", "two of the keepers")
        .replace("gravel", "sand"),
        True,
    ),
    "two-adverts": Pair(
        job("Nurse for the children's ward", "Holm", NURSE), job("Cook for our kitchen", "Ebben", COOK), False
    ),
    "translation": Pair(
        page(TITLE, LOCK, NEWS), page("Der letzte Wärter der Schleuse", SCHLEUSE, NEWS, language="de"), False
    ),
    "product-variant": Pair(boot("brown"), boot("black"), False),
    "list": Pair(
        listing(1, ("heron", "coot", "grebe", "teal", "gadwall", "smew")),
        listing(2, ("bittern", "dipper", "avocet", "ruff", "knot", "curlew")),
        False,
    ),
    "short": Pair(
        page("Log in", ("Please log in to go on.",), NEWS),
        page("Log in", ("Please log in to go on.",), BLOG),
        True,
    ),
    "same-title": Pair(
        page("News of May", LOCK, NEWS, FOOT), page("News of May", ORCHARD, NEWS, FOOT), False
    ),
    # Near-duplicates by their text: before the boilerplate of the site is known, only different title keys
    # keep them apart.
    "same-text": Pair(page(TITLE, LOCK, NEWS, FOOT), page("Pumps for Ebben", LOCK, NEWS, FOOT), False),
    "soft-404": Pair(
        page("No page /river/old", NOTICE, NEWS), page("No page /town/fair", NOTICE, NEWS), False
    ),
    "revisit": Pair(page(TITLE, LOCK, NEWS, FOOT), page(TITLE, (*LOCK, LATER), NEWS, FOOT), True),
}
