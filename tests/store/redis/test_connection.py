from __future__ import annotations

from typing import Any

import pytest

from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.store.redis import RedisStore, Server

pytestmark = pytest.mark.usefixtures("client")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://a", "must be a URL that begins with redis://"),
        ("", "must be a URL that begins with redis://"),
        ("redis://a:x", "must be a URL like redis://:password@host:6379/0, got redis://a:x"),
        ("redis://a:99999", "must be a URL like redis://:password@host:6379/0, got redis://a:99999"),
        ("redis://a?socket_timeout=soon", "has an invalid option for the Redis server .*: .*socket_timeout"),
        ("redis://a?what=1", "has an invalid option for the Redis server .*: .*what"),
        ("redis+cluster://a?what=1", "has an invalid option for the Redis server .*: .*what"),
        ("redis://a?db=x", "has an invalid option for the Redis server .*: .*db"),
    ],
)
def test_an_unreadable_url_is_refused_with_the_name_of_the_setting(url: str, message: str) -> None:
    with pytest.raises(SettingError, match=rf"SIMHASH_STORE {message}"):
        RedisStore(url, "p", None)


def test_a_password_is_not_logged() -> None:
    server = Server("rediss://user:secret@db.example:6380/1?password=secret")
    assert str(server) == "rediss://db.example:6380/1"
    with pytest.raises(SettingError) as caught:
        Server("https://user:secret@db.example")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["redis", "redis+cluster"])
def test_options_are_those_of_redis_py_except_for_the_format_of_replies(scheme: str) -> None:
    formats = (
        "protocol=3&decode_responses=True&encoding=latin-1&encoding_errors=ignore&legacy_responses=False"
    )
    client = Server(f"{scheme}://a?username=u&{formats}").client(5)
    assert client.get_encoder().encode("é") == "é".encode()
    assert client.get_encoder().decode(b"a") == b"a"


def test_a_url_sets_the_number_of_the_database_and_the_timeout_of_a_reply() -> None:
    client = Server("redis://a?db=4&username=u&socket_timeout=30&protocol=3").client(5)
    taken: dict[str, Any] = client.connection_pool.connection_kwargs
    assert (taken["db"], taken["username"], int(taken["protocol"])) == (4, "u", 2)
    assert (taken["socket_timeout"], taken["socket_connect_timeout"]) == (30, 5)
