"""The example project's spiders of the annex, under the names by which the harness finds spiders."""

from crawler.spiders.annex import AnnexSpider as Annex
from crawler.spiders.annex import CardsSpider as Cards

__all__ = ["Annex", "Cards"]
