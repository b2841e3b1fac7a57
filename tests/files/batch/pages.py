"""Records of generated sites: stories, copies of them, text repeated on each site, and repeated URLs."""

from __future__ import annotations

from random import Random

from scrapy_simhash.files.records import Broken, Record

_SMALL = ("the", "of", "a", "to", "in", "and", "that")


def _words() -> list[str]:
    random = Random(1)
    made = ["".join(random.choices("abcdefghijklmnop", k=random.randint(2, 9))) for _ in range(2_000)]
    return made + list(_SMALL) * 100


WORDS = _words()


def records_of(number: int, seed: int = 0, *, hosts: int = 3, broken: float = 0.0) -> list[Record | Broken]:
    """Return *number* pages, of which a share *broken* is broken."""
    random = Random(seed)
    frames = [[_sentence(random, 25) for _ in range(8)] for _ in range(hosts)]
    stories: list[list[str]] = []
    found: list[Record | Broken] = []
    for at in range(number):
        place = f"pages:{at + 1}"
        if random.random() < broken:
            found.append(Broken(place, "not JSON"))
            continue
        story = [_sentence(random, 30) for _ in range(6)]
        if stories and random.random() < 0.35:
            story = list(random.choice(stories[-30:]))
            if random.random() < 0.6:
                story[random.randrange(6)] = _sentence(random, 30)
        stories.append(story)
        host = random.randrange(hosts)
        # Some URLs are repeated.
        path = at if random.random() < 0.9 else random.randrange(at + 1)
        url = f"https://site{host}.example/{path}"
        if random.random() < 0.05:
            found.append(Record(url, random.choice(("", "<p>Short.", "<title>Only a title</title>")), place))
        else:
            found.append(Record(url, html_of(story, random.sample(frames[host], 3)), place, seen=at))
    return found


def html_of(story: list[str], frame: list[str]) -> str:
    """Return a page with a *story* and the boilerplate of its site."""
    title = story[0][:30]
    blocks = "".join(f"<p>{sentence}</p>" for sentence in story)
    around = [f"<div><p>{sentence}</p></div>" for sentence in frame]
    return (
        f'<html lang="en"><head><title>{title}</title></head><body>{around[0]}<main><h1>{title}</h1>{blocks}</main>'
        f"{''.join(around[1:])}</body></html>"
    )


def _sentence(random: Random, words: int) -> str:
    return " ".join(random.choices(WORDS, k=words)) + "."
