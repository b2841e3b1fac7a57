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

ACTION = (
    "must be one of mark, drop_items, drop_links, drop_page, or several of them; SIMHASH_POLICY takes the import path"
    " of a class"
)
FIELD = "must be the name of one field (the fields to compare go into SIMHASH_ITEM_FIELDS)"
WEIGHTS = "must be a list of fields, or a dictionary of fields and whole numbers above 0"
PLACE = (
    "must be 'memory', a folder such as './seen', a URL like redis://host:6379/0?prefix=news, or the import"
    " path of a class"
)
AGES = (
    "must be a dictionary (JSON on the command line) of regular expressions for URLs and an age such as 7d or one of"
    " auto, lastmod, always, such as {'/news/': '6h', '': 'auto'}"
)
LIST = "must be a list of words"
CLASSIC = {"rule": "classic"}


def some(*values: Any) -> tuple[Any, ...]:
    return values


#: Settings, the one that is wrong, and what is said of it.
WRONG: list[tuple[dict[str, Any], str, str]] = [
    # Types and ranges.
    *(
        ({"action": value}, "action", ACTION)
        for value in some("drop", "MARK", "", "[]", 1, [], ["mark", "drop"], ["mark", None])
    ),
    *(
        ({"exact_action": value}, "exact_action", ACTION)
        for value in some("drop_items drop_links", "my.project.Action", ",", ".", [])
    ),
    *(({"store": value}, "store", PLACE) for value in some("sqllite", "localhost:6379", "~", ".")),
    ({"store": 7}, "store", "must be a string"),
    *(
        ({name: value}, name, FIELD)
        for name in ("result_field", "item_key")
        for value in (7, ["seen"], {"seen": 1}, "a,b", '["a"]', "{a}", " a", "a\n", b"a")
    ),
    ({"report": 7}, "report", "must be a string"),
    ({"url_rules": "on"}, "url_rules", "must be one of off, observe, skip"),
    ({"keep_urls": [7]}, "keep_urls", "must be a list of regular expressions, or one of them"),
    *(
        (
            {name: "['/print/', '/copy/']"},
            name,
            f'must be one of the {what}, or a JSON list of them, such as ["/a/", "/b/"]',
        )
        for name, what in (
            ("keep_urls", "regular expressions"),
            ("url_rules_pin", "URL rules"),
        )
    ),
    *(
        (
            {"action": value},
            "action",
            "must be an action, or a dictionary of regular expressions for URLs and actions",
        )
        for value in ({}, {"(": "mark"}, {7: "mark"}, "{}")
    ),
    ({"action": {"/print/": "drop"}}, "action", ACTION),
    ({"protect": 7}, "protect", f"{LIST} start, listing, pagination, language, facts, or one of them"),
    *(
        ({"min_similarity": value}, "min_similarity", "must be a number above 0 and at most 1")
        for value in (0, 1.5, -0.1, "80 %", True, "nan")
    ),
    *(
        ({"scope": value}, "scope", "must be one of crawl, domain, host, or the import path of a function")
        for value in ("site", 7)
    ),
    *(
        ({"item_fields": value}, "item_fields", WEIGHTS)
        for value in (
            *({"title": 0}, {"title": 1.5}, {"title": True}, {"title": "3"}, {1: 1}, '{"title": "much"}'),
            *("{title}", 5, ["title", ""], '["title"'),
        )
    ),
    ({"item_action": "drop"}, "item_action", "must be one of mark, drop_items"),
    *(
        ({"recrawl": value}, "recrawl", AGES)
        for value in ("soon", "7d", 7, {"(": "7d"}, {"": 7}, '{"": "7"}')
    ),
    *(({"enabled": value}, "enabled", "must be True or False") for value in some("maybe", 2, [], 1.0)),
    *(
        ({"rule": value}, "rule", "must be one of similarity, classic")
        for value in ("Classic", "similarity,classic", "", 3, ["classic"])
    ),
    *(
        ({"max_distance": value}, "max_distance", "must be a whole number of bits, 0 to 63")
        for value in (-1, 64, "3.5", 9.5, "far")
    ),
    (
        {"scheme": "Web"},
        "scheme",
        "must be one of web, classic, manku, fnv-words, slides, moz, or the import path of a Scheme",
    ),
    ({"min_shingles": 0}, "min_shingles", "must be a whole number of shingles, 1 or more"),
    ({"maxsize": "10M"}, "maxsize", "must be a whole number of bytes, 0 or more"),
    ({"url_rules_pin": 7}, "url_rules_pin", "must be a list of URL rules, or one of them"),
    *(
        ({name: value}, name, f"must be one of {words}, or the import path of a {kind}")
        for name, value, words, kind in (
            ("scope", "host?across=true", "crawl, domain, host", "function"),
            ("scheme", "web?shingle_size=3", "web, classic, manku, fnv-words, slides, moz", "Scheme"),
        )
    ),
    # Contradictions.
    (
        {"max_distance": 21},
        "max_distance",
        "must be at most 20 bits, more only with SIMHASH_RULE = 'classic'",
    ),
    *(
        ({"item_fields": ["copy"], name: "copy"}, name, "must not be one of SIMHASH_ITEM_FIELDS")
        for name in ("result_field",)
    ),
    *(
        (
            {"item_fields": ["a"], "item_key": "url", name: "url"},
            name,
            "must not be the field of SIMHASH_ITEM_KEY",
        )
        for name in ("result_field",)
    ),
]


