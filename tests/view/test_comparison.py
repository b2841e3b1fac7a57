"""scrapy-simhash compare and text: verdict, differences and main text, for people, programs and browsers."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_simhash.page.text.main_text import REASONS
from scrapy_simhash.view.texts import GREEN, LEFT_OUT, PLAIN, RED
from tests.browser import Reader
from tests.cli.example_files import FERRY, PILOT, html
from tests.commands import Cli
from tests.fixtures.pages import FOLDER

FIRST = f"{FERRY} it go."
#: Three of its words are replaced.
EDITED = FIRST.replace("noon", "ten").replace("half", "all").replace("quay", "beach")
#: Attempts to move the cursor, to close a tag, and to run a script.
HOSTILE = "The \x9b2J <script>alert(1)</script> <img src=x onerror=alert(2)> \u202e ferry & \"quay\" 'berth'."


def page(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(html(text), "utf-8")
    return str(path)


def test_a_similarity_is_never_rounded_up_to_a_threshold_it_does_not_reach(
    tmp_path: Path, command: Cli
) -> None:
    words = [f"{FERRY} it go. Word {number}" for number in range(12)]
    a = page(tmp_path, "a.html", " ".join(words))
    for changed in range(1, 12):
        b = page(tmp_path, "b.html", " ".join([*words[changed:], PILOT]))
        found = command.json("compare", a, b)
        for change in found["changed_by"]:
            if change["setting"] == "SIMHASH_MIN_SIMILARITY" and found["is_near_duplicate"]:
                assert found["similarity"] < change["value"]


def test_a_sign_that_only_one_name_has_is_shown(tmp_path: Path, command: Cli) -> None:
    for name, model in (("a.html", "S9"), ("b.html", "S9+")):
        (tmp_path / name).write_text(html(FIRST).replace("News", f"Galaxy {model}"), "utf-8")
    shown = command("compare", tmp_path / "a.html", tmp_path / "b.html")
    assert "their names contradict each other (- / s9+)" in shown


def test_a_terminal_shows_differing_words_in_colour_unless_no_color_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Cli
) -> None:
    pair = page(tmp_path, "a.html", FIRST), page(tmp_path, "b.html", EDITED)
    plain = command("compare", *pair)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert command("compare", *pair) == plain
    monkeypatch.delenv("NO_COLOR")
    coloured = command("compare", *pair)
    assert f"{RED}noon,{PLAIN} {GREEN}ten,{PLAIN}" in coloured


def test_every_reason_to_remove_a_block_is_described() -> None:
    assert set(LEFT_OUT) == set(REASONS) - {None}


def test_a_long_page_next_to_a_short_page_is_shown_up_to_a_limit(tmp_path: Path, command: Cli) -> None:
    paragraphs = (
        "<p>" + " ".join(f"the boat {number} went out {word}" for word in range(40)) for number in range(300)
    )
    short, long = page(tmp_path, "short.html", FIRST), page(tmp_path, "long.html", "".join(paragraphs))
    lines = command("compare", short, long).splitlines()
    assert len(lines) < 150
    assert "... 280 more paragraphs that differ: --html FILE shows all ..." in lines


SAME = "near-duplicates: title and main text are identical"
LOGIN = "not near-duplicates: a login, consent or captcha page is not compared"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FIRST, [SAME, "no single setting of the rule would change the result"]),
        ("Four short words here", [SAME, ""]),
        ("Please log in to read on <input type=password>", [f"{LOGIN} (-a-, -b-)", ""]),
    ],
)
def test_login_pages_are_not_near_duplicates(
    text: str, expected: list[str], tmp_path: Path, command: Cli
) -> None:
    a, b = page(tmp_path, "a.html", text), page(tmp_path, "b.html", text)
    assert command("compare", a, b).replace(a, "-a-").replace(b, "-b-").splitlines()[:2] == expected


def test_pages_with_so_little_text_that_a_crawl_skips_them_are_shown_as_skipped(command: Cli) -> None:
    albums = [str(FOLDER / "scroll" / f"album-{name}.html") for name in ("harbour", "market")]
    assert command("compare", *albums).splitlines()[:2] == [
        SAME,
        "a crawl skips them as short_text, unless their URLs have the same path",
    ]


# --- Hostile pages, and browsers.


def test_pages_are_shown_without_control_characters(tmp_path: Path, command: Cli) -> None:
    a = page(tmp_path, "a.html", FIRST)
    b = page(tmp_path, "b.html", HOSTILE.replace("<", "&lt;").replace("\x9b", "&#155;") + EDITED)
    assert all(sign.isprintable() or sign == "\n" for sign in command("compare", a, b))


@pytest.mark.parametrize("verb", ["compare", "text"])
def test_in_a_browser_no_script_of_a_page_runs_and_all_text_is_shown(
    verb: str, tmp_path: Path, command: Cli, reader: Reader
) -> None:
    hostile = HOSTILE.replace("<", "&lt;")
    a = page(
        tmp_path,
        "a.html",
        f"{hostile} {FIRST}</p></main><title>\x1b]0;x\x07 {hostile}</title><nav>Menu</nav><p>",
    )
    b, out = page(tmp_path, "b.html", EDITED), tmp_path / "out.html"
    assert command(verb, a, b, "--html", out) == ""
    assert out.read_bytes().isascii()
    reader.open(str(out))
    shown = reader.page.text_content("main")
    assert "<script>alert(1)</script>" in shown
    assert "\\u{202e}" in shown
    assert all(sign.isprintable() or sign == "\n" for sign in shown)
    if verb == "compare":
        marks = reader.page.eval_on_selector_all("mark", "all => all.map(one => one.textContent)")
        assert {"ten,", "beach"} <= {word for mark in marks for word in mark.split()}
        # Differences come before the omitted text, which is collapsed.
        headings = reader.page.eval_on_selector_all("h2", "all => all.map(one => one.textContent)")
        assert headings == ["Differences", "Both pages"]
    assert not reader.page.locator("li", has_text="Menu").is_visible()
    for _ in range(2):
        assert reader.faults() == []
        reader.page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true })")
