"""scrapy-simhash compare: the verdict of the library, and what it rests on, for people, programs and browsers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import combinations
from pathlib import Path
from random import Random
from threading import Thread

import pytest
from lxml.html import document_fromstring
from scrapy import Request
from scrapy.utils.request import fingerprint

from benchmarks.lib.shared_text.titles import TitlePlan, make_title_site
from scrapy_simhash import Config, NearDuplicateDetector, PageFingerprinter, Status
from scrapy_simhash.detector import header_for
from scrapy_simhash.page.text.main_text import REASONS
from scrapy_simhash.store.sqlite import SqliteStore
from scrapy_simhash.view.side_by_side import LEFT_OUT, PLAIN, RED
from tests.cli.conftest import Cli
from tests.cli.example_files import FERRY, PILOT, html

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
    text: str, rule: str, tmp_path: Path, cli: Cli
) -> None:
    a, b = page(tmp_path, "a.html", FIRST), page(tmp_path, "b.html", text)
    fingerprinter = PageFingerprinter(Config(rule=rule))
    one, other = (fingerprinter.from_html(Path(path).read_text("utf-8")) for path in (a, b))
    found = cli.json("compare", a, b, "-s", f"SIMHASH_RULE={rule}")
    assert found["is_near_duplicate"] is fingerprinter.is_near_duplicate(one, other)
    assert [page["fingerprint"] for page in found["pages"]] == [one and one.hex, other and other.hex]
    assert found["distance"] == (
        None if one is None or other is None else (one.value ^ other.value).bit_count()
    )
    assert (found["similarity"] is None) == (rule == "classic" or other is None)
    said = cli("compare", a, b, "-s", f"SIMHASH_RULE={rule}")
    assert said.startswith("near-duplicates: " if found["is_near_duplicate"] else "not near-duplicates: ")


@pytest.mark.parametrize(("scheme", "digits"), [("moz", 16), ("tests.page.schemes.own.LONG", 32)])
def test_pages_are_compared_by_the_scheme_that_is_set(
    scheme: str, digits: int, tmp_path: Path, cli: Cli
) -> None:
    a, b = page(tmp_path, "a.html", FIRST), page(tmp_path, "b.html", f"{FIRST} Fog came in.")
    found = cli.json("compare", a, b, "-s", f"SIMHASH_SCHEME={scheme}")
    assert [len(page["fingerprint"]) for page in found["pages"]] == [digits, digits]
    values = [int(page["fingerprint"], 16) for page in found["pages"]]
    assert found["distance"] == (values[0] ^ values[1]).bit_count()
    assert found["is_near_duplicate"] is found["is_near_by_text"] is (found["distance"] <= 3)
    [changed] = found["changed_by"]
    assert changed["setting"] == "SIMHASH_MAX_DISTANCE"


@pytest.mark.parametrize("rule", ["similarity", "classic"])
@pytest.mark.parametrize("text", [f"{FIRST} Fog came in.", EDITED])
def test_the_setting_that_would_change_the_verdict_does_and_none_nearer_does(
    rule: str, text: str, tmp_path: Path, cli: Cli
) -> None:
    pages = page(tmp_path, "a.html", FIRST), page(tmp_path, "b.html", text)
    options = [*pages, "-s", f"SIMHASH_RULE={rule}"]
    found = cli.json("compare", *options)
    assert found["changed_by"]
    for change in found["changed_by"]:
        name, value, present = change["setting"], change["value"], change["present"]
        assert (
            cli.json("compare", *options, "-s", f"{name}={value}")["is_near_duplicate"]
            is not found["is_near_duplicate"]
        )
        step = 0.001 if name == "SIMHASH_MIN_SIMILARITY" else 1
        nearer = round(value + (step if value < present else -step), 3)
        same = cli.json("compare", *options, "-s", f"{name}={nearer}")
        assert same["is_near_duplicate"] is found["is_near_duplicate"]
        assert f"{name} = {value}" in cli("compare", *options)


def test_two_short_pages_with_one_text_are_near_duplicates_as_in_a_crawl(tmp_path: Path, cli: Cli) -> None:
    a, b = page(tmp_path, "a.html", "Please log in."), page(tmp_path, "b.html", "Please  log<br>in.")
    assert cli("compare", a, b).startswith("near-duplicates: title and main text are identical\n")
    c = page(tmp_path, "c.html", "Please log out.")
    assert cli("compare", a, c).startswith("not near-duplicates: too little text for a fingerprint (")


def test_the_share_in_common_is_that_of_all_shingles(tmp_path: Path, cli: Cli) -> None:
    a, b = page(tmp_path, "a.html", "one two three four"), page(tmp_path, "b.html", "one two three five")
    # one two, two three; three four, three five.
    assert cli.json("compare", a, b, "-s", "SIMHASH_MIN_SHINGLES=1")["common_share"] == 0.5


# --- The texts.


def test_in_a_terminal_words_that_differ_are_coloured_unless_no_color_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    pair = page(tmp_path, "a.html", FIRST), page(tmp_path, "b.html", EDITED)
    plain = cli("compare", *pair)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    assert cli("compare", *pair) == plain
    monkeypatch.delenv("NO_COLOR")
    coloured = cli("compare", *pair)
    assert f"{RED}noon,{PLAIN}" in coloured
    # The columns stay where they are.
    without = coloured.replace(RED, "").replace(PLAIN, "")
    assert {line.index(" | ") for line in without.splitlines() if " | " in line} == {38}


def test_every_reason_for_which_a_block_is_left_out_is_explained() -> None:
    assert set(LEFT_OUT) == set(REASONS) - {None}


def test_wide_signs_take_two_columns(tmp_path: Path, cli: Cli) -> None:
    a, b = page(tmp_path, "a.html", "船が港に帰った。" * 20), page(tmp_path, "b.html", "船は海に出た。" * 20)
    rows = [line for line in cli("compare", a, b).splitlines() if " | " in line]
    assert len(rows) > 6
    for line in rows:
        left = line.split(" | ")[0]
        assert sum(2 if ord(sign) > 0x2E80 else 1 for sign in left) == 38 or not left.strip()


# --- Hostile pages, and browsers.


def test_a_long_page_beside_a_short_one_is_shown_by_its_beginning(tmp_path: Path, cli: Cli) -> None:
    paragraphs = (
        "<p>" + " ".join(f"the boat {number} went out {word}" for word in range(40)) for number in range(300)
    )
    short, long = page(tmp_path, "short.html", FIRST), page(tmp_path, "long.html", "".join(paragraphs))
    lines = cli("compare", short, long).splitlines()
    assert len(lines) < 150
    assert "... 280 more paragraphs that differ: --html FILE shows all ..." in lines


def test_nothing_of_a_page_moves_the_cursor(tmp_path: Path, cli: Cli) -> None:
    a = page(tmp_path, "a.html", FIRST)
    b = page(tmp_path, "b.html", HOSTILE.replace("<", "&lt;").replace("\x9b", "&#155;") + EDITED)
    assert all(sign.isprintable() or sign == "\n" for sign in cli("compare", a, b))


def test_the_page_of_html_runs_and_loads_nothing_and_shows_what_stood_there(tmp_path: Path, cli: Cli) -> None:
    hostile = HOSTILE.replace("<", "&lt;")
    a = page(tmp_path, "a.html", f"{hostile} {FIRST}</p></main><title>\x1b]0;x\x07 {hostile}</title><p>")
    b, out = page(tmp_path, "b.html", EDITED), tmp_path / "out.html"
    assert cli("compare", a, b, "--html", str(out)) == ""
    text = out.read_text("ascii")
    assert all(sign.isprintable() or sign == "\n" for sign in text)
    root = document_fromstring(text)
    assert all(sign.isprintable() or sign == "\n" for sign in root.text_content())
    tags = {element.tag for element in root.iter() if isinstance(element.tag, str)}
    assert tags <= set("html head meta title style body h1 h2 p small table tr th td mark".split())
    assert {name for element in root.iter() for name in element.attrib} <= {
        *("lang", "charset", "name", "content", "http-equiv"),
    }
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text
    assert "<script>alert(1)</script>" in root.text_content()
    assert "noon" in " ".join(mark.text_content() for mark in root.iter("mark"))


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


def test_a_url_is_fetched_and_decoded_by_its_header(site: str, tmp_path: Path, cli: Cli) -> None:
    found = cli.json("compare", f"{site}/ferry", page(tmp_path, "a.html", f"{FIRST} Fähre."))
    assert (found["is_same_text"], found["pages"][0]["page"]) == (True, f"{site}/ferry")


def test_a_url_that_answers_with_an_error_is_a_failure(site: str, cli: Cli) -> None:
    assert cli.fails("compare", f"{site}/none", f"{site}/none") == (
        1,
        f"cannot fetch {site}/none: HTTP Error 404: Not Found",
    )


def test_a_page_of_a_store_is_compared_by_its_fingerprint(tmp_path: Path, cli: Cli) -> None:
    pages = {"https://a.example/1": FIRST, "https://a.example/2": EDITED}
    records = [{"url": url, "html": html(text)} for url, text in pages.items()]
    (tmp_path / "pages.jsonl").write_text("\n".join(map(json.dumps, records)), "utf-8")
    store, feed = str(tmp_path / "a.sqlite"), str(tmp_path / "pages.jsonl")
    options = ["-s", "SIMHASH_MIN_SIMILARITY=0.7"]
    cli("import", store, feed, "--html-field", "html", *options)
    a, b = page(tmp_path, "a.html", FIRST), page(tmp_path, "b.html", EDITED)
    expected = cli.json("compare", a, b, *options)
    for pair in (list(pages), [a, "https://a.example/2"]):
        found = cli.json("compare", *pair, "--store", store)
        for figure in ("rule", "is_near_duplicate", "distance", "similarity", "titles", "changed_by"):
            assert found[figure] == expected[figure], figure
        assert found["pages"][1]["is_stored"]
        assert found["common_share"] is None
        assert "stored, without its text" in cli("compare", *pair, "--store", store)
        cli("compare", *pair, "--store", store, "--html", str(tmp_path / "out.html"))
        assert "stored, without its text" in (tmp_path / "out.html").read_text("ascii")
    complaint = cli.fails("compare", a, "https://a.example/3", "--store", store)
    assert complaint == (1, f"{store} has no page 'https://a.example/3'")
    complaint = cli.fails("compare", store, "https://a.example/1")
    assert complaint == (1, f"{store} is a store, not a page: look pages up in it with --store {store} URL")


# --- One account of a decision: what a crawl has said of two pages, the command says too.


def test_of_all_pairs_of_a_crawl_the_command_says_what_the_crawl_has_said(tmp_path: Path, cli: Cli) -> None:
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
        found = cli.json("compare", a, b, "--store", str(file))
        assert found["is_near_duplicate"] is (a in copies), (a, b)
        if a in copies:
            assert (found["decided_by"], found["required"]) == (
                copies[a].decided_by,
                round(copies[a].required or 0, 3),
            )
