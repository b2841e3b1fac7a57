"""Every setting: valid values, errors, and settings without effect."""

from __future__ import annotations

import os
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from scrapy_simhash import Config, SettingError
from scrapy_simhash.action import ACTIONS
from scrapy_simhash.config import (
    DEFAULTS,
    READERS,
    REMOVED,
    SCOPES,
    setting_name,
    setting_names,
    unknown_settings,
    unused_settings,
)

CLASSIC = {"rule": "classic"}

#: Wrong values of each setting.
WRONG: dict[str, tuple[Any, ...]] = {
    "action": (
        *("drop", "MARK", "", "[]", 1, [], ["mark", "drop"], ["mark", None]),
        *({}, {"(": "mark"}, {7: "mark"}, "{}"),
    ),
    "exact_action": ("drop_items drop_links", "my.project.Action", ",", ".", []),
    "store": ("sqllite", "localhost:6379", "~", ".", 7),
    "result_field": (7, ["seen"], {"seen": 1}, "a,b", '["a"]', "{a}", " a", "a\n", b"a"),
    "item_key": (7, ["seen"], "a,b", " a"),
    "report": (7,),
    "url_rules": ("on",),
    "keep_urls": ([7], "['/print/', '/copy/']"),
    "url_rules_pin": (7, "['/print/', '/copy/']"),
    "protect": (7,),
    "min_similarity": (0, 1.5, -0.1, "80 %", True, "nan"),
    "scope": ("site", 7, "host?across=true"),
    "item_fields": (
        *({"title": 0}, {"title": 1.5}, {"title": True}, {"title": "3"}, {1: 1}, '{"title": "much"}'),
        *("{title}", 5, ["title", ""], '["title"'),
    ),
    "item_action": ("drop",),
    "recrawl": ("soon", "7d", 7, {"(": "7d"}, {"": 7}, '{"": "7"}'),
    "enabled": ("maybe", 2, [], 1.0),
    "rule": ("Classic", "similarity,classic", "", 3, ["classic"]),
    "max_distance": (-1, 64, "3.5", 9.5, "far", 21),
    "scheme": ("Web", "web?shingle_size=3"),
    "min_shingles": (0,),
    "maxsize": ("10M",),
}


@pytest.mark.parametrize(
    ("given", "name"),
    [
        *(({name: value}, name) for name in WRONG for value in WRONG[name]),
        # Settings that contradict each other.
        ({"item_fields": ["copy"], "result_field": "copy"}, "result_field"),
        ({"item_fields": ["a"], "item_key": "url", "result_field": "url"}, "result_field"),
    ],
)
def test_a_wrong_value_is_reported_in_one_sentence_with_setting_and_value(
    given: dict[str, Any], name: str
) -> None:
    message = rf"^{setting_name(name)} must (not )?be [^\n]+, got {re.escape(repr(given[name]))}$"
    with pytest.raises(SettingError, match=message):
        Config.from_settings({setting_name(other): value for other, value in given.items()})
    with pytest.raises(ValueError, match=message):
        Config(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"keep_urls": ["/a", "(b"]},
            "SIMHASH_KEEP_URLS must be a list of regular expressions, or one of them, got '(b'",
        ),
        (
            {"protect": ["start", "variants"]},
            "SIMHASH_PROTECT must be a list of words start, listing, pagination, language, facts, or one of them,"
            " got 'variants'",
        ),
    ],
)
def test_the_wrong_part_of_a_list_is_named(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=f"^{re.escape(message)}$"):
        Config(**given)


#: Values of types that no setting accepts.
NO_VALUES = [b"x", [[]], {1: 2}, {"a": "b"}, 3.7j, int, print, [None], Path]


@pytest.mark.parametrize("value", NO_VALUES, ids=repr)
@pytest.mark.parametrize("setting", setting_names())
def test_a_value_of_a_wrong_type_is_reported_in_one_sentence_with_setting_and_value(
    setting: str, value: object
) -> None:
    with pytest.raises(SettingError) as caught:
        Config.from_settings({setting: value})
    message = str(caught.value)
    assert re.match(f"{setting} (must be|has an unknown option) ", message)
    assert message.partition(", got ")[2]
    assert "\n" not in message


