"""Replay crawls of sites with duplicates under many URLs, and count what URL rules save, and what they lose.

    python benchmarks/url_rules.py                       # a table; --json for programs
    python benchmarks/url_rules.py --only manual "session on every link"
    python benchmarks/url_rules.py --hostile             # pages lost to a site that deceives

The sites are the trees of real pages that ``SIMHASH_EVAL_PACK`` names, and the example site, each with parameters
that are put on its links: session ids, tracking, the order of a list. Nothing is sent: what a server would answer is
known, and so is which URLs are one page. Every URL is asked for once, as with a duplicate filter, the latest found
first, as in Scrapy, and at most ``--most`` times as many as there are pages: a site with a new session id in every
link has no end without rules.

For each site the table has the pages; the requests without rules and with them; the share of duplicate fetches that
was avoided; the pages that were skipped, never fetched, and repeat none that was; the rules, and which of them take
out what has an effect; the groups of URLs that were stopped; the microseconds of a URL, whether it was sent or
skipped, looks at pages included; and the bytes of the rules.

"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "example_project"))

from magazine.site import build_site
from w3lib.url import safe_url_string

from benchmarks.lib.pack import Pack
from benchmarks.lib.report import arguments_of, progress, show
from scrapy_simhash import NearDuplicateDetector
from scrapy_simhash.fingerprinter import Reading
from scrapy_simhash.observers.url_rules.cut_url import cut
from scrapy_simhash.observers.url_rules.evidence import EXPLORED
from scrapy_simhash.observers.url_rules.guard import MOST_AT_END, MOST_ENDS, PageLooks, evidence_of
from scrapy_simhash.observers.url_rules.host import Page
from scrapy_simhash.observers.url_rules.kept_requests import MOST_KEPT
from scrapy_simhash.observers.url_rules.rules import UrlRules
from scrapy_simhash.page.text import parse

#: Parameters that the generators put on links, and that have no effect.
IDLE = frozenset(("sid", "ts", "utm_source", "utm_medium", "sort"))
ORDERS = ("price", "name", "new", "old")


class Tree(NamedTuple):
    """Pages of one site, by path."""

    name: str
    origin: str
    seeds: list[str]
    pages: dict[str, bytes]


def _plain(url: str, random: Random) -> str:
    return url


def _with(url: str, *parameters: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}{'&'.join(parameters)}" if parameters else url


def _kept_session(url: str, random: Random) -> str:
    return _with(url, f"sid={random.randrange(5):08x}")


def _fresh_session(url: str, random: Random) -> str:
    return _with(url, f"sid={random.getrandbits(64):016x}")


def _tracking(url: str, random: Random) -> str:
    if random.random() < 0.5:
        return url
    return _with(
        url, f"utm_source={random.choice(('mail', 'feed', 'ad'))}", f"utm_medium=m{random.randrange(3)}"
    )


def _everything(url: str, random: Random) -> str:
    url = _tracking(_fresh_session(url, random), random)
    return _with(url, f"sort={random.choice(ORDERS)}") if random.random() < 0.3 else url


def _two_fresh(url: str, random: Random) -> str:
    return _with(url, f"sid={random.getrandbits(64):016x}", f"ts={random.getrandbits(40)}")


#: Ways to put parameters on links.
MARKS: dict[str, Callable[[str, Random], str]] = {
    "as it is": _plain,
    "session kept by five visitors": _kept_session,
    "session on every link": _fresh_session,
    "tracking": _tracking,
    "session and time on every link": _two_fresh,
    "session, tracking, order": _everything,
}


def trees() -> Iterator[Tree]:
    """Yield the example site, and the trees of the packs."""
    site = build_site()
    pages = {
        address.key: page.body()
        for address, page in site.items()
        if page.status == 200 and page.is_html and ":" not in address.key
    }
    yield Tree("example", "http://127.0.0.1:8000", ["/"], pages)
    for pack in Pack.locate_all():
        yield from _trees_of(pack.folder)


def _trees_of(folder: Path) -> Iterator[Tree]:
    import tarfile

    seeds_file = folder / "site_seeds.json"
    if not seeds_file.exists():
        return
    pages: dict[str, dict[str, bytes]] = {}
    with tarfile.open(folder / "site.tar.xz", "r:xz") as tar:
        for member in tar:
            if (file := tar.extractfile(member)) is not None:
                _, host, path = member.name.split("/", 2)
                pages.setdefault(host, {})[f"/{path}"] = file.read()
    for host, facts in json.loads(seeds_file.read_text()).items():
        seeds = [urlsplit(seed).path if "://" in seed else f"/{seed.lstrip('/')}" for seed in facts["seeds"]]
        yield Tree(host, f"http://{host}", seeds, pages[host])


class Server:
    """Answers URLs of a tree, whatever idle parameters they have."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.detector = NearDuplicateDetector()

    def page_of(self, url: str) -> str | None:
        """Return which page is at *url*, None if there is none."""
        parts = urlsplit(url)
        query = "&".join(p for p in parts.query.split("&") if p and p.partition("=")[0] not in IDLE)
        path = f"{unquote(parts.path)}?{query}" if query else unquote(parts.path)
        if path in self.tree.pages:
            return path
        if path.endswith("/") and f"{path}index.html" in self.tree.pages:
            return f"{path}index.html"
        return None

    def root(self, page: str) -> Any:
        """Return the tree of a page."""
        return self.read(page)[0]

    @cache  # noqa: B019 - one server a tree
    def read(self, page: str) -> tuple[Any, Reading, list[str]]:
        """Return tree, reading and links of a page: those to pages of the tree, without the fragments."""
        root = parse(self.tree.pages[page])
        url = self.tree.origin + page
        reading = self.detector.read(root, url)
        found = [urldefrag(urljoin(url, link.get("href") or "")).url for link in root.iter("a")]
        return (
            root,
            reading,
            # As a request has them.
            [
                safe_url_string(link)
                for link in found
                if link.startswith(f"{self.tree.origin}/") and self.page_of(link)
            ],
        )


