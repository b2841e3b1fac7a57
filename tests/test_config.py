from __future__ import annotations

import os
import re
from dataclasses import FrozenInstanceError, fields
from math import comb
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from scrapy_simhash import Config, SettingError
from scrapy_simhash import config as config_module
from scrapy_simhash.action import ACTIONS
from scrapy_simhash.config import (
    MAX_TABLES,
    SCOPES,
    idle_settings,
    setting_names,
    unknown_settings,
    unused_settings,
)
from scrapy_simhash.config import RULES as USED_BY
from scrapy_simhash.judge.rule import RULES, ClassicRule, SimilarityRule, rule_fields, rule_of
from scrapy_simhash.values import setting_name

WORDS = "mark, drop_items, drop_links, drop_page, several of them, or the import path of a class"
CLASSIC = {"rule": "classic"}
FIELDS = "SIMHASH_ITEM_FIELDS"
WRONG_RULES: tuple[Any, ...] = (
    "Classic",
    "classics",
    "",
    "similarity,classic",
    None,
    True,
    3,
    ["classic"],
    {},
)
DEFAULTS = {field.name: field.default for field in fields(Config)}


#: Settings by the rule that is set with them, a value that each may not have, and what each must be instead.
WRONG: list[tuple[dict[str, Any], tuple[str, ...], tuple[Any, ...], str]] = [
    ({}, ("rule",), WRONG_RULES, "be one of similarity, classic"),
    (CLASSIC, ("blocks",), (2, 3), "be greater than SIMHASH_MAX_DISTANCE (3)"),
    (CLASSIC, ("blocks",), (65,), "be at most 64"),
    (CLASSIC, ("blocks",), (20,), "not need more than 1,000 tables (1,140 with SIMHASH_MAX_DISTANCE 3)"),
    (CLASSIC, ("blocks",), ("six", 6.0, True, "", None), "be a whole number"),
    (CLASSIC, ("max_distance",), (-1, 64), "be 0 to 63 bits"),
    (CLASSIC, ("max_distance",), ("3.5",), "be a whole number"),
    ({}, ("candidate_distance",), (-1, 21), "be 0 to 20 bits"),
    ({}, ("candidate_distance",), (9.5,), "be a whole number"),
    ({}, ("min_similarity",), (1.5, -0.1), "be above 0 and at most 1"),
    ({}, ("min_similarity",), ("80 %", True, None), "be a number"),
    (
        {},
        ("min_similarity",),
        (0.0,),
        "be above 0 and at most 1 (to compare by distance alone, set SIMHASH_RULE = 'classic')",
    ),
    ({}, ("shingle_size",), (0, 17), "be 1 to 16 tokens"),
    ({}, ("min_shingles",), (0,), "be at least 1"),
    (
        {},
        ("shingle_size", "min_shingles", "maxsize", "thread_size"),
        ([2], "few", "10M"),
        "be a whole number",
    ),
    ({}, ("maxsize",), (-1,), "be a number of bytes, or 0 for no limit"),
    ({}, ("thread_size",), (-1,), "be a number of bytes, or 0 for never"),
    ({}, ("action",), (1,), "be a string"),
    ({}, ("action", "exact_action", "revisit_action"), ("drop", "MARK", []), f"be one of {WORDS}"),
    ({}, ("action", "exact_action", "revisit_action"), (["drop_items", None],), f"be one of {WORDS}"),
    (
        {},
        ("exact_action", "revisit_action"),
        ("drop_items,drop", "drop_items drop_links", "my project.Action", ",", "."),
        f"be one of {WORDS}",
    ),
    ({}, ("scope",), ("site",), "be one of crawl, domain, host, or the import path of a function"),
    ({}, ("scope",), (None,), "be a string"),
    ({}, ("enabled", "mask_digits", "debug"), ("maybe", 2, None, []), "be True or False"),
    ({}, ("cluster_budget", "min_depth"), (-1,), "be 0 or more"),
    ({}, ("action_deny",), (7, [7]), "be a list of strings"),
    ({}, ("action_allow_domains",), ({"a": 1},), "be a list of strings"),
    (
        {},
        ("item_field", "item_mark", "item_key"),
        (7, True, ["seen"], ("seen",), {"seen": 1}, "a,b", '["a"]', "{a}", " a", "a\n", b"a"),
        "be the name of one field (the fields to compare go into SIMHASH_ITEM_FIELDS)",
    ),
    (
        {"item_fields": ["copy"]},
        ("item_field", "item_mark"),
        ("copy",),
        f"not be one of the fields in {FIELDS}",
    ),
    ({"item_key": "url"}, ("item_field", "item_mark"), ("url",), "not be the field of SIMHASH_ITEM_KEY"),
    (
        {"item_field": "seen"},
        ("item_mark",),
        ("seen",),
        "not be the field of SIMHASH_ITEM_FIELD, which holds the verdict on the page",
    ),
    ({}, ("item_action",), ("drop_items",), "be one of mark, drop"),
    ({}, ("item_log_level",), ("debug",), "be one of DEBUG, INFO, WARNING, ERROR, CRITICAL"),
    (
        {},
        ("live",),
        (
            *("0.0.0.0:8000", "[::]:8000", "192.168.1.7:8000", "example.com:8000", "8000", ":8000"),
            *("127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:-1", "127.0.0.1:x", "localhost"),
            *("::1%lo:80", "http://127.0.0.1:8000"),
        ),
        "be an IP of this machine for itself and a port, such as 127.0.0.1:0 (0: any free port)",
    ),
    (
        {},
        ("item_fields",),
        (
            *({"title": 0}, {"title": 1.5}, {"title": True}, {1: 1}, '{"title": "much"}', "{title}", 5),
            *(["title", ""], '["title"'),
        ),
        "be a list of fields, or a dictionary of fields and whole numbers above 0",
    ),
    (
        {},
        ("store",),
        ("sqllite", "localhost:6379", "http://host/0", "~", "."),
        "be 'memory', a folder such as './seen', 'redis', a URL like redis://host:6379/0?prefix=news, or the import"
        " path of a class",
    ),
    ({}, ("revisit_live",), (-1, 3601), "be a number of seconds up to 3,600, or 0 for off"),
    ({}, ("revisit_live",), (True,), "be a whole number"),
    ({}, ("conditional_checks",), (2.0,), "be 0 to 1"),
    (
        {},
        ("recrawl",),
        ("soon", {"(": "7d"}),
        "be an age such as 7d, auto, lastmod or always, or a dictionary (JSON on the command line) of regular"
        " expressions for URLs and one of these",
    ),
    ({}, ("recrawl_max_age",), ("30",), "be a number with a unit (s, m, h, d, w), such as 30d"),
    ({}, ("store",), (b"bytes",), "be a string"),
]
#: The ends of no host, so that nobody would ever notice.
NO_DOMAINS = (
    *("https://example.com", "example.com/", "example.com:8080", "*.example.com", "me@example.com"),
    *("example .com", "bücher.example", "[::1]", "", "."),
)
DOMAINS = "be domain names such as example.com, without scheme, port and path"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        *(
            ({**others, name: value}, f"SIMHASH_{name.upper()} must {demand}, got {value!r}")
            for others, names, values, demand in WRONG
            for name in names
            for value in values
        ),
        *(
            ({name: ["example.org", domain]}, f"SIMHASH_{name.upper()} must {DOMAINS}, got {domain!r}")
            for name in ("action_allow_domains", "action_deny_domains")
            for domain in NO_DOMAINS
        ),
        # What is told is what was understood.
        ({"min_similarity": "nan"}, "SIMHASH_MIN_SIMILARITY must be above 0 and at most 1, got nan"),
        ({"action": "[]"}, f"SIMHASH_ACTION must be one of {WORDS}, got []"),
        ({"action": ["mark", "drop"]}, f"SIMHASH_ACTION must be one of {WORDS}, got 'mark,drop'"),
        ({"action_allow": "/a,(b"}, "SIMHASH_ACTION_ALLOW must be regular expressions, got '(b'"),
        ({"action_deny": ["*"]}, "SIMHASH_ACTION_DENY must be regular expressions, got '*'"),
        (
            {"protect": "start,variants"},
            "SIMHASH_PROTECT must be one of start, listing, pagination, language, product, got 'variants'",
        ),
        (
            {"prefer": ["longer"]},
            "SIMHASH_PREFER must be one of https, canonical, shorter, earlier, got 'longer'",
        ),
        (
            {**CLASSIC, "blocks": 64, "max_distance": 32},
            "SIMHASH_BLOCKS must not need more than 1,000 tables"
            " (1,832,624,140,942,590,534 with SIMHASH_MAX_DISTANCE 32), got 64",
        ),
    ],
)
def test_a_broken_rule_is_named_with_setting_and_value(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=f"^{re.escape(message)}$") as caught:
        Config(**given)
    assert isinstance(caught.value, ValueError)


