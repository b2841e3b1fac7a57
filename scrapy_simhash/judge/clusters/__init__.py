"""Clusters: pages that say the same, as a crawl meets them, and which of them is to be preferred. Knows no Scrapy."""

from scrapy_simhash.judge.clusters.book import Cluster, ClusterBook
from scrapy_simhash.judge.clusters.preferred import Contest, Preference

__all__ = ["Cluster", "ClusterBook", "Contest", "Preference"]
