"""Where the tests that open a real browser find one."""

from __future__ import annotations

import shutil

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
#: Path of the first that is there, or None.
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
#: Why a test is skipped without one.
NO_BROWSER = f"there is no browser: none of {', '.join(NAMES)} is on the path"