#: What no setting can be, but that of fields and weights.
NO_VALUES = [b"x", [[]], {1: 2}, {"a": "b"}, 3.7j, int, print, [None], Path]


@pytest.mark.parametrize("value", NO_VALUES, ids=repr)
@pytest.mark.parametrize("setting", setting_names())
def test_a_value_of_another_type_is_told_in_one_sentence_with_setting_and_value(
    setting: str, value: object
) -> None:
    rules = {setting_name(name): {"SIMHASH_RULE": rule} for rule, names in USED_BY.items() for name in names}
    with pytest.raises(SettingError) as caught:
        Config.from_settings({**rules.get(setting, {}), setting: value})
    message = str(caught.value)
    assert message.startswith(f"{setting} must be ")
    assert repr(value) in message.partition(", got ")[2]
    assert "\n" not in message


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ({"rule": "similarity"}, "rule", "similarity"),
        (CLASSIC, "rule", "classic"),
        ({**CLASSIC, "max_distance": 0, "blocks": 1}, "blocks", 1),
        ({**CLASSIC, "max_distance": 63, "blocks": 64}, "max_distance", 63),
        ({"candidate_distance": 0}, "candidate_distance", 0),
        ({"candidate_distance": " 20 "}, "candidate_distance", 20),
        ({"min_similarity": " .9 "}, "min_similarity", 0.9),
        ({"min_similarity": 1}, "min_similarity", 1.0),
        ({**CLASSIC, "blocks": 19}, "blocks", 19),
        ({"maxsize": 0}, "maxsize", 0),
        ({"thread_size": 0}, "thread_size", 0),
        ({"shingle_size": 16}, "shingle_size", 16),
        ({"min_shingles": 10**9}, "min_shingles", 10**9),
        ({"item_field": ""}, "item_field", None),
        ({"item_mark": "near duplicate [of]"}, "item_mark", "near duplicate [of]"),
        ({"item_key": "Nummer-ü.1"}, "item_key", "Nummer-ü.1"),
        ({"item_field": None}, "item_field", None),
        *(({"action": action}, "action", action) for action in ACTIONS),
        ({"exact_action": ["drop_items", "drop_links"]}, "exact_action", "drop_items,drop_links"),
        ({"action": {"drop_items"}}, "action", "drop_items"),
        ({"revisit_action": "my.project.Action"}, "revisit_action", "my.project.Action"),
        ({"exact_action": ""}, "exact_action", None),
        ({"scope": "my.project.scope"}, "scope", "my.project.scope"),
        *(
            ({"action_deny": value}, "action_deny", ("/a", "b$"))
            for value in ("/a, b$", ["/a", "b$"], {"b$", "/a"})
        ),
        ({"action_deny": [r"\d{1,3}"]}, "action_deny", (r"\d{1,3}",)),
        # JSON, as the command line gives it: a pattern to the letter, it would match any of these characters.
        ({"action_allow": '["/print/"]'}, "action_allow", ("/print/",)),
        ({"action_allow": r' [ "\\d{1,3}", "b$" ] '}, "action_allow", (r"\d{1,3}", "b$")),
        ({"action_allow": "[0]"}, "action_allow", ("[0]",)),
        ({"action_allow": "[a-z],b"}, "action_allow", ("[a-z]", "b")),
        ({"protect": "[]"}, "protect", ()),
        ({"prefer": '["shorter"]'}, "prefer", ("shorter",)),
        ({"action": '["drop_items", "drop_links"]'}, "action", "drop_items,drop_links"),
        ({"exact_action": '["drop_page"]'}, "exact_action", "drop_page"),
        *(
            ({"action_deny_domains": [domain]}, "action_deny_domains", (domain,))
            for domain in (".EXAMPLE.com.", "localhost", "127.0.0.1", "::1", "my_shop.xn--bcher-kva.example")
        ),
        ({"protect": ""}, "protect", ()),
        ({"protect": []}, "protect", ()),
        ({"protect": "start"}, "protect", ("start",)),
        *(
            ({"item_fields": fields}, "item_fields", (("title", 3), ("body", 1)))
            for fields in ({"title": 3, "body": 1}, '{"title": 3, "body": 1}', (("title", 3), ("body", 1)))
        ),
        *(
            ({"item_fields": fields}, "item_fields", (("title", 1), ("body", 1)))
            for fields in ("title,body", ["title", "body"], '["title", "body"]')
        ),
        *(({"scope": scope}, "scope", scope) for scope in SCOPES),
        *(({"enabled": word}, "enabled", True) for word in (True, 1, "1", "True", "yes", " ON ")),
        *(({"enabled": word}, "enabled", False) for word in (False, 0, "0", "false", "No", "off", "")),
    ],
)
def test_a_value_is_taken_as_what_it_means(given: dict[str, Any], name: str, value: object) -> None:
    found = getattr(Config(**given), name)
    assert found == value
    assert type(found) is type(value)


