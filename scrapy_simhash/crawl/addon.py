"""Addon: enables the middlewares and the item pipeline."""

from __future__ import annotations

from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from scrapy_simhash.crawl.downloader_middleware import SimhashDownloaderMiddleware
from scrapy_simhash.crawl.spider_middleware import SimhashSpiderMiddleware
from scrapy_simhash.crawling import config_of

#: Closer to the engine than all built-in downloader middlewares: responses arrive decompressed, after retries and
#: redirects, and are the same objects that the spider gets.
DOWNLOADER_MIDDLEWARE_ORDER = 40
#: After HttpError (50), which handles errors; before the middlewares that process items and requests.
SPIDER_MIDDLEWARE_ORDER = 75
#: Next to Scrapy's HTTP cache (900), closer to the engine.
RECRAWL_MIDDLEWARE_ORDER = 890
#: Before pipelines that store items, usually at 100 and above. Pipelines that clean items need a lower order.
ITEM_PIPELINE_ORDER = 50


class Addon:
    """Enables the components of this plugin: ``ADDONS = {"scrapy_simhash.Addon": 500}``.

    Adds the two middlewares, a third one for ``SIMHASH_RECRAWL``, and the item pipeline if ``SIMHASH_ITEM_FIELDS`` is
    set. A component for which the project sets an order, or None, is not added.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Called by Scrapy before the crawler is built. Raises SettingError to stop the crawl."""
        # The middlewares also check the settings, but Scrapy 2.13 replaces their exceptions with a different error.
        config = config_of(settings)
        components: list[tuple[str, type, int]] = [
            ("DOWNLOADER_MIDDLEWARES", SimhashDownloaderMiddleware, DOWNLOADER_MIDDLEWARE_ORDER),
            ("SPIDER_MIDDLEWARES", SimhashSpiderMiddleware, SPIDER_MIDDLEWARE_ORDER),
        ]
        # Features that are off are not imported.
        if config.recrawl:
            recrawl = load_object("scrapy_simhash.observers.recrawl.middleware.SimhashRecrawlMiddleware")
            recrawl.check_settings(settings)
            components.append(("DOWNLOADER_MIDDLEWARES", recrawl, RECRAWL_MIDDLEWARE_ORDER))
        if config.item_fields:
            from scrapy_simhash.crawl.item_pipeline import SimhashItemPipeline

            components.append(("ITEM_PIPELINES", SimhashItemPipeline, ITEM_PIPELINE_ORDER))
        for setting, component, order in components:
            settings.setdefault_in_component_priority_dict(setting, component, order)
