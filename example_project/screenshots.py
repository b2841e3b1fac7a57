"""Take the pictures of docs/how-to/look.rst: ``python screenshots.py [FOLDER]``. Needs Playwright and Chromium.

The site is crawled one page after another, with a report. Its page is opened in a headless browser, in light and in
dark colours.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Literal

from crawler.running import OUT, run
from demo import SPIDER
from magazine.server import serving
from playwright.sync_api import sync_playwright
from scrapy.utils.project import get_project_settings

FOLDER = Path(__file__).parents[1] / "docs" / "screenshots"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
WIDTH = 900
#: What each picture shows: its height, where it begins, and what is opened before.
PICTURES = {"opening": (900, None, None), "clusters": (560, "#clusters", "#clusters-table summary")}


def main() -> int:
    """Crawl, write the page, and take its pictures."""
    parser = argparse.ArgumentParser(description="Take the pictures of the page about a crawl.")
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER, help=f"default: {FOLDER}")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    report, page = OUT / "report.jsonl", OUT / "report.html"
    settings = get_project_settings()
    settings.set("SIMHASH_REPORT", str(report))
    settings.set("CONCURRENT_REQUESTS", 1)
    # So that there is a time to see.
    settings.set("DOWNLOAD_DELAY", 0.05)
    settings.set("RANDOMIZE_DOWNLOAD_DELAY", False)
    with serving() as server:
        run(SPIDER, f"{server.url}/", settings, shows_progress=sys.stderr.isatty())
    command = [sys.executable, "-m", "scrapy_simhash", "report", report.name, "--html", page.name]
    subprocess.run(command, cwd=OUT, check=True)
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program)
        for scheme in SCHEMES:
            shown = browser.new_page(color_scheme=scheme, reduced_motion="reduce")
            shown.goto(page.as_uri())
            for name, (height, place, opened) in PICTURES.items():
                shown.set_viewport_size({"width": WIDTH, "height": height})
                if opened:
                    shown.click(opened)
                if place:
                    shown.evaluate("place => document.querySelector(place).scrollIntoView()", place)
                shown.screenshot(path=folder / f"{name}-{scheme}.png")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