def test_integers_of_other_libraries_become_ints() -> None:
    class IntegerLike:
        def __index__(self) -> int:
            return 5

    assert type(Config(rule="classic", blocks=IntegerLike()).blocks) is int  # type: ignore[arg-type]


def test_all_defaults_are_valid_and_what_they_are_declared_as() -> None:
    config = Config()
    assert {name: getattr(config, name) for name in DEFAULTS} == DEFAULTS
    assert comb(config.blocks, config.max_distance) <= MAX_TABLES
    assert config.action == "mark", "switching it on never loses data"


def test_nothing_in_the_settings_and_none_mean_the_defaults() -> None:
    assert Config.from_settings({}) == Config.from_settings(Settings()) == Config()
    assert Config.from_settings(dict.fromkeys(setting_names())) == Config()


#: What stands in the settings, and what that means.
READ: dict[str, tuple[Any, Any]] = {
    "SIMHASH_ENABLED": ("0", False),
    "SIMHASH_ACTION": ("drop_page", "drop_page"),
    "SIMHASH_EXACT_ACTION": ("drop_items,drop_links", "drop_items,drop_links"),
    "SIMHASH_CLUSTER_BUDGET": ("3", 3),
    "SIMHASH_MIN_DEPTH": ("2", 2),
    "SIMHASH_ACTION_ALLOW": ("/shop/", ("/shop/",)),
    "SIMHASH_ACTION_DENY": ("/shop/new/,/shop/sale/", ("/shop/new/", "/shop/sale/")),
    "SIMHASH_ACTION_ALLOW_DOMAINS": ("example.com", ("example.com",)),
    "SIMHASH_ACTION_DENY_DOMAINS": ("blog.example.com", ("blog.example.com",)),
    "SIMHASH_PROTECT": ("product", ("product",)),
    "SIMHASH_ACROSS_SCOPES": ("1", True),
    "SIMHASH_ITEM_FIELDS": ("title,body", (("title", 1), ("body", 1))),
    "SIMHASH_ITEM_ACTION": ("drop", "drop"),
    "SIMHASH_URL_RULES": ("skip", "skip"),
    "SIMHASH_URL_RULES_PIN": ("parameter sid", ("parameter sid",)),
    "SIMHASH_URL_RULES_FORBID": (["slash at end"], ("slash at end",)),
    "SIMHASH_ITEM_MARK": ("copy_of", "copy_of"),
    "SIMHASH_ITEM_KEY": ("id", "id"),
    "SIMHASH_ITEM_LOG_LEVEL": ("INFO", "INFO"),
    "SIMHASH_PREFER": ("canonical", ("canonical",)),
    "SIMHASH_CHANGES": (Path("changes.jsonl"), "changes.jsonl"),
    "SIMHASH_CHANGES_SIZE": ("100", 100),
    "SIMHASH_TEXT": ("1", True),
    "SIMHASH_REPORT": (Path("pages.jsonl"), "pages.jsonl"),
    "SIMHASH_LIVE": ("localhost:0", "localhost:0"),
    "SIMHASH_RULE": ("similarity", "similarity"),
    "SIMHASH_CANDIDATE_DISTANCE": ("12", 12),
    "SIMHASH_MIN_SIMILARITY": ("0.9", 0.9),
    "SIMHASH_SHINGLE_SIZE": ("4", 4),
    "SIMHASH_MIN_SHINGLES": ("20", 20),
    "SIMHASH_MASK_DIGITS": ("on", True),
    "SIMHASH_SITE_LEARNING": ("off", False),
    "SIMHASH_SCOPE": ("host", "host"),
    "SIMHASH_MAXSIZE": ("1000", 1000),
    "SIMHASH_THREAD_SIZE": ("100", 100),
    "SIMHASH_ITEM_FIELD": ("simhash", "simhash"),
    "SIMHASH_REVISIT_ACTION": ("drop_items", "drop_items"),
    "SIMHASH_REVISIT_LIVE": ("60", 60),
    "SIMHASH_CONDITIONAL": ("1", True),
    "SIMHASH_CONDITIONAL_CHECKS": ("0.5", 0.5),
    "SIMHASH_CONDITIONAL_LINKS": ("0", False),
    "SIMHASH_RECRAWL": ('{"/news/": "6h", "": "auto"}', (("/news/", "6h"), ("", "auto"))),
    "SIMHASH_RECRAWL_MAX_AGE": ("2w", "2w"),
    "SIMHASH_RECRAWL_BUDGET": ("7", 7),
    # A path is a folder, also without a separator.
    "SIMHASH_STORE": (Path("seen"), f"seen{os.sep}"),
    "SIMHASH_RESET": ("yes", True),
    "SIMHASH_DEBUG": ("true", True),
}