def replay(server: Server, marks: str, *, with_rules: bool, most: int) -> dict[str, Any]:
    """Crawl the tree of *server*, and return what came of it."""
    random = Random(7)
    detector = NearDuplicateDetector(fingerprinter=server.detector.fingerprinter)
    rules, looks = UrlRules(), PageLooks()
    tree = server.tree
    queue = [tree.origin + seed for seed in reversed(tree.seeds)]
    starts, seen, fetched, waited = set(queue), set(queue), set(), set()
    parents: dict[str, str] = {}
    skipped: list[tuple[tuple[str, ...], str]] = []
    requests, asked, spent = 0, 0, 0.0
    while queue and requests < most * len(tree.pages):
        url = queue.pop()
        page = server.page_of(url)
        if page is None:
            continue
        if with_rules and url not in starts:
            begun = perf_counter()
            skip = rules.would_skip(url)
            asked += 1
            spent += perf_counter() - begun
            if skip:
                skipped.append((skip, url))
                continue
            if url not in waited and rules.of(url).should_wait(url):
                waited.add(url)
                rules.of(url).checks.requests -= 1
                queue.insert(0, url)
                continue
        requests += 1
        fetched.add(page)
        _, reading, links = server.read(page)
        verdict = detector.conclude(reading, url)
        if with_rules:
            begun = perf_counter()
            content, look = (
                evidence_of(verdict, 200, b"") or 0,
                partial(looks.look, verdict, partial(server.root, page)),
            )
            given_up = rules.learn([Page(url, content, look, asked=url, parent=parents.get(url))])
            spent += perf_counter() - begun
            for rule, _ in given_up:
                again = [url for rules_of, url in skipped if rule in rules_of]
                skipped = [item for item in skipped if rule not in item[0]]
                queue += again
        for link in links:
            link = MARKS[marks](link, random)
            if link not in seen:
                seen.add(link)
                parents[link] = url
                queue.append(link)
    left = {page for _, url in skipped if (page := server.page_of(url))} - fetched
    lost = [page for page in sorted(left) if not detector.conclude(server.read(page)[1], page).is_duplicate]
    host = rules.of(f"{tree.origin}/")
    return {
        "requests": requests,
        "pages": fetched,
        "lost": len(lost),
        "rules": host.in_force,
        "groups": sorted(host.novelty.stopped),
        "checks": host.checks.sent,
        "microseconds": round(1e6 * spent / max(1, asked), 1),
        "bytes": host.weight,
    }


def is_wrong(rule: str, server: Server, pages: set[str]) -> bool:
    """Tell whether *rule* makes one URL of two that are different pages."""
    from scrapy_simhash.observers.url_rules.hypotheses import hypothesis_of

    hypothesis, about = hypothesis_of(rule)
    found: dict[str, bytes] = {}
    for page in pages:
        parts = cut(server.tree.origin + page)
        if parts is None:
            continue
        shorter = str(hypothesis.without(parts, about))
        if found.setdefault(shorter, server.tree.pages[page]) != server.tree.pages[page]:
            return True
    return False


