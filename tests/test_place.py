"""The place of a store: SIMHASH_STORE is parsed or refused, and shown without passwords; each spider has its
own file.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.settings import Settings

from scrapy_simhash import Config, SettingError
from scrapy_simhash.crawl.store_session import ITEMS, file_of
from scrapy_simhash.place import StorePlace, filled

HOST = "redis://host:6379/0"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("memory", StorePlace("memory")),
        *(
            (folder, StorePlace("folder", folder))
            for folder in (
                *("./seen", "/var/seen", "~/seen", "seen/", "../seen", "./memory", "./redis", "redis/seen"),
                # A single letter is a drive.
                *(r"C:\seen", "C:/seen", "c:/", r"\\server\share", "./a:b/c", "./%(name)s", "/var/100%%"),
            )
        ),
        ("my.module.Store", StorePlace("class", "my.module.Store")),
        (
            f" {HOST}?prefix=news&keep=90d ",
            StorePlace("redis", url=HOST, prefix="news", keep=90 * 86_400),
        ),
        ("./seen?keep=90d", StorePlace("folder", "./seen", keep=90 * 86_400)),
        ("seen/%(name)s?keep=36h", StorePlace("folder", "seen/%(name)s", keep=36 * 3_600)),
        (HOST, StorePlace("redis", url=HOST)),
        ("rediss://:p%2Fw@host", StorePlace("redis", url="rediss://:p%2Fw@host")),
        ("unix:///run/a?db=1&prefix=b", StorePlace("redis", url="unix:///run/a?db=1", prefix="b")),
        (
            f"{HOST}?ssl_ca_certs=/a%20b&required=true&db=3",
            StorePlace("redis", url=f"{HOST}?ssl_ca_certs=/a%20b&db=3", required=True),
        ),
        (f"{HOST}?required=False", StorePlace("redis", url=HOST)),
        (
            "redis+cluster://a:7000,b:7000/0?shards=12&prefix=x",
            StorePlace("redis", url="redis+cluster://a:7000,b:7000/0", prefix="x", shards=12),
        ),
        ("rediss+cluster://a", StorePlace("redis", url="rediss+cluster://a")),
    ],
)
def test_a_place_is_parsed(text: str, meant: StorePlace) -> None:
    assert StorePlace.of(text) == meant
    assert Config(store=text).place == meant


def test_a_prefix_may_contain_the_name_of_the_spider() -> None:
    assert filled(StorePlace.of(f"{HOST}?prefix=simhash:%(name)s").prefix, "tides") == "simhash:tides"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        *((text, text) for text in ("sqlite", "redis", "localhost:6379/0", "./100%", "./%(time)s")),
        ("user:secret@host:6379", "host:6379"),
        ("http://user:secret@host/0", "http://host/0"),
        (f"{HOST}?prefix=", "prefix="),
        (f"{HOST}?prefix=100%", "prefix=100%"),
        (f"{HOST}?prefix=%(time)s", "prefix=%(time)s"),
        *((f"{HOST}?keep={age}", f"keep={age}") for age in ("3600", "7102w", "0s")),
        (f"{HOST}?required=maybe", "required=maybe"),
        (f"{HOST}?shards=3", "shards, which only redis+cluster:// URLs support"),
        *(
            (f"redis+cluster://a?shards={wrong}", f"shards={wrong}")
            for wrong in ("0", "16385", "-1", "many", "")
        ),
        (f"{HOST}?kepp=30d", "did you mean keep?"),
        (f"{HOST}?Prefix=a", "did you mean prefix?"),
        ("redis://:secret@host/0#news", "write # in a password as %23"),
        ("redis://host?password=secr#et", "contains # after redis://host"),
    ],
)
def test_an_invalid_place_is_refused_with_the_wrong_part_and_without_the_password(
    text: str, shown: str
) -> None:
    with pytest.raises(SettingError, match=r"^SIMHASH_STORE [^\n]+$") as caught:
        Config(store=text)
    assert shown in str(caught.value)
    assert "secret" not in str(caught.value)


WRONG = ("", *"?exipre=30d ?prefix= ?keep=x ?required=x ?live=x ?shards=x #news ?prefix=a@b".split())


@pytest.mark.parametrize("mark", list("@/?#[]:&="))
def test_no_part_of_an_unquoted_password_is_shown(mark: str) -> None:
    users = (f":geh{mark}eim@", f"u:g@eh{mark}eim@", f"geh{mark}eim@")
    said = []
    for scheme, user, wrong in product(("redis", "http", "redis+cluster"), users, WRONG):
        try:
            Config(store=f"{scheme}://{user}db.example{wrong}")
        except SettingError as error:
            said.append(str(error).replace("behind", ""))
    assert said
    assert not [text for text in said if "eh" in text or "eim" in text]


# --- The files of each spider.

#: Names that would share a file, or that no file can have.
NAMES = [
    *"tides Tides TIDES tides. .tides . .. ... a/b a_b a%2Fb a\\b a:b a%b".split(),
    *("a b", *"tides.items tides%2Eitems tides.items.items %2E tides* tídes ~".split()),
]


@pytest.mark.parametrize("folder", ["{}", "{}/%(name)s", "{}/a-%(name)s"])
def test_no_two_spiders_share_a_file_or_its_parts(folder: str, tmp_path: Path) -> None:
    place = StorePlace.of(folder.format(tmp_path))
    files = [file_of(place, Settings(), spider, part) for spider in NAMES for part in ("", ITEMS)]
    assert len({file.resolve() for file in files}) == len(files)
    for file in files:
        assert file.resolve().is_relative_to(tmp_path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()


@given(st.text(), st.text())
def test_different_names_have_different_files(one: str, other: str) -> None:
    place = StorePlace.of("/seen")
    try:
        files = {file_of(place, Settings(), name, part) for name in (one, other) for part in ("", ITEMS)}
    except UnicodeEncodeError:
        return  # a lone surrogate can be in no URL and no file name
    assert len(files) == (2 if one == other else 4)
