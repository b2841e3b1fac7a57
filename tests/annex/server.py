"""The annex over HTTP, on both hosts of the example site, whose pages are served beside it."""

from contextlib import AbstractContextManager

from magazine import server
from magazine.page import Address, Page
from magazine.server import SiteServer

from tests.annex.page import PREFIX
from tests.annex.site import build_annex, find


class AnnexServer(SiteServer):
    """The example site, and the annex under ``/annex/``."""

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self._annex = build_annex(self.port)

    def page(self, address: Address) -> Page:
        """Return the page at *address*, or what the site answers where there is none."""
        return find(self._annex, address) if address.target.startswith(PREFIX) else super().page(address)


def serving(port: int = 0) -> AbstractContextManager[SiteServer]:
    """Serve both from a thread for as long as the ``with`` block lasts."""
    return server.serving(port, AnnexServer)
