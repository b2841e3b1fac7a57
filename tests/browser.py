"""Find a browser for tests, and check the pages that it renders."""

from __future__ import annotations

import shutil
from itertools import product
from typing import Any
from urllib.parse import urlsplit

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
#: Path of the first browser that is installed, or None.
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
#: Reason for skipping tests without a browser.
NO_BROWSER = "needs a browser: apt install chromium-headless-shell"

#: Runs in a page. Returns the errors at its current size and in its current colours.
FAULTS = """() => {
    const faults = [];
    const screen = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > screen) faults.push("the page scrolls sideways");
    const scrolls = element => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
    const isShown = element => element.getClientRects().length > 0;
    for (const element of document.querySelectorAll("pre, table, img, p, li, dt, code, h1, h2, h3, h4")) {
        if (!isShown(element)) continue;
        const label = element.tagName + " " + element.textContent.trim().slice(0, 40);
        if (element.scrollWidth > element.clientWidth + 1 && element.tagName == "PRE" && !scrolls(element))
            faults.push("cut: " + label);
        let right = element.getBoundingClientRect().right;
        // A block may scroll in itself, the whole page may not.
        for (let outer = element; outer != document.body && right > screen; outer = outer.parentElement)
            if (scrolls(outer)) right = outer.getBoundingClientRect().right;
        if (right > screen) faults.push("reaches beyond the screen: " + label);
    }
    const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
    const light = colour => numbers(colour).slice(0, 3).map(part => part / 255)
        .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
    const behind = element => {
        for (; element; element = element.parentElement) {
            const colour = getComputedStyle(element).backgroundColor;
            if ((numbers(colour)[3] ?? 1) > 0) return colour;
        }
        return "rgb(255, 255, 255)";
    };
    const seen = new Set();
    for (const element of document.querySelectorAll("p, li, td, th, pre, a, code, small, summary, mark")) {
        const [text, back] = [getComputedStyle(element).color, behind(element)];
        if (!isShown(element) || !element.textContent.trim() || seen.has(text + back)) continue;
        seen.add(text + back);
        const [low, high] = [light(text), light(back)].sort((one, other) => one - other);
        const contrast = (high + 0.05) / (low + 0.05);
        if (contrast < 4.5)
            faults.push(`contrast ${contrast.toFixed(1)}: ${element.tagName} ${element.textContent.slice(0, 40)}`);
    }
    return faults;
}"""


class Reader:
    """A page of a browser that records errors."""

    def __init__(self, page: Any, address: str = "file://") -> None:
        """Everything must be loaded from *address*."""
        self.page = page
        self.address = address
        self._wrong: list[str] = []
        page.on("console", lambda said: self._wrong.extend([said.text] * (said.type == "error")))
        page.on("pageerror", lambda error: self._wrong.append(str(error)))
        page.on("request", lambda asked: self._leaves(asked.url))

    def _leaves(self, url: str) -> None:
        if urlsplit(url).scheme.startswith("http") and not url.startswith(self.address):
            self._wrong.append(f"asks another server: {url}")

    def open(self, path: str) -> None:
        self.page.goto(f"{self.address}/{path}", wait_until="load")

    def faults(self) -> list[str]:
        """Return the errors so far, and those of the page on a phone and a laptop, in light and dark colours."""
        found = []
        for width, scheme in product((360, 1280), ("light", "dark")):
            self.page.set_viewport_size({"width": width, "height": 844})
            self.page.emulate_media(color_scheme=scheme)
            found += [f"{width} {scheme}: {fault}" for fault in self.page.evaluate(FAULTS)]
        return found + self._wrong
