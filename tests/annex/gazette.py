"""The foreign editions: one story in three spellings of one language, each naming the others by hreflang."""

import re
from collections.abc import Iterator

from magazine.records import Record, read_records
from magazine.templates.markup import Link

from tests.annex.page import AnnexPage, link_element, listing, sheet
from tests.annex.standing import CONTENT

INDEX = "/annex/gazette"

# In the order in which a spelling stands between the braces of the content: {colour|color}.
REGIONS = {"en-gb": "at home", "en-us": "in America", "en-au": "in Australia"}
_SPELLED = re.compile(r"\{([^{}]*)\}")


def gazette_pages() -> Iterator[AnnexPage]:
    """Yield the index, which knows the home editions only, the editions, and what is said of the post to each."""
    stories = read_records("editions", CONTENT)
    home = [Link(_path("en-gb", story), story.required("title")) for story in stories]
    text = "Four stories as they are spelled elsewhere, and how the post goes there."
    yield listing(INDEX, "The foreign editions", text, home)
    for story in stories:
        for region in REGIONS:
            yield _edition(story, region)
    for post in read_records("post", CONTENT):
        yield sheet(
            _post(post.name), "notice", post.required("title"), post.blocks[0].text, lang=_code(post.name)
        )


def spelled(text: str, region: str) -> str:
    """Return *text* as it is spelled in *region*: the second spelling is American, the first everybody else's.

    >>> spelled("a {grey|gray} cover", "en-us"), spelled("a {grey|gray} cover", "en-au")
    ('a gray cover', 'a grey cover')
    """
    return _SPELLED.sub(lambda match: match[1].split("|")[region == "en-us"], text)


def _edition(story: Record, region: str) -> AnnexPage:
    text = "\n".join(spelled(block.text, region) for block in story.blocks)
    alternates = [
        link_element("alternate", _path(other, story), f' hreflang="{_code(other)}"') for other in REGIONS
    ]
    elsewhere = [
        Link(_path(other, story), f"As read {where}") for other, where in REGIONS.items() if other != region
    ]
    return sheet(
        _path(region, story),
        "edition",
        story.required("title"),
        text,
        links=[*elsewhere, Link(_post(region), "The post")],
        head=alternates,
        lang=_code(region),
        family=f"edition:{story.name}",
        role="language",
    )


def _path(region: str, story: Record) -> str:
    return f"{INDEX}/{region}/{story.name}"


def _post(region: str) -> str:
    return f"{INDEX}/{region}/post"


def _code(region: str) -> str:
    language, _, country = region.partition("-")
    return f"{language}-{country.upper()}"
