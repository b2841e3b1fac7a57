"""Find a browser for tests, and check the pages that it renders."""

from __future__ import annotations

import shutil
from typing import Any
from urllib.parse import urlsplit

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
#: Path of the first browser that is installed, or None.
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
#: Reason for skipping tests without a browser.
NO_BROWSER = "needs a browser: apt install chromium-headless-shell"

#: Runs in a page. Returns the errors at its current size and in its current colours.
FAULTS = """root => {
    const faults = [];
    const screen = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > screen) faults.push("the page scrolls sideways");
    const scrolls = element => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
    const isShown = element => element.getClientRects().length > 0;
    const solid = "pre, table, svg, img, p, li, dt, code, h1, h2, h3, h4";
    for (const element of document.querySelectorAll(`${root} :is(${solid})`)) {
        if (!isShown(element)) continue;
        const label = element.tagName + " " + element.textContent.trim().slice(0, 40);
        if (element.scrollWidth > element.clientWidth + 1 && element.tagName == "PRE" && !scrolls(element))
            faults.push("cut: " + label);
        let right = element.getBoundingClientRect().right;
        // A block may scroll in itself, the whole article may not.
        for (let outer = element; !outer.matches(root) && right > screen; outer = outer.parentElement)
            if (scrolls(outer)) right = outer.getBoundingClientRect().right;
        if (right > screen) faults.push("reaches beyond the screen: " + label);
    }
    for (const text of document.querySelectorAll(`${root} svg text`)) {
        const [inner, outer] = [text, text.ownerSVGElement].map(element => element.getBoundingClientRect());
        if (inner.left < outer.left || inner.right > outer.right || inner.bottom > outer.bottom)
            faults.push("reaches beyond its picture: " + text.textContent);
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
    const samples = `${root} :is(p, li, td, th, pre, pre span, a, code, small, summary, mark, svg text),
        .sidebar-tree a`;
    const seen = new Set();
    for (const element of document.querySelectorAll(samples)) {
        const style = getComputedStyle(element);
        const text = element.tagName == "text" ? style.fill : style.color;
        const back = behind(element);
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

    def __init__(self, page: Any, address: str, root: str = "article") -> None:
        """Check the elements under the selector *root*; everything must be loaded from *address*."""
        self.page = page
        self.address = address
        self._root = root
        self._wrong: list[str] = []
        page.on("console", lambda said: self._wrong.extend([said.text] * (said.type == "error")))
        page.on("pageerror", lambda error: self._wrong.append(str(error)))
        page.on("request", lambda asked: self._leaves(asked.url))

    def _leaves(self, url: str) -> None:
        if urlsplit(url).scheme.startswith("http") and not url.startswith(self.address):
            self._wrong.append(f"asks another server: {url}")

    def open(self, path: str) -> None:
        self.page.goto(f"{self.address}/{path}", wait_until="load")

    def wrong(self) -> list[str]:
        found, self._wrong = self._wrong, []
        return found

    def faults(self, width: int, scheme: str) -> list[str]:
        self.page.set_viewport_size({"width": width, "height": 844})
        self.page.emulate_media(color_scheme=scheme)
        return [f"{width} {scheme}: {fault}" for fault in self.page.evaluate(FAULTS, self._root)]