@pytest.mark.parametrize("name", REMOVED)
def test_a_removed_setting_is_refused_with_its_replacement(name: str) -> None:
    old = f"SIMHASH_{name}"
    with pytest.raises(SettingError) as caught:
        Config.from_settings(Settings({old: "redis://me:secret@host"}))
    assert str(caught.value) == f"{old} (redis://host) was removed: {REMOVED[name]}"
    assert old not in setting_names()
    assert Config.from_settings({old: None}) == Config.from_settings({old: ""}) == Config()
    # The setting in the message is valid.
    for new, value in re.findall(r"set (SIMHASH_\w+) = (.+)$", REMOVED[name]):
        Config.from_settings({new: eval(value)})
    assert set(re.findall(r"SIMHASH_\w+", REMOVED[name])) <= set(setting_names())


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        (CLASSIC, "rule", "classic"),
        ({**CLASSIC, "max_distance": 63}, "max_distance", 63),
        ({}, "distance", 8),
        (CLASSIC, "distance", 3),
        ({"scheme": "moz"}, "distance", 3),
        ({"max_distance": 0}, "distance", 0),
        ({"max_distance": " 20 "}, "distance", 20),
        ({"min_similarity": " .9 "}, "min_similarity", 0.9),
        ({"min_similarity": 1}, "min_similarity", 1.0),
        ({"maxsize": 0}, "maxsize", 0),
        ({"min_shingles": 10**9}, "min_shingles", 10**9),
        ({"result_field": ""}, "result_field", None),
        ({"result_field": "near duplicate [of]"}, "result_field", "near duplicate [of]"),
        ({"item_fields": ["a"], "item_key": "Nummer-ü.1"}, "item_key", "Nummer-ü.1"),
        *(({"action": action}, "action", action) for action in ACTIONS),
        ({"exact_action": ["drop_items", "drop_links"]}, "exact_action", "drop_items,drop_links"),
        ({"action": {"drop_items"}}, "action", "drop_items"),
        ({"action": '["drop_items", "drop_links"]'}, "action", "drop_items,drop_links"),
        ({"policy": "my.project.Policy"}, "policy", "my.project.Policy"),
        ({"exact_action": ""}, "exact_action", None),
        *(({"scope": scope}, "scope", scope) for scope in (*SCOPES, "my.project.scope")),
        *(
            ({"recrawl": value}, "recrawl", (("/news/", "6h"), ("", "auto")))
            for value in ({"/news/": "6h", "": "auto"}, '{"/news/": "6h", "": "auto"}')
        ),
        *(
            ({"action": "drop_page", "keep_urls": value}, "keep_urls", ("/a", "b$"))
            for value in ('["/a", "b$"]', ["/a", "b$"], {"b$", "/a"})
        ),
        # A string is one pattern or one rule: a comma is part of it.
        *(
            ({"action": "drop_page", "keep_urls": pattern}, "keep_urls", (pattern,))
            for pattern in ("/p/[0-9]{1,3}/", "/a,b/", "(?:a,b)", "[a-z],b")
        ),
        *(
            ({"url_rules": "skip", "url_rules_pin": rules}, "url_rules_pin", expected)
            for rules, expected in [
                ("example.com: parameter sid,token", ("example.com: parameter sid,token",)),
                ('["parameter a,b", "-parameter sort"]', ("parameter a,b", "-parameter sort")),
            ]
        ),
        *(({"action": "drop_page", "keep_urls": nothing}, "keep_urls", ()) for nothing in ("", " ", "[]")),
        # JSON from the command line, which would also be a valid pattern.
        ({"action": "drop_page", "keep_urls": '["/print/"]'}, "keep_urls", ("/print/",)),
        ({"action": "drop_page", "keep_urls": "[0]"}, "keep_urls", ("[0]",)),
        *(
            ({"action": value}, "action", (("/print/", "drop_page"), ("", "drop_items,drop_links")))
            for value in (
                {"/print/": "drop_page", "": ["drop_items", "drop_links"]},
                '{"/print/": "drop_page", "": "drop_items,drop_links"}',
            )
        ),
        ({"action": {"a,b": "mark"}}, "actions", (("a,b", "mark"),)),
        ({"action": "drop_page"}, "actions", (("", "drop_page"),)),
        ({"protect": "[]"}, "protect", ()),
        ({"protect": ""}, "protect", ()),
        ({"protect": "start"}, "protect", ("start",)),
        *(
            ({"item_fields": fields}, "item_fields", (("title", 3), ("body", 1)))
            for fields in ({"title": 3, "body": 1}, '{"title": 3, "body": 1}', (("title", 3), ("body", 1)))
        ),
        *(
            ({"item_fields": fields}, "item_fields", (("title", 1), ("body", 1)))
            for fields in (["title", "body"], '["title", "body"]')
        ),
        # A path is a folder, with or without a trailing separator.
        ({"store": Path("seen")}, "store", f"seen{os.sep}"),
        ({"report": Path("pages.jsonl")}, "report", "pages.jsonl"),
        *(({"enabled": word}, "enabled", True) for word in (True, 1, "1", "True", "yes", " ON ")),
        *(({"enabled": word}, "enabled", False) for word in (False, 0, "0", "false", "No", "off", "")),
    ],
)
def test_a_value_is_parsed_by_its_meaning(given: dict[str, Any], name: str, value: object) -> None:
    config = Config(**given)
    found = getattr(config, name)
    assert found == value
    assert type(found) is type(value)
    # A config can be made from the values of another one.
    assert replace(config) == config
    settings = {setting_name(field): getattr(config, field) for field in READERS}
    assert Config.from_settings(settings) == config