def test_every_setting_is_read_from_the_settings() -> None:
    config = Config.from_settings(Settings({name: given for name, (given, _) in READ.items()}))
    classic = {"SIMHASH_RULE": "classic", "SIMHASH_MAX_DISTANCE": "5", "SIMHASH_BLOCKS": "8"}
    assert Config.from_settings(Settings(classic)) == Config(rule="classic", max_distance=5, blocks=8)
    assert {name: getattr(config, name.removeprefix("SIMHASH_").lower()) for name in READ} == {
        name: meant for name, (_, meant) in READ.items()
    }
    # Of the other rule, and what would leave the settings of pages without effect.
    assert {*setting_names()} - {*READ} == {"SIMHASH_MAX_DISTANCE", "SIMHASH_BLOCKS", "SIMHASH_SCHEME"}


@pytest.mark.parametrize(
    ("rule", "unused"),
    [
        ("similarity", {"max_distance": "three", "blocks": 2}),
        ("similarity", {"max_distance": 99, "blocks": [], "min_similarity": 0.9}),
        ("classic", {"candidate_distance": -5, "min_similarity": 0}),
        ("classic", {"candidate_distance": "far", "min_similarity": "80 %", "blocks": 5}),
    ],
)
def test_a_setting_of_another_rule_stops_nothing_and_is_named(rule: str, unused: dict[str, Any]) -> None:
    own = {"similarity": ("min_similarity",), "classic": ("blocks",)}[rule]
    used = {"rule": rule, **{name: unused.pop(name) for name in own if name in unused}}
    settings = {f"SIMHASH_{name.upper()}": value for name, value in {**used, **unused}.items()}
    assert Config.from_settings(settings) == Config(**used)
    other = {"similarity": "classic", "classic": "similarity"}[rule]
    sentences = {
        f"SIMHASH_{name.upper()}": f"SIMHASH_{name.upper()} ({value}) has no effect with SIMHASH_RULE = {rule!r}:"
        f" remove it, or set SIMHASH_RULE = {other!r}"
        for name, value in unused.items()
    }
    assert unused_settings(settings) == unused_settings(Settings(settings)) == sentences
    with pytest.warns(UserWarning, match="has no effect with SIMHASH_RULE") as warned:
        config = Config(**used, **unused)
    assert config == Config(**used)
    assert sorted(str(one.message) for one in warned) == sorted(sentences.values())
    assert {one.filename for one in warned} == {__file__}