@pytest.mark.parametrize(("given", "name", "what"), WRONG)
def test_a_wrong_value_is_reported_in_one_sentence_with_setting_value_and_remedy(
    given: dict[str, Any], name: str, what: str
) -> None:
    message = f"{setting_name(name)} {what}, got {given[name]!r}"
    with pytest.raises(SettingError, match=f"^{re.escape(message)}$"):
        Config.from_settings({setting_name(other): value for other, value in given.items()})
    with pytest.raises(ValueError, match="got"):
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


#: What no setting can be, but that of fields and weights.
NO_VALUES = [b"x", [[]], {1: 2}, {"a": "b"}, 3.7j, int, print, [None], Path]


@pytest.mark.parametrize("value", NO_VALUES, ids=repr)
@pytest.mark.parametrize("setting", setting_names())
def test_a_value_of_another_type_is_reported_in_one_sentence_with_setting_and_value(
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
    # What is to be written is right.
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
        # A string is one pattern, or one rule: a comma is a part of it.
        *(
            ({"action": "drop_page", name: pattern}, name, (pattern,))
            for name in ("keep_urls",)
            for pattern in ("/p/[0-9]{1,3}/", "/a,b/", "(?:a,b)")
        ),
        *(
            ({name: rule, "url_rules": "skip"}, name, (rule,))
            for name in ("url_rules_pin",)
            for rule in ("example.com: parameter sid,token", "-parameter sort")
        ),
        (
            {"url_rules": "skip", "url_rules_pin": '["parameter a,b", "-parameter sort"]'},
            "url_rules_pin",
            ("parameter a,b", "-parameter sort"),
        ),
        *(({"action": "drop_page", "keep_urls": nothing}, "keep_urls", ()) for nothing in ("", " ", "[]")),
        # JSON, as the command line gives it: a pattern to the letter, it would match any of these characters.
        ({"action": "drop_page", "keep_urls": '["/print/"]'}, "keep_urls", ("/print/",)),
        ({"action": "drop_page", "keep_urls": "[0]"}, "keep_urls", ("[0]",)),
        ({"action": "drop_page", "keep_urls": "[a-z],b"}, "keep_urls", ("[a-z],b",)),
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
        # A path is a folder, also without a separator.
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
    # What a config keeps, another one reads; and so does one in another process.
    assert replace(config) == config
    settings = {setting_name(field): getattr(config, field) for field in READERS}
    assert Config.from_settings(settings) == config


def test_all_defaults_are_valid_and_of_their_declared_types() -> None:
    config = Config()
    assert {name: getattr(config, name) for name in DEFAULTS} == DEFAULTS
    assert list(DEFAULTS) == list(READERS) == [field.name for field in fields(Config)]
    assert config.action == "mark", "switching it on never loses data"


#: Settings, and what is said of the one that has no effect.
UNUSED: list[tuple[dict[str, Any], bool, dict[str, str]]] = [
    ({}, True, {}),
    (
        {"rule": "classic", "site_learning": True},
        False,
        {"site_learning": "with SIMHASH_RULE = 'classic': remove it, or set SIMHASH_RULE = 'similarity'"},
    ),
    # Also where it says what the default says: whoever sets it expects something of it.
    (
        {"rule": "classic", "min_similarity": 0.8},
        False,
        {"min_similarity": "with SIMHASH_RULE = 'classic': remove it, or set SIMHASH_RULE = 'similarity'"},
    ),
    (
        {"rule": "classic", "min_similarity": 0.9},
        False,
        {"min_similarity": "with SIMHASH_RULE = 'classic': remove it, or set SIMHASH_RULE = 'similarity'"},
    ),
    ({"rule": "classic", "max_distance": 2}, False, {}),
    ({"scheme": "moz", "max_distance": 5}, False, {}),
    (
        {"scheme": "moz", "min_similarity": 0.9},
        False,
        {"min_similarity": "with SIMHASH_SCHEME = 'moz': remove it, or set SIMHASH_SCHEME = 'web'"},
    ),
    (
        {"scheme": "moz", "rule": "similarity"},
        False,
        {"rule": "with SIMHASH_SCHEME = 'moz': remove it, or set SIMHASH_SCHEME = 'web'"},
    ),
    ({"scheme": "moz", "rule": "classic", "site_learning": False}, False, {}),
    *(
        (
            {name: value},
            True,
            {name: "without a store that outlives the crawl: set SIMHASH_STORE = './simhash'"},
        )
        for name, value in (
            ("revisit_action", "drop_items"),
            ("reset", True),
            ("recrawl", {"": "7d"}),
            ("changes", "c"),
        )
    ),
    ({"revisit_action": "mark"}, True, {}),
    *(
        (
            {name: value},
            False,
            {name: "without SIMHASH_ITEM_FIELDS: set SIMHASH_ITEM_FIELDS = ['title', 'body']"},
        )
        for name, value in (("item_action", "drop_items"), ("item_key", "id"))
    ),
    ({"item_fields": "a", "item_action": "drop_items", "item_key": "c"}, False, {}),
    *(
        ({name: "/shop/"}, False, {name: "while nothing is dropped: set SIMHASH_ACTION = 'drop_items'"})
        for name in ("keep_urls",)
    ),
    *(({"keep_urls": "/shop/", name: "drop_items"}, False, {}) for name in ("action", "exact_action")),
    *(
        (
            {name: "parameter sid", "url_rules": "off"},
            False,
            {name: "with SIMHASH_URL_RULES = 'off': remove it, or set SIMHASH_URL_RULES = 'observe'"},
        )
        for name in ("url_rules_pin",)
    ),
]


@pytest.mark.parametrize(("given", "forgets", "unused"), UNUSED)
def test_a_setting_without_effect_is_logged_with_the_remedy(
    given: dict[str, Any], forgets: bool, unused: dict[str, str]
) -> None:
    settings = {setting_name(name): value for name, value in given.items()}
    found = unused_settings(Settings(settings), forgets=forgets)
    assert list(found) == list(map(setting_name, unused))
    for name, reason in unused.items():
        sentence = found[setting_name(name)]
        assert sentence.startswith(f"{setting_name(name)} (")
        assert sentence.endswith(f") has no effect {reason}")
    if not forgets:
        rest = {name: value for name, value in given.items() if name not in unused}
        assert Config.from_settings(settings) == Config(**rest)


@pytest.mark.parametrize(
    ("settings", "unknown"),
    [
        ({}, {}),
        ({"LOG_LEVEL": "INFO", "BOT_NAME": "x"}, {}),
        (dict.fromkeys(setting_names()), {}),
        ({"SIMHASH_ACTON": "drop_items"}, {"SIMHASH_ACTON (drop_items)": "did you mean SIMHASH_ACTION?"}),
        ({"SIMHASH_MAX_DISTANSE": 3}, {"SIMHASH_MAX_DISTANSE (3)": "did you mean SIMHASH_MAX_DISTANCE?"}),
        ({"SIMHASH_DISTANCE": 3}, {"SIMHASH_DISTANCE (3)": "did you mean SIMHASH_MAX_DISTANCE?"}),
        ({"SIMHASH_KEEP_URL": "/a"}, {"SIMHASH_KEEP_URL (/a)": "did you mean SIMHASH_KEEP_URLS?"}),
        # The prefix alone is no likeness, and a password is not shown.
        ({"SIMHASH_QQQQ": "redis://:secret@host"}, {"SIMHASH_QQQQ (redis://host)": "remove it"}),
        ({"simhash_action": "mark"}, {}),
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
