"""The add-on: added components, and orders set by the user."""

from typing import Any

import pytest
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from scrapy_simhash import Addon, SimhashDownloaderMiddleware, SimhashItemPipeline, SimhashSpiderMiddleware

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


def test_pages_are_compared_on_the_engine_side_of_all_built_in_middlewares() -> None:
    assert components(updated(), "DOWNLOADER_MIDDLEWARES")[0] is SimhashDownloaderMiddleware


def test_items_are_compared_after_pipelines_that_clean_and_before_those_that_store() -> None:
    pipelines = updated(SIMHASH_ITEM_FIELDS=["title"])["ITEM_PIPELINES"]
    assert 10 < pipelines[SimhashItemPipeline] < 100
    assert not updated()["ITEM_PIPELINES"]


@pytest.mark.parametrize(("name", "component"), COMPONENTS.items())
@pytest.mark.parametrize("order", [777, None])
@pytest.mark.parametrize("is_path", [True, False])
def test_orders_set_by_the_user_have_priority(
    name: str, component: type, order: int | None, is_path: bool
) -> None:
    key: object = f"scrapy_simhash.{component.__name__}" if is_path else component
    settings = updated(**{name: {key: order}})
    assert dict(settings[name]) == {key: order}
    assert components(settings, name).count(component) == (order is not None)
