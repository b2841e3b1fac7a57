"""The one settings line: what it adds, and what it leaves to the user."""

from typing import Any

import pytest
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from scrapy_simhash import Addon, SettingError, SimhashDownloaderMiddleware, SimhashSpiderMiddleware

COMPONENTS = {
    "DOWNLOADER_MIDDLEWARES": SimhashDownloaderMiddleware,
    "SPIDER_MIDDLEWARES": SimhashSpiderMiddleware,
}


def updated(**settings: Any) -> Settings:
    result = Settings(settings)
    Addon().update_settings(result)
    return result


def components(settings: Settings, name: str) -> list[object]:
    """Return the classes of a component setting in their final order."""
    parts = (settings[f"{name}_BASE"], settings[name])
    orders = {load_object(path): order for part in parts for path, order in part.items()}
    return sorted((path for path, order in orders.items() if order is not None), key=lambda cls: orders[cls])


@pytest.mark.parametrize(("name", "component"), COMPONENTS.items())
def test_it_adds_a_downloader_and_a_spider_middleware(name: str, component: type) -> None:
    assert components(updated(), name).count(component) == 1


def test_pages_are_judged_on_the_engines_side_of_all_built_in_middlewares() -> None:
    assert components(updated(), "DOWNLOADER_MIDDLEWARES")[0] is SimhashDownloaderMiddleware


def test_pages_are_acted_on_after_http_errors_are_refused() -> None:
    names = [getattr(cls, "__name__", "") for cls in components(updated(), "SPIDER_MIDDLEWARES")]
    assert names.index("HttpErrorMiddleware") + 1 == names.index("SimhashSpiderMiddleware")


@pytest.mark.parametrize(("name", "component"), COMPONENTS.items())
@pytest.mark.parametrize("order", [777, None])
@pytest.mark.parametrize("is_path", [True, False])
def test_the_users_own_order_wins(name: str, component: type, order: int | None, is_path: bool) -> None:
    key: object = f"scrapy_simhash.{component.__name__}" if is_path else component
    settings = updated(**{name: {key: order}})
    assert dict(settings[name]) == {key: order}
    assert components(settings, name).count(component) == (order is not None)


@pytest.mark.parametrize("off", [False, "False", "0", "no"])
def test_switched_off_it_adds_nothing(off: object) -> None:
    settings = Settings({"SIMHASH_ENABLED": off})
    with pytest.raises(NotConfigured, match="SIMHASH_ENABLED is off"):
        Addon().update_settings(settings)
    assert all(not settings[name] for name in COMPONENTS)


def test_a_wrong_setting_is_refused_before_anything_is_added() -> None:
    settings = Settings({"SIMHASH_SCOPE": "site"})
    with pytest.raises(
        SettingError, match=r"SIMHASH_SCOPE must be one of crawl, domain, host, or .*, got 'site'"
    ):
        Addon().update_settings(settings)
    assert all(not settings[name] for name in COMPONENTS)


def test_settings_given_by_the_user_are_not_touched() -> None:
    settings = updated(SIMHASH_ACTION="drop_page")
    assert settings["SIMHASH_ACTION"] == "drop_page"
    assert [name for name in settings if str(name).startswith("SIMHASH_")] == ["SIMHASH_ACTION"]
