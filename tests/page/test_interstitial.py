"""Interstitials are recognised by structure, never compared and never dropped."""

from __future__ import annotations

import pytest

from scrapy_simhash import NearDuplicateDetector, PageFingerprinter, Reason, Status
from scrapy_simhash.page.interstitial import FEW_TOKENS

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