def measure(server: Server, marks: str, most: int) -> dict[str, Any]:
    """Return the figures of one site with one kind of marks."""
    plain = replay(server, marks, with_rules=False, most=most)
    ruled = replay(server, marks, with_rules=True, most=most)
    unique = plain["pages"] | ruled["pages"]
    copies = plain["requests"] - len(plain["pages"])
    left = ruled["requests"] - len(ruled["pages"])
    return {
        "site": server.tree.name,
        "marks": marks,
        "pages": len(unique),
        "requests without": plain["requests"],
        "requests": ruled["requests"],
        "avoided": round(1 - left / copies, 3) if copies else None,
        "lost": ruled["lost"],
        "checks": ruled["checks"],
        "rules": ruled["rules"],
        "groups": ruled["groups"],
        "wrong rules": [rule for rule in ruled["rules"] if is_wrong(rule, server, unique)],
        "microseconds": ruled["microseconds"],
        "bytes": ruled["bytes"],
    }


def attack(pages: int, links: int, share: float, seed: int = 7) -> dict[str, Any]:
    """Return what is lost of a site that trains the rule ``parameter sid``, and then hides pages behind it.

    *share* of the *links* after the training lead to a page of their own each. What a crawl does with skipped
    requests is done here as well; another host, where ``sid`` has an effect from the beginning, is crawled between.
    """
    random, rules = Random(seed), UrlRules()
    kept: deque[tuple[str, int]] = deque(maxlen=MOST_KEPT)
    other_skipped = wrong_skips = fetched_since = 0
    hidden: set[int] = set()
    seen: set[int] = set()
    is_given_up = False

    def fetch(url: str, content: int) -> None:
        nonlocal is_given_up, fetched_since
        fetched_since += not is_given_up and wrong_skips > 0
        seen.add(content)
        if rules.learn([Page(url, content, lambda any_variant: 0)]):
            is_given_up = True
            again = list(kept)
            kept.clear()
            for request in again:
                fetch(*request)

    for number in range(10 * pages + links):
        page, is_hidden = number % pages, number >= 10 * pages and random.random() < share
        url, content = f"https://hostile.example/p/{page}?sid={number}", number if is_hidden else page
        hidden.update([number] if is_hidden else ())
        if not rules.would_skip(url):
            fetch(url, content + 1)
        else:
            kept.append((url, content + 1))
            wrong_skips += is_hidden
        url = f"https://other.example/p/{page}?sid={number}"
        other_skipped += bool(rules.would_skip(url))
        rules.learn([Page(url, pages + number, lambda any_variant: 0)])
    host = rules.of("https://hostile.example/")
    for turn in range(MOST_ENDS):
        if not turn or host.is_doubted:
            for _ in range(min(MOST_AT_END, 1 + host.checks.requests // EXPLORED, len(kept))):
                if kept:
                    fetch(*kept.pop())
    return {
        "links after": links,
        "share hidden": share,
        "hidden": len(hidden),
        "lost": len(hidden) - len({number + 1 for number in hidden} & seen),
        "given up": is_given_up,
        "fetches to that": fetched_since if is_given_up else None,
        "skipped on another host": other_skipped,
    }


def worst(attacks: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the attack with the most pages lost, the mean of these beside it, and how many rules were given up."""
    found = max(attacks, key=lambda one: int(one["lost"]))
    return {
        **found,
        "mean lost": round(sum(one["lost"] for one in attacks) / len(attacks)),
        "given up": f"{sum(one['given up'] for one in attacks)} of {len(attacks)}",
        "fetches to that": max((one["fetches to that"] or 0 for one in attacks), default=0),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON."""
    parser = arguments_of(__doc__)
    parser.add_argument("--only", nargs="*", help="sites or marks whose names contain one of these")
    parser.add_argument(
        "--most", type=int, default=10, help="requests, as a multiple of the pages (%(default)s)"
    )
    parser.add_argument("--hostile", action="store_true", help="sites that train a rule and hide pages then")
    options = parser.parse_args(arguments)

    def is_wanted(name: str) -> bool:
        return not options.only or any(word in name for word in options.only)

    result: dict[str, Any] = {}
    if options.hostile:
        result["pages lost"] = [
            worst([attack(60, links, share, seed) for seed in range(7)])
            for links in (1_000, 20_000)
            for share in (0.002, 0.01, 0.05, 0.2, 1)
        ]
    else:
        result["sites"] = []
        for tree in trees():
            server = Server(tree)
            for marks in MARKS:
                if is_wanted(f"{tree.name} {marks}"):
                    progress(f"{tree.name}, {marks} ...")
                    result["sites"].append(measure(server, marks, options.most))
    return show(__file__, options, arguments, result)


if __name__ == "__main__":
    sys.exit(main())
