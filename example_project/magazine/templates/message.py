"""Plain pages with a title and a few paragraphs: notices, about, the login page, the "not found" page."""

from collections.abc import Sequence

from magazine.templates import chrome
from magazine.templates.markup import Link, bullets, esc, paragraphs

NOT_FOUND_TEXT = """The page you asked for may have been moved when we tidied the archive, or it may
never have existed. Try the search box, look through the sections above, or ring the office between
ten and noon. Somebody will go down to the cellar and see whether there is a paper copy among the
bound volumes. If you followed a link from another site, please tell us which, so that we can ask
them kindly to put it right."""

LOGIN_TEXT = """To read on, please sign in with the e-mail address you gave us and the password you
chose. Membership costs three pounds a month and pays for the reporting, the printing press and the
office cat. Members may read everything we have published since 1962, come to the summer supper, and
borrow the good binoculars. Not a member yet? Join at the counter or by post, and the first month is
free. Forgotten your password? Ask at the harbour office, where they remember everything."""


def render(
    title: str, text: str, *, links: Sequence[Link] = (), declare: bool = True, extra: str = ""
) -> str:
    """Return a page of the main site with *text*, one paragraph per line, then *links* and the markup *extra*."""
    main = f"""<main class="message">
<h1>{esc(title)}</h1>
{paragraphs(text)}
{extra}
{bullets(links) if links else ""}
</main>"""
    return chrome.page("en", title, main, crumbs=[Link("/", "Home")], declare=declare)


def login(wanted: str) -> str:
    """Return the login page in place of the story at the path *wanted*, which is only in the form."""
    form = f"""<form method="post" action="/login">
<input type="hidden" name="next" value="{esc(wanted)}"><input type="hidden" name="csrf" value="{{{{token}}}}">
<label>E-mail <input name="email"></label> <label>Password <input type="password" name="password"></label>
<button>Sign in</button>
</form>"""
    return render("This story is for members", joined(LOGIN_TEXT), extra=form)


def not_found() -> str:
    """Return the page for an unknown address."""
    search = '<form action="/search"><input name="q"></form>'
    return render("We could not find that page", joined(NOT_FOUND_TEXT), extra=search)


def joined(text: str) -> str:
    """Return *text* of this module as one paragraph."""
    return " ".join(text.split())