def test_to_see_live_crawlers_is_of_no_use_without_a_revisit_action() -> None:
    (said,) = idle_settings(Config(revisit_live=8), forgets=False, keeps_answers=True, is_redis=True)
    assert said == (
        "SIMHASH_REVISIT_LIVE (8) has no effect while SIMHASH_REVISIT_ACTION is mark, except for requests that ask"
        " for a revisit_action: set SIMHASH_REVISIT_ACTION"
    )


def test_settings_of_the_chosen_rule_and_none_are_not_warned_of() -> None:
    names = ("SIMHASH_MAX_DISTANCE", "SIMHASH_BLOCKS", "SIMHASH_CANDIDATE_DISTANCE", "SIMHASH_MIN_SIMILARITY")
    assert unused_settings(dict.fromkeys(names)) == {}
    assert unused_settings({"SIMHASH_MIN_SIMILARITY": 0.9, "SIMHASH_CANDIDATE_DISTANCE": 8}) == {}
    assert unused_settings({"SIMHASH_RULE": "classic", "SIMHASH_MAX_DISTANCE": 2, "SIMHASH_BLOCKS": 4}) == {}
    # An error of its own.
    assert unused_settings({"SIMHASH_RULE": ["classic"], "SIMHASH_BLOCKS": 4}) == {}
    # Also where it says what the default says: whoever sets it expects something of it.
    assert list(unused_settings({"SIMHASH_BLOCKS": 6})) == ["SIMHASH_BLOCKS"]


