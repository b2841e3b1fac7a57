"""One page before many addresses: sign-in, consent, puzzle, a cellar that finds nothing, charts drawn by a script."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from magazine.page import MAIN_HOST, Address
from magazine.records import read_pairs
from magazine.templates.markup import Link

from tests.annex.page import PREFIX, AnnexPage, listing, sheet, slug
from tests.annex.standing import CONTENT, read_text

CELLAR = "/annex/cellar"

# Each wall with the path of its room, the title of the room, and what its list says.
ROOMS = {
    "login": ("/annex/reading-room", "The reading room", "For members, and for the fire in winter."),
    "consent": ("/annex/listening-room", "The listening room", "Recordings of the town, on wax and wire."),
    "captcha": ("/annex/registers", "The parish registers", "Deaths, births and weathercocks."),
    "cellar": (CELLAR, "The cellar", "Bound volumes, as far as they can be found."),
    "charts": ("/annex/charts", "The chart table", "Charts that draw themselves, on a machine that can."),
}

_KINDS = {
    "login": "login-wall",
    "consent": "consent",
    "captcha": "captcha",
    "cellar": "soft-404",
    "charts": "shell",
}
_FORMS = {
    "login": '<form method="post"><input name="name"> <input type="password" name="word"> <button>Knock</button>',
    "consent": '<form method="post"><button>Accept all</button> <button>Refuse all</button>',
    "captcha": '<form method="post"><button>1</button> <button>2</button> <button>3</button>',
}
# What is asked for is repeated on the page, so nothing but letters and digits of it is.
_STRANGE = re.compile(r"[^\w-]+")


def walls_pages() -> Iterator[AnnexPage]:
    """Yield each room's list, then what stands at every address on it."""
    wanted = read_pairs("wanted.txt", ":", CONTENT)
    for wall, (room, title, text) in ROOMS.items():
        links = [Link(f"{room}/{slug(name)}", name) for own, name in wanted if own == wall]
        yield listing(room, title, text, links)
        for link in links:
            yield _shell(link.href) if wall == "charts" else _wall(wall, link.href)


def stranger(address: Address) -> AnnexPage:
    """Return the answer at an address that means nothing: a polite 200 in the cellar, an honest 404 elsewhere."""
    if address.host == MAIN_HOST and address.target.startswith(f"{CELLAR}/"):
        return _wall("cellar", address.target)
    title, text = "Nothing hangs here", "There is a nail in the wall and a pale square where something was."
    return AnnexPage(
        address, "not-found", sheet(PREFIX, "", title, text).content, text, status=404, lang="en-GB"
    )


def _wall(wall: str, path: str) -> AnnexPage:
    title, text = read_text(f"walls/{wall}")
    name = _STRANGE.sub(" ", unquote(path.rpartition("/")[2])).strip()
    form = (
        f'{_FORMS[wall]}<input type="hidden" name="csrf" value="{{{{token}}}}"></form>'
        if wall in _FORMS
        else ""
    )
    return sheet(path, _KINDS[wall], title, text.replace("{wanted}", name), extra=form, family=_KINDS[wall])


def _shell(path: str) -> AnnexPage:
    markup = """<!DOCTYPE html>
<html lang="en-GB">
<head><meta charset="utf-8"><title>Chart</title>
<script>window.chart = {"drawn": "{{built}}", "ink": "{{token}}"};</script>
</head>
<body><div id="root"></div><script>document.getElementById("root").append(draw(window.chart));</script></body>
</html>
"""
    return AnnexPage(Address.of(path), _KINDS["charts"], markup, lang="en-GB", family=_KINDS["charts"])
