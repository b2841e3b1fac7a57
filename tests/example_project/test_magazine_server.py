"""The site over HTTP, on whatever port the system hands out."""

from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse

import pytest
from magazine.page import Address, Page
from magazine.server import SiteServer, serving


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with serving() as running:
        yield running


def fetch(
    server: SiteServer, target: str, *, host: str = "127.0.0.1", method: str = "GET"
) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        connection.request(method, target, headers={"Host": f"{host}:{server.port}"})
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def test_the_host_header_chooses_between_the_two_sites(server: SiteServer) -> None:
    _, magazine = fetch(server, "/")
    _, partner = fetch(server, "/", host="localhost")
    assert b"The Harbour Lamp</title>" in magazine
    assert b"<title>The Estuary Post" in partner


def test_a_second_fetch_differs_and_is_logged_as_a_second_visit(server: SiteServer) -> None:
    _, first = fetch(server, "/science/tide-tables")
    _, second = fetch(server, "/science/tide-tables")
    assert first != second
    log = [request for request in server.requests if request.target == "/science/tide-tables"]
    assert [(request.status, request.visit) for request in log] == [(200, 0), (200, 1)]


def test_every_page_is_served_byte_for_byte_as_built(site: dict[Address, Page]) -> None:
    with serving() as fresh:
        for address, page in site.items():
            response, body = fetch(fresh, address.target, host=address.host)
            assert response.status == page.status
            assert response.headers.get("Content-Type") == page.headers.get("Content-Type")
            assert body.replace(f":{fresh.port}".encode(), b":8000") == page.body(), address.key