def test_each_rule_compares_by_its_own_settings() -> None:
    fields_of = {name: rule_fields(kind) for name, kind in RULES.items()}
    assert fields_of["similarity"] == config_module.RULES["similarity"]
    assert (*fields_of["classic"], "blocks") == config_module.RULES["classic"]
    assert rule_of(Config(candidate_distance=8, min_similarity=0.9)) == SimilarityRule(8, 0.9)
    assert rule_of(Config(rule="classic", max_distance=2, blocks=4)) == ClassicRule(2)


def test_setting_names_are_those_of_the_fields_sorted() -> None:
    assert setting_names() == tuple(sorted(f"SIMHASH_{name.upper()}" for name in DEFAULTS))


@pytest.mark.parametrize(
    ("settings", "unknown"),
    [
        ({}, {}),
        ({"LOG_LEVEL": "INFO", "BOT_NAME": "x"}, {}),
        (dict.fromkeys(setting_names()), {}),
        ({"SIMHASH_ACTON": "mark"}, {"SIMHASH_ACTON": "SIMHASH_ACTION"}),
        ({"SIMHASH_MAX_DISTANSE": 3}, {"SIMHASH_MAX_DISTANSE": "SIMHASH_MAX_DISTANCE"}),
        ({"SIMHASH_DISTANCE": 3}, {"SIMHASH_DISTANCE": "SIMHASH_MAX_DISTANCE"}),
        ({"SIMHASH_MIN_SIMILARTY": 0.9}, {"SIMHASH_MIN_SIMILARTY": "SIMHASH_MIN_SIMILARITY"}),
        ({"SIMHASH_QQQQ": 3}, {"SIMHASH_QQQQ": None}),  # the prefix alone is no likeness
        ({"simhash": {"action": "mark"}}, {}),
        ({"SIMHASH_B": 1, "SIMHASH_A": 1}, {"SIMHASH_A": None, "SIMHASH_B": None}),
    ],
)
def test_a_misspelt_setting_is_told_with_the_one_it_resembles(
    settings: dict[str, Any], unknown: dict[str, str | None]
) -> None:
    found = unknown_settings(settings)
    assert found == unknown
    assert list(found) == sorted(found)
    assert unknown_settings(Settings(settings)) == unknown


def test_a_config_is_a_value_that_does_not_change() -> None:
    assert Config(min_shingles=8) == Config(min_shingles="8")  # type: ignore[arg-type]
    assert hash(Config()) == hash(Config())
    with pytest.raises(FrozenInstanceError):
        Config().blocks = 8  # type: ignore[misc]