def test_all_defaults_are_valid_and_of_their_declared_types() -> None:
    config = Config()
    assert {name: getattr(config, name) for name in DEFAULTS} == DEFAULTS
    assert list(DEFAULTS) == list(READERS) == [field.name for field in fields(Config)]
    assert config.action == "mark", "turning a feature on never loses data"


OTHER_RULE = "with SIMHASH_RULE = 'classic': remove it, or set SIMHASH_RULE = 'similarity'"
NO_STORE = "without a persistent store: set SIMHASH_STORE = './simhash'"
NO_ITEMS = "without SIMHASH_ITEM_FIELDS: set SIMHASH_ITEM_FIELDS = ['title', 'body']"

#: Settings, whether the store is in memory, and the reason why one of them has no effect.
UNUSED: list[tuple[dict[str, Any], bool, dict[str, str]]] = [
    ({}, True, {}),
    ({"rule": "classic", "site_learning": True}, False, {"site_learning": OTHER_RULE}),
    # Also with the default value.
    ({"rule": "classic", "min_similarity": 0.8}, False, {"min_similarity": OTHER_RULE}),
    ({"scheme": "moz", "max_distance": 5}, False, {}),
    ({"recrawl": {"": "7d"}}, True, {"recrawl": NO_STORE}),
    ({"changes": "c"}, True, {"changes": NO_STORE}),
    ({"item_action": "drop_items"}, False, {"item_action": NO_ITEMS}),
    ({"item_key": "id"}, False, {"item_key": NO_ITEMS}),
    ({"item_fields": "a", "item_action": "drop_items", "item_key": "c"}, False, {}),
]


@pytest.mark.parametrize(("given", "forgets", "unused"), UNUSED)
def test_a_setting_without_effect_is_logged_with_the_remedy(
    given: dict[str, Any], forgets: bool, unused: dict[str, str]
) -> None:
    settings = {setting_name(name): value for name, value in given.items()}
    found = unused_settings(Settings(settings), in_memory=forgets)
    assert found == {
        setting_name(name): f"{setting_name(name)} ({given[name]}) has no effect {reason}"
        for name, reason in unused.items()
    }
    if not forgets:
        rest = {name: value for name, value in given.items() if name not in unused}
        assert Config.from_settings(settings) == Config(**rest)


@pytest.mark.parametrize(
    ("settings", "unknown"),
    [
        ({}, {}),
        (dict.fromkeys(setting_names()), {}),
        ({"SIMHASH_ACTON": "drop_items"}, {"SIMHASH_ACTON (drop_items)": "did you mean SIMHASH_ACTION?"}),
        # The common prefix does not count; a password is not shown.
        ({"SIMHASH_QQQQ": "redis://:secret@host"}, {"SIMHASH_QQQQ (redis://host)": "remove it"}),
    ],
)
def test_a_misspelt_setting_is_logged_with_the_most_similar_name(
    settings: dict[str, Any], unknown: dict[str, str]
) -> None:
    sentences = [f"{name} is not a setting of scrapy-simhash; {hint}" for name, hint in unknown.items()]
    assert list(unknown_settings(settings).values()) == sentences
    assert list(unknown_settings(Settings(settings)).values()) == sentences


def test_removed_settings_are_in_the_table_of_changes() -> None:
    text = Path(__file__).parents[1].joinpath("CHANGES.md").read_text("utf-8")
    rows = re.findall(r"^\| `(SIMHASH_\w+)` \| (.+) \|$", text, re.MULTILINE)
    assert [(name, what.replace("`", "")) for name, what in rows] == [
        (setting_name(name), what) for name, what in REMOVED.items()
    ]
