"""The documented monitors, run by Spidermon at the end of real crawls."""

from __future__ import annotations

import re
from typing import Any

import pytest

from scrapy_simhash.observers.url_rules.traps import IN_A_ROW
from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl_each
from tests.crawls.site import Routes, article, links, serve
from tests.docs.reader import DOCS, blocks

pytest.importorskip("spidermon")

PAGE = DOCS / "how-to" / "deployment.rst"


def told_settings() -> dict[str, Any]:
    (block,) = (block for block in blocks(PAGE, "python") if "SPIDERMON_ENABLED" in block.text)
    namespace: dict[str, Any] = {}
    exec(block.text, namespace)
    return {name: value for name, value in namespace.items() if name.isupper()}


@pytest.fixture(scope="module")
def crawls() -> dict[str, Crawl]:
    """Crawls, each with one fault."""
    many = [f"/copy-{number}" for number in range(IN_A_ROW)]
    copies = many[:6]
    routes: Routes = {
        "/": article(0, before=links("/1", "/2", "/3")),
        **{f"/{number}": article(number) for number in range(1, 4)},
        **dict.fromkeys(many, article(0)),
    }
    settings = {**told_settings(), **IN_ORDER}
    trapped = {**settings, "SIMHASH_URL_RULES": "observe"}
    moody = {**settings, "SIMHASH_STORE": "tests.crawls.stores.Moody"}
    with serve(routes) as site:
        plans = {
            "": Plan("Follower", settings, {"urls": site.urls("/")}),
            "near-duplicates": Plan("Follower", settings, {"urls": site.urls("/", *copies)}),
            "trap": Plan("Follower", trapped, {"urls": site.urls("/", *many)}),
            "store": Plan("Follower", moody, {"urls": site.urls("/")}),
        }
        return crawl_each(plans)


#: Names of the monitors that fail in each crawl: a trap has many near-duplicates.
FAILS = {
    "": "",
    "near-duplicates": "near-",
    "trap": "near-|no URL",
    "store": "the store",
}


@pytest.mark.parametrize("wrong", FAILS)
def test_a_monitor_fails_only_for_its_condition(crawls: dict[str, Crawl], wrong: str) -> None:
    log = "\n".join(crawls[wrong].log())
    ends = dict(re.findall(r"scrapy-simhash/(.+)\.\.\. (\w+)", log))
    assert len(ends) == 3, log
    for name, end in ends.items():
        assert (end != "OK") is bool(FAILS[wrong] and re.match(FAILS[wrong], name)), name
