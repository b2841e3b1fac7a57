"""scrapy-simhash compare and text: verdict, differences and main text, for people, programs and browsers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import combinations
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any

import pytest
from scrapy import Request
from scrapy.utils.request import fingerprint

from benchmarks.lib.shared_text.titles import TitlePlan, make_title_site
from scrapy_simhash import Config, NearDuplicateDetector, PageFingerprinter, Status
from scrapy_simhash.detector import header_for
from scrapy_simhash.page.text.main_text import REASONS
from scrapy_simhash.store.sqlite import SqliteStore
from scrapy_simhash.view.side_by_side import LEFT_OUT
from scrapy_simhash.view.terminal import GREEN, PLAIN, RED, columns
from tests.browser import Reader
from tests.cli.example_files import FERRY, PILOT, html
from tests.view.conftest import Command

FIRST = f"{FERRY} it go."
#: Three of its words are others.
EDITED = FIRST.replace("noon", "ten").replace("half", "all").replace("quay", "beach")
#: What a page might try: to move the cursor, to end a tag, to run.
HOSTILE = "The \x9b2J <script>alert(1)</script> <img src=x onerror=alert(2)> \u202e ferry & \"quay\" 'berth'."


def page(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(html(text), "utf-8")
    return str(path)


# --- The verdict.


@pytest.mark.parametrize("text", [FIRST, EDITED, f"{FIRST} Fog.", f"{PILOT} lost one of them.", "Too short."])
@pytest.mark.parametrize("rule", ["similarity", "classic"])
def test_the_verdict_and_its_figures_are_those_of_the_library(
    text: str, rule: str, tmp_path: Path, command: Command
) -> None:
    a, b = page(tmp_path, "a.html", FIRST), page(tmp_path, "b.html", text)
    fingerprinter = PageFingerprinter(Config(rule=rule))
    one, other = (fingerprinter.from_html(Path(path).read_text("utf-8")) for path in (a, b))
    found = command.json("compare", a, b, "-s", f"SIMHASH_RULE={rule}")
    assert found["is_near_duplicate"] is fingerprinter.is_near_duplicate(one, other)
    assert [page["fingerprint"] for page in found["pages"]] == [one and one.hex, other and other.hex]
    assert found["distance"] == (
        None if one is None or other is None else (one.value ^ other.value).bit_count()
    )
    assert (found["similarity"] is None) == (rule == "classic" or other is None)
    said = command("compare", a, b, "-s", f"SIMHASH_RULE={rule}")
    assert said.startswith("near-duplicates: " if found["is_near_duplicate"] else "not near-duplicates: ")


@pytest.mark.parametrize(("scheme", "digits"), [("moz", 16), ("tests.page.schemes.own.LONG", 32)])
def test_pages_are_compared_by_the_scheme_that_is_set(
    scheme: str, digits: int, tmp_path: Path, command: Command
) -> None:
    a, b = page(tmp_path, "a.html", FIRST), page(tmp_path, "b.html", f"{FIRST} Fog came in.")
    found = command.json("compare", a, b, "-s", f"SIMHASH_SCHEME={scheme}")
    assert [len(page["fingerprint"]) for page in found["pages"]] == [digits, digits]
    values = [int(page["fingerprint"], 16) for page in found["pages"]]
    assert found["distance"] == (values[0] ^ values[1]).bit_count()
    assert found["is_near_duplicate"] is found["is_near_by_text"] is (found["distance"] <= 3)
    [changed] = found["changed_by"]
    assert changed["setting"] == "SIMHASH_MAX_DISTANCE"


@pytest.mark.parametrize("rule", ["similarity", "classic"])
@pytest.mark.parametrize("text", [f"{FIRST} Fog came in.", EDITED])
def test_the_setting_that_would_change_the_verdict_does_and_none_nearer_does(
    rule: str, text: str, tmp_path: Path, command: Command
) -> None:
    pages = page(tmp_path, "a.html", FIRST), page(tmp_path, "b.html", text)
    options = [*pages, "-s", f"SIMHASH_RULE={rule}"]
    found = command.json("compare", *options)
    assert found["changed_by"]
    for change in found["changed_by"]:
        name, value, present = change["setting"], change["value"], change["present"]
        assert (
            command.json("compare", *options, "-s", f"{name}={value}")["is_near_duplicate"]
            is not found["is_near_duplicate"]
        )
        step = 0.001 if name == "SIMHASH_MIN_SIMILARITY" else 1
        nearer = round(value + (step if value < present else -step), 3)
        same = command.json("compare", *options, "-s", f"{name}={nearer}")
        assert same["is_near_duplicate"] is found["is_near_duplicate"]
        assert f"{name} = {value}" in command("compare", *options)


def test_two_short_pages_with_one_text_are_near_duplicates_as_in_a_crawl(
    tmp_path: Path, command: Command
) -> None:
    a, b = page(tmp_path, "a.html", "Please log in."), page(tmp_path, "b.html", "Please  log<br>in.")
    assert command("compare", a, b).startswith("near-duplicates: title and main text are identical\n")
    c = page(tmp_path, "c.html", "Please log out.")
    assert command("compare", a, c).startswith("not near-duplicates: too little text for a fingerprint\n(")


def test_the_share_in_common_is_that_of_all_shingles(tmp_path: Path, command: Command) -> None:
    a, b = page(tmp_path, "a.html", "one two three four"), page(tmp_path, "b.html", "one two three five")
    # one two, two three; three four, three five.
    assert command.json("compare", a, b, "-s", "SIMHASH_MIN_SHINGLES=1")["common_share"] == 0.5


# --- The texts.


def test_the_verdict_comes_first_then_the_differences_then_the_rest(tmp_path: Path, command: Command) -> None:
    menu = "".join(f"<li><a href=/{number}>Section {number}</a>" for number in range(40))
    a, b = (
        page(tmp_path, f"{name}.html", f"{text}</p></main><nav><ul>{menu}</ul></nav><main><p>")
        for name, text in (("a", FIRST), ("b", EDITED))
    )
    said = command("compare", a, b)
    places = [
        said.index(text)
        for text in ("distance ", "They would".lower(), "[-noon,-] {+ten,+}", "left out: ", "rule: ")
    ]
    assert places == sorted(places)
    assert "Section 7" not in said


def test_a_similarity_is_never_shown_as_the_threshold_that_it_does_not_reach(
    tmp_path: Path, command: Command
) -> None:
    words = [f"{FERRY} it go. Word {number}" for number in range(12)]
    a = page(tmp_path, "a.html", " ".join(words))
    for changed in range(1, 12):
        b = page(tmp_path, "b.html", " ".join([*words[changed:], PILOT]))
        found = command.json("compare", a, b)
        for change in found["changed_by"]:
            if change["setting"] == "SIMHASH_MIN_SIMILARITY" and found["is_near_duplicate"]:
                assert found["similarity"] < change["value"]


def test_in_a_terminal_words_that_differ_are_coloured_unless_no_color_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    pair = page(tmp_path, "a.html", FIRST), page(tmp_path, "b.html", EDITED)
    plain = command("compare", *pair)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    assert command("compare", *pair) == plain
    monkeypatch.delenv("NO_COLOR")
    coloured = command("compare", *pair)
    assert f"{RED}noon,{PLAIN} {GREEN}ten,{PLAIN}" in coloured
    for sign in (RED, GREEN, PLAIN):
        coloured = coloured.replace(sign, "")
    assert {columns(line) <= 80 for line in coloured.splitlines()} == {True}


def test_every_reason_for_which_a_block_is_left_out_is_explained() -> None:
    assert set(LEFT_OUT) == set(REASONS) - {None}


@pytest.mark.parametrize("verb", ["compare", "text"])
def test_wide_signs_take_two_columns(verb: str, tmp_path: Path, command: Command) -> None:
    a, b = page(tmp_path, "a.html", "船が港に帰った。" * 20), page(tmp_path, "b.html", "船は海に出た。" * 20)
    lines = command(verb, a, b).splitlines()
    assert 70 < max(map(columns, lines)) <= 80


def test_a_long_page_beside_a_short_one_is_shown_by_its_beginning(tmp_path: Path, command: Command) -> None:
    paragraphs = (
        "<p>" + " ".join(f"the boat {number} went out {word}" for word in range(40)) for number in range(300)
    )
    short, long = page(tmp_path, "short.html", FIRST), page(tmp_path, "long.html", "".join(paragraphs))
    lines = command("compare", short, long).splitlines()
    assert len(lines) < 150
    assert "... 280 more paragraphs that differ: --html FILE shows all ..." in lines


TEXT = f"""\
<html lang="en"><title>Ferry</title><body>
<nav><a href="/">Home \x9b2J</a> <a href="/boats">Boats</a></nav>
<main><h1>Ferry</h1><p>{FERRY} it go.</p><p>{PILOT} lost one. &lt;script&gt;</p></main>
<footer>All rights are &lt;b&gt; reserved by the harbour.</footer></body></html>
"""


def test_the_main_text_is_that_which_the_library_compares_and_comes_before_what_is_left_out(
    tmp_path: Path, command: Command
) -> None:
    (tmp_path / "ferry.html").write_text(TEXT, "utf-8")
    (tmp_path / "short.html").write_text("<p>No.", "utf-8")
    pages = [str(tmp_path / name) for name in ("ferry.html", "short.html")]
    facts, _ = command.json("text", *pages)
    document = PageFingerprinter().extract(TEXT)
    told = [(each["text"], each["left_out"]) for each in facts["text"]]
    assert told == [(each.text, each.boilerplate) for each in document.paragraphs]
    assert {reason for _, reason in told} == {None, "chrome"}
    said = command("text", *pages)
    places = [
        said.index(text) for text in ("[1 left out]", FERRY[:40], PILOT[:40], "- Home ?2J Boats", pages[1])
    ]
    assert places == sorted(places)
    assert said.count("too little text for a fingerprint") == 1
    assert all(sign.isprintable() or sign == "\n" for sign in said)


# --- Hostile pages, and browsers.


def test_nothing_of_a_page_moves_the_cursor(tmp_path: Path, command: Command) -> None:
    a = page(tmp_path, "a.html", FIRST)
    b = page(tmp_path, "b.html", HOSTILE.replace("<", "&lt;").replace("\x9b", "&#155;") + EDITED)
    assert all(sign.isprintable() or sign == "\n" for sign in command("compare", a, b))


@pytest.fixture
def reader(browser: Any) -> Iterator[Reader]:
    context = browser.new_context(reduced_motion="reduce")
    yield Reader(context.new_page(), "file://", "body")
    context.close()


@pytest.mark.parametrize("verb", ["compare", "text"])
def test_in_a_browser_nothing_of_a_page_runs_and_all_is_shown(
    verb: str, tmp_path: Path, command: Command, reader: Reader
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
        # Differences come before what is left out, which is folded.
        headings = reader.page.eval_on_selector_all("h2", "all => all.map(one => one.textContent)")
        assert headings == ["Differences", "Both pages"]
    assert not reader.page.locator("li", has_text="Menu").is_visible()
    for _ in range(2):
        faults = [
            fault
            for width in (360, 1280)
            for scheme in ("light", "dark")
            for fault in reader.faults(width, scheme)
        ]
        assert faults + reader.wrong() == []
        reader.page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true })")


# --- Where pages come from.


@pytest.fixture
def site() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = self.path == "/ferry"
            self.send_response(200 if known else 404)
            self.send_header("Content-Type", "text/html; charset=latin-1")
            self.end_headers()
            self.wfile.write(html(f"{FIRST} Fähre." if known else "No such page.").encode("latin-1"))

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_url_is_fetched_and_decoded_by_its_header(site: str, tmp_path: Path, command: Command) -> None:
    found = command.json("compare", f"{site}/ferry", page(tmp_path, "a.html", f"{FIRST} Fähre."))
    assert (found["is_same_text"], found["pages"][0]["page"]) == (True, f"{site}/ferry")


def test_a_url_that_answers_with_an_error_is_a_failure(site: str, command: Command) -> None:
    assert command.fails("compare", f"{site}/none", f"{site}/none") == (
        1,
        f"cannot fetch {site}/none: HTTP Error 404: Not Found",
    )


def test_a_page_of_a_store_is_compared_by_its_fingerprint(tmp_path: Path, command: Command) -> None:
    pages = {"https://a.example/1": FIRST, "https://a.example/2": EDITED}
    records = [{"url": url, "html": html(text)} for url, text in pages.items()]
    (tmp_path / "pages.jsonl").write_text("\n".join(map(json.dumps, records)), "utf-8")
    store, feed = str(tmp_path / "a.sqlite"), str(tmp_path / "pages.jsonl")
    options = ["-s", "SIMHASH_MIN_SIMILARITY=0.7"]
    command("import", store, feed, "--html-field", "html", *options)
    a, b = page(tmp_path, "a.html", FIRST), page(tmp_path, "b.html", EDITED)
    expected = command.json("compare", a, b, *options)
    for pair in (list(pages), [a, "https://a.example/2"]):
        found = command.json("compare", *pair, "--store", store)
        for figure in ("rule", "is_near_duplicate", "distance", "similarity", "titles", "changed_by"):
            assert found[figure] == expected[figure], figure
        assert found["pages"][1]["is_stored"]
        assert found["common_share"] is None
        assert "stored, without its text" in command("compare", *pair, "--store", store)
        command("compare", *pair, "--store", store, "--html", str(tmp_path / "out.html"))
        assert "stored, without its text" in (tmp_path / "out.html").read_text("ascii")
    complaint = command.fails("compare", a, "https://a.example/3", "--store", store)
    assert complaint == (1, f"{store} has no page 'https://a.example/3'")
    complaint = command.fails("compare", store, "https://a.example/1")
    assert complaint == (1, f"{store} is a store, not a page: look pages up in it with --store {store} URL")


# --- One account of a decision: what a crawl has said of two pages, the command says too.


def test_of_all_pairs_of_a_crawl_the_command_says_what_the_crawl_has_said(
    tmp_path: Path, command: Command
) -> None:
    site = make_title_site(TitlePlan("jobs", 120, 20, tag="(m/f/d)"))
    pages = Random(0).sample(site.pages, 70)
    file = tmp_path / "pages.sqlite"
    config = Config()
    store = SqliteStore(file, header_for(config))
    store.explains = True
    detector = NearDuplicateDetector(config, store)
    verdicts = {
        page.url: detector.check(page.html, page.url, key=fingerprint(Request(page.url))) for page in pages
    }
    detector.flush()
    store.close()
    new = [url for url, verdict in verdicts.items() if verdict.status is Status.NEW]
    copies = {url: verdict for url, verdict in verdicts.items() if verdict.duplicate_of is not None}
    assert len(copies) >= 5
    pairs = [(url, str(verdict.duplicate_of)) for url, verdict in copies.items()]
    pairs += Random(1).sample(list(combinations(new, 2)), 60)
    for a, b in pairs:
        found = command.json("compare", a, b, "--store", str(file))
        assert found["is_near_duplicate"] is (a in copies), (a, b)
        if a in copies:
            assert (found["decided_by"], found["required"]) == (
                copies[a].decided_by,
                round(copies[a].required or 0, 3),
            )
