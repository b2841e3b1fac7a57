"""The monitors of the example project, run by Spidermon at the end of real crawls with the documented
settings.
"""

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
    """Return the documented settings."""
    (block,) = (block for block in blocks(PAGE, "python") if "SPIDERMON_ENABLED" in block.text)
    namespace: dict[str, Any] = {}
    exec(block.text, namespace)
    return {name: value for name, value in namespace.items() if name.isupper()}


@pytest.fixture(scope="module")
def crawls() -> dict[str, Crawl]:
    """Crawls, each with one fault."""
    many = [f"/copy-{number}" for number in range(IN_A_ROW)]
    copies = many[:4]
    shells = [f"/shell-{number}" for number in range(2)]
    routes: Routes = {
        "/": article(0, before=links("/1", "/2", "/3")),
        **{f"/{number}": article(number) for number in range(1, 4)},
        **dict.fromkeys(many, article(0)),
        **dict.fromkeys(shells, "<title>Loading</title>"),
    }
    settings = {**told_settings(), **IN_ORDER}
    few = {**settings, "MONITOR_MAX_NEAR_DUPLICATES": 0.4}
    trapped = {**settings, "MONITOR_MAX_NEAR_DUPLICATES": 1, "SIMHASH_URL_RULES": "observe"}
    moody = {**settings, "SIMHASH_STORE": "tests.crawls.stores.Moody"}
    with serve(routes) as site:
        plans = {
            "nothing": Plan("Follower", settings, {"urls": site.urls("/")}),
            "NearDuplicatesMonitor": Plan("Follower", few, {"urls": site.urls("/", *copies)}),
            "TrapsMonitor": Plan("Follower", trapped, {"urls": site.urls("/", *many)}),
            "StoreErrorsMonitor": Plan("Follower", moody, {"urls": site.urls("/")}),
            "UnjudgedMonitor": Plan("Follower", settings, {"urls": site.urls("/", *shells)}),
        }
        return crawl_each(plans)


@pytest.mark.parametrize(
    "wrong",
    ["nothing", "NearDuplicatesMonitor", "TrapsMonitor", "StoreErrorsMonitor", "UnjudgedMonitor"],
)
def test_a_monitor_fails_only_for_its_condition(crawls: dict[str, Crawl], wrong: str) -> None:
    log = "\n".join(crawls[wrong].log())
    ends = dict(re.findall(r"(\w+Monitor)/test_limit\.\.\. (\w+)", log))
    assert len(ends) == 4
    assert [name for name, end in ends.items() if end != "OK"] == [wrong] * (wrong != "nothing")


def test_the_page_lists_every_monitor_with_its_setting_and_default() -> None:
    from crawler.monitors import SimhashMonitors

    table = PAGE.read_text("utf-8").partition(":name: monitors")[2]
    rows = re.findall(r"\* - (\w+)\n +- .+\n +- ``(\w+)``\n +- (\S+)\n", table)
    assert [(name, setting, float(default)) for name, setting, default in rows] == [
        (monitor.__name__, monitor.setting, monitor.default) for monitor in SimhashMonitors.monitors
    ]
