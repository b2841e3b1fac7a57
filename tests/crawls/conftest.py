"""Spiders are imported by the crawls that run them: pytest need not, and some want a package that may be missing."""

collect_ignore_glob = ["*spiders.py"]
