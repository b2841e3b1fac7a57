"""The annex over HTTP: served beside the magazine, on the same port."""

from collections.abc import Iterator
from http.client import HTTPConnection

import pytest
from magazine.page import Address
from magazine.server import SiteServer

from tests.annex.endless import month_path
from tests.annex.server import serving
from tests.annex.site import build_annex, find


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def connection(server: SiteServer) -> Iterator[HTTPConnection]:
    opened = HTTPConnection("127.0.0.1", server.port, timeout=10)
    yield opened
    opened.close()


def fetch(connection: HTTPConnection, address: Address) -> tuple[int, str | None, bytes]:
    headers = {"Host": f"{address.host}:{connection.port}"}
    connection.request("GET", address.target, headers=headers)
    response = connection.getresponse()
    return response.status, response.headers["Location"], response.read()


def test_every_page_is_served_byte_for_byte_as_built(server: SiteServer, connection: HTTPConnection) -> None:
    for address, page in build_annex(server.port).items():
        assert fetch(connection, address) == (page.status, page.location or None, page.body()), address.key


@pytest.mark.parametrize("target", [month_path(-7, 1), "/annex/finder?it-is=brass", "/annex/cellar/nothing"])
def test_pages_made_when_they_are_asked_for_are_the_same_for_everyone(
    connection: HTTPConnection, target: str
) -> None:
    address = Address.of(target)
    status, _, first = fetch(connection, address)
    _, _, second = fetch(connection, address)
    page = find({}, address)
    assert (status, first, second) == (200, page.body(0), page.body(1))


@pytest.mark.parametrize("target", ["/annex", "/annexe/", "/annex/nothing", "partner:/annex/"])
def test_what_is_not_there_is_a_404(connection: HTTPConnection, target: str) -> None:
    status, _, _ = fetch(connection, Address.of(target))
    assert status == 404
