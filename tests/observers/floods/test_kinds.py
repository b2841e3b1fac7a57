"""What the page of a flood is, told by the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scrapy_simhash import PageFingerprinter
from scrapy_simhash.observers.floods import Kind, kind_of, kinds
from scrapy_simhash.page.text import parse

PROSE = " ".join(
    f"The {thing} of the harbour was as old as the {other}, and nobody in the town had ever seen it move."
    for thing in ("clock", "crane", "bell", "lamp")
    for other in ("mill", "pier", "church")
)
PASSWORD = '<form action="/in"><input name="who"><input type="password" name="word"></form>'
SCRIPT = '<script src="/app.js"></script>'


def kind(markup: str, *, says_nothing: bool = False, group: str = "") -> Kind | None:
    root = parse(f"<!doctype html><html>{markup}</html>")
    document = PageFingerprinter().extract(root)
    return kind_of(document, root, says_nothing=says_nothing, group=group)


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (f"<main><h1>Welcome back</h1><p>Who are you today?</p>{PASSWORD}</main>", Kind.LOGIN_WALL),
        (f"<p>Welcome back!</p>{PASSWORD.replace('password', 'PASSWORD')}", Kind.LOGIN_WALL),
        # The widget of a captcha in a form to sign in.
        (f'<main><h1>Hello</h1>{PASSWORD}<div class="g-recaptcha"></div></main>', Kind.LOGIN_WALL),
        ("<title>Sign in - Example</title><p>With the account of your company.</p>", Kind.LOGIN_WALL),
        ("<title>登录 - 示例</title><p>请输入您的帐号</p>", Kind.LOGIN_WALL),
        # Each page of the site has that at its top, and this one has something to say.
        (f"<header>{PASSWORD}</header><main><h1>Opening times</h1><p>From ten until noon.</p></main>", Kind.REPEATS),
        (f"<main><h1>Your page</h1><p>{PROSE}</p>{PASSWORD}</main>", Kind.REPEATS),
        (f"<title>How to log in to a ship</title><main><p>{PROSE}</p></main>", Kind.REPEATS),
        ("<title>Just a moment...</title><p>This will not take long.</p>", Kind.CAPTCHA),
        ("<title>Shop</title><h1>Are you a robot?</h1><p>Press here.</p>", Kind.CAPTCHA),
        ('<p>One more step.</p><iframe src="https://challenges.cloudflare.com/x"></iframe>', Kind.CAPTCHA),
        ('<p>One more step.</p><div class="h-captcha" data-sitekey="1"></div>', Kind.CAPTCHA),
        ('<p>Press to go on.</p><form id="cf-challenge"></form>', Kind.CAPTCHA),
        ("<p>Please verify that you are human by completing the action below.</p>", Kind.CAPTCHA),
        # Those who comment are asked; the page is about something else.
        (f'<main><p>{PROSE}</p><div class="g-recaptcha"></div></main>', Kind.REPEATS),
        ("<title>Before you continue</title><form><button>Yes</button></form>", Kind.CONSENT),
        ("<main><p>We and our partners keep things.</p><button>Accept</button></main>", Kind.CONSENT),
        ("<main><h1>Hello</h1><p>We keep a few things.</p><button>Accept all</button></main>", Kind.CONSENT),
        ("<main><h1>Hello</h1><p>We keep things.</p><input type=submit value='Alle akzeptieren'>", Kind.CONSENT),
        # The banner is on every page.
        ("<div class=cookie-banner><button>Accept all</button></div><p>From ten until noon.</p>", Kind.REPEATS),
        ("<main><p>To show settings for cookies: accept all cookies in the menu.</p></main>", Kind.REPEATS),
        ("<title>404 - Example</title><p>Have a look around.</p>", Kind.SOFT_404),
        (f"<h1>We could not find that page</h1><main><p>{PROSE}</p></main>", Kind.SOFT_404),
        ("<title>Example</title><h1>Oh dear</h1><main><p>That page does not exist.</p></main>", Kind.SOFT_404),
        ("<title>Página no encontrada</title><p>Pruebe otra vez.</p>", Kind.SOFT_404),
        ("<title>ページが見つかりません</title><p>ホームへ</p>", Kind.SOFT_404),
        ("<title>您访问的页面不存在 - 示例</title><p>返回首页</p>", Kind.SOFT_404),
        (f'<body><div id="root"></div>{SCRIPT}', Kind.EMPTY_SHELL),
        ("<body><noscript>You need to enable JavaScript to run this.</noscript>", Kind.EMPTY_SHELL),
        ("<main><p>The office is on the second floor.</p></main>", Kind.REPEATS),
        (f"<main><h1>The harbour</h1><p>{PROSE}</p></main>", Kind.REPEATS),
    ],
)  # fmt: skip
def test_a_page_tells_its_kind(markup: str, expected: Kind) -> None:
    assert kind(markup) is expected


def test_urls_that_grow_make_a_trap_of_a_page_that_tells_nothing_else() -> None:
    page = f"<main><h1>Events</h1><p>{PROSE}</p></main>"
    assert kind(page, group="/calendar/{number}") is Kind.TRAP
    assert kind(page, group="/calendar/*") is Kind.REPEATS
    assert kind("<title>404</title>" + page, group="/calendar/{number}") is Kind.SOFT_404


MENU = "<nav>" + "<a href='/x'>A section of the site</a> " * 20 + "</nav>"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (f'<body><div id="app"></div>{SCRIPT}', Kind.EMPTY_SHELL),
        (f'<body>{MENU}<div id="app"> </div>{SCRIPT}', Kind.EMPTY_SHELL),
        # A gallery has no text either, and all of it is there.
        (f'<body>{MENU}<div id="app"><img src="/1.jpg" alt="">1</div>{SCRIPT}', None),
        (f"<body>{MENU}<img src='/1.jpg'>{SCRIPT}", None),
        ("<body><img src='/1.jpg'>", None),
        (f"<body>{PASSWORD}", Kind.LOGIN_WALL),
    ],
)
def test_pages_without_text_are_shells_only_if_they_look_so(markup: str, expected: Kind | None) -> None:
    assert kind(markup, says_nothing=True) is expected


def test_the_tree_is_only_read() -> None:
    from lxml import etree

    root = parse(f"<html><body><!-- a note -->{MENU}<main><p>{PROSE}</p>{PASSWORD}</main></body></html>")
    before = etree.tostring(root)
    kind_of(PageFingerprinter().extract(root), root)
    assert etree.tostring(root) == before


@pytest.mark.parametrize(
    "piece", ["<button>Accept<div>", '<div id="root">x', '<input type="password"><div hidden>']
)
def test_of_very_many_elements_a_hundred_are_looked_at(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0

    def counted(ask: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def count(element: Any) -> Any:
            nonlocal asked
            asked += 1
            return ask(element)

        return count

    for name in ("_beginning", "_is_boilerplate", "_is_header_or_hidden"):
        monkeypatch.setattr(kinds, name, counted(getattr(kinds, name)))
    kind(piece * 1000)
    # The text of each, and two elements that are around it.
    assert asked <= 3 * kinds.MOST_ASKED + 10


def test_of_a_long_button_the_beginning_is_read() -> None:
    button = parse(f"<button>Accept {'all ' * 1000}<b>more</b></button>").find(".//button")
    assert kinds._beginning(button) == f"Accept {'all ' * 1000}"[: kinds.LONGEST_BUTTON]


def test_elements_after_very_many_are_not_looked_at() -> None:
    field = '<input type="password">'
    for before, expected in ((kinds.MOST_ELEMENTS - 10, True), (kinds.MOST_ELEMENTS, False)):
        assert kinds._signs(parse("<br>" * before + field)).has_password is expected


def test_of_a_mount_and_a_button_the_first_nodes_tell() -> None:
    comments = "<!-- -->" * (2 * kinds.MOST_INSIDE)
    assert not kinds._signs(parse('<div id="root"><!-- -->x</div>')).has_mount
    assert kinds._signs(parse(f'<div id="root">{comments}x</div>')).has_mount
    assert kinds._signs(parse(f"<button><!-- -->Accept{comments} all</button>")).buttons == "Accept"


@pytest.mark.parametrize(
    ("group", "expected"),
    [("", Kind.REPEATS), ("/calendar/{number}", Kind.TRAP), ("/stories/*", Kind.REPEATS)],
)
def test_a_page_that_is_not_read_is_told_by_its_urls(group: str, expected: Kind) -> None:
    assert kinds.kind_by_urls(group) is expected
