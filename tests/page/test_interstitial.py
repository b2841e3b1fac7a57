"""Interstitials are never compared and never dropped; other pages with hardly any text differ by their data."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from scrapy_simhash import NearDuplicateDetector, PageFingerprinter, Reason, Status
from scrapy_simhash.page.interstitial import FEW_TOKENS, MIN_WORDS, data_of
from scrapy_simhash.page.text import extract, parse

SIGN_IN = (
    "<h1>Sign in</h1>"
    "<p>Members of the rowing club sign in here to see when their boat is free, and who is in it.</p>"
)
CONSENT = (
    "<p>We and our partners use cookies to store what you like and to measure how many read this page.</p>"
)
STORY = "".join(
    f"<p>On day {n} the crew rowed from the lock to the old mill and back, against the wind and the tide.</p>"
    for n in range(6)
)
LINKS = "".join(f"<li><a href=/{n}>Boat number {n} of the club, with oars</a></li>" for n in range(9))
NAV = "<nav><a href=/>Home</a> <a href=/boats>Boats</a> <a href=/dates>Dates of the season</a></nav>"

WALLS = {
    "password": f"<main>{SIGN_IN}<form action=/in><input name=u><input type=password name=p></form></main>",
    "password in capitals": f"<div class=login>{SIGN_IN}<form><input TYPE=Password></form></div>",
    "password in a section": f"<section class=modal><form>{SIGN_IN}<input type=password></form></section>",
    "recaptcha": "<p>Checking that you are human.</p><div class=g-recaptcha data-sitekey=x></div>",
    "hcaptcha": "<h1>One more step</h1><form id=challenge-form><div class='h-captcha big'></div></form>",
    "turnstile": "<h1>Just a moment...</h1><div class=cf-turnstile></div>",
    "challenge page": "<h1>Just a moment...</h1><script src=/cdn-cgi/challenge-platform/h/b/chl_page/v1></script>",
    "delivered captcha": "<p>Please enable JS</p><iframe src=https://geo.captcha-delivery.com/captcha/?x></iframe>",
    "firewall": "<div id=challenge-container></div><script src=https://x.token.awswaf.com/y/challenge.js></script><p>Wait",
    "captcha in a dialog": "<dialog><iframe src=https://geo.captcha-delivery.com/x></iframe></dialog><p>Please wait",
    "dialog": f"<h1>Boats</h1><div role=dialog>{CONSENT * 3}<button>Accept</button></div>",
    "consent alone": f"{NAV}<div id=cookie-consent>{CONSENT * 3}<button>Accept</button></div>",
    "consent of a tool": f"<div id=onetrust-consent-sdk>{CONSENT * 9}</div>",
}
#: Fields in elements that are skipped.
FIELDS = [
    "<fieldset><legend>You</legend><input type=password></fieldset>",
    "<label>Word <input type=password></label>",
    "<p>Word: <input name=p type=PASSWORD>",
    "<fieldset><div class='g-recaptcha x'></div></fieldset>",
    "<div id=g-recaptcha></div>",
]
WALLS |= {field: f"<main>{SIGN_IN}<form>{field}</form></main>" for field in FIELDS}
OTHERS = {
    "password in the header": f"<header><form><input type=password></form></header><main>{SIGN_IN}</main>",
    "password in the menu": f"<nav><form><input type=password></form></nav><main>{SIGN_IN}</main>",
    "hidden password": f"<main>{SIGN_IN}</main><form style='display: none'><input type=password></form>",
    "password beside a story": f"<main><h1>The mill</h1>{STORY}</main><form><input type=password></form>",
    "test beside a story": f"<main><h1>The mill</h1>{STORY}</main><div class=g-recaptcha></div>",
    "script of a test": f"<main>{SIGN_IN}</main><script src=https://www.google.com/recaptcha/api.js></script>",
    "script on all pages": f"<main>{SIGN_IN}</main><script src=/cdn-cgi/challenge-platform/jsd/main.js></script>",
    "words of a test": f"<main>{SIGN_IN}<p class=no-g-recaptcha>About captchas, and how to pass them.</p></main>",
    "consent before cards": f"<div role=dialog>{CONSENT * 3}</div><main><h1>Boats</h1><ul>{LINKS}</ul></main>",
    "a line about cookies": "<div class=cookie-box>We use cookies.</div><p>The old mill of the town in fog.</p>",
    "consent before a line": f"<div class=cookie-box>{CONSENT}</div><main>{SIGN_IN}</main>",
}


@pytest.mark.parametrize("page", WALLS.values(), ids=WALLS)
def test_an_interstitial_is_not_compared_and_has_its_reason(page: str) -> None:
    detector = NearDuplicateDetector()
    verdicts = [
        detector.check(f"<html lang=en><title>Club</title><body>{page}", f"https://e.org/{n}") for n in "ab"
    ]
    assert [(verdict.status, verdict.reason) for verdict in verdicts] == [
        (Status.SKIPPED, Reason.INTERSTITIAL)
    ] * 2
    assert verdicts[1].duplicate_of is None


@pytest.mark.parametrize("page", OTHERS.values(), ids=OTHERS)
def test_a_page_with_a_login_form_or_a_consent_box_is_a_page(page: str) -> None:
    detector = NearDuplicateDetector()
    html = f"<html lang=en><title>Club</title><body>{page}"
    assert detector.check(html, "https://e.org/a").reason is not Reason.INTERSTITIAL
    assert detector.check(html, "https://e.org/b").status is Status.NEAR_DUPLICATE


def test_an_interstitial_is_never_an_original() -> None:
    detector = NearDuplicateDetector()
    wall = f"<title>Club</title><main>{SIGN_IN}<form><input type=password></form></main>"
    assert detector.check(wall, "https://e.org/a").reason is Reason.INTERSTITIAL
    # The page itself, fetched later, is new, not changed.
    page = f"<title>Club</title><main><h1>The mill</h1>{STORY}</main>"
    assert detector.check(page, "https://e.org/a").status is Status.NEW


def test_a_page_with_sixty_words_is_never_an_interstitial() -> None:
    form = "<form><input type=password></form>"
    for tokens in (FEW_TOKENS - 1, FEW_TOKENS):
        html = f"<body><p>{'word ' * tokens}</p>{form}"
        assert PageFingerprinter().read(html).is_interstitial is (tokens < FEW_TOKENS)


# --- Data in scripts and attributes.

PLEA = (
    "<noscript>You need to enable JavaScript to run this app. Please switch it on in the settings of your browser,"
    " and load the page once more.</noscript>"
)
LINES = "<p>The map shows the place that was chosen. It is moved with the mouse, and made larger with the wheel.</p>"
NAMES = (
    "harbour lantern meadow quarry ferry orchard chapel tower mill bridge canal market station forest clinic"
)


def text(number: int) -> str:
    """Return 45 words that depend on the number."""
    return " ".join(f"{name}{letter}{'abcdefghij'[number]}" for name in NAMES.split() for letter in "xyz")


def script(number: int, kind: str = "application/json", more: str = "") -> str:
    return f'<script type="{kind}">{more}{json.dumps({"name": text(number), "lines": [text(number)] * 2})}</script>'


@pytest.mark.parametrize(
    "form",
    [
        lambda number: script(number) + PLEA,
        lambda number: script(number, "text/javascript", "window.__DATA__ = ") + PLEA,
        lambda number: script(number, "", "var state=") + PLEA,
        lambda number: f'<div data-place="{text(number)}" data-text="{text(number)}"></div>{LINES}',
    ],
)
def test_pages_with_different_data_are_not_copies_and_those_with_equal_data_are(
    form: Callable[[int], str],
) -> None:
    detector = NearDuplicateDetector()
    pages = [f"<html lang=en><title>App</title><body><div id=app></div>{form(n)}" for n in (0, 1, 2, 0)]
    verdicts = [detector.check(page, f"https://example.com/{place}") for place, page in enumerate(pages)]
    assert [verdict.duplicate_of for verdict in verdicts] == [None, None, None, "https://example.com/0"]


@pytest.mark.parametrize(
    "html",
    [
        "",
        PLEA,
        script(0, "application/ld+json"),
        f'<script>load("{text(0)}")</script>',
        f'<div data-toggle="{"a " * MIN_WORDS}"></div>',
        # The visible text is longer than the data.
        f"<p>{text(1)} {text(2)} {text(3)}</p>{script(0)}",
        f"<ul>{''.join(f'<li><a href=/{n}>{text(n)}</a>' for n in range(9))}</ul>{script(0)}",
        # Numbers change between visits.
        '<script type="application/json">' + json.dumps(list(range(1_000))) + "</script>",
        '<script type="application/json"></script><!-- --><?pi?>',
    ],
)
def test_other_scripts_and_attributes_are_not_data(html: str) -> None:
    root = parse(f"<body>{html}")
    shown = sum(len(part.tokens) for part in extract(root).paragraphs)
    assert data_of(root, shown).rows == ()
