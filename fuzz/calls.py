"""Scripts of calls: lines of Python that call the objects of the compiled modules, correctly and incorrectly.

A line is generated from templates: ``{name}`` is replaced by one of ``KINDS[name]``, usually by one of the first, and
sometimes by any other value. An argument can be *busy*: when the module reads a number, a hash or an item from it, it
makes another call.
"""

from __future__ import annotations

import copy
import gc
import pickle
import random
import re
import signal
import sys
import warnings
from array import array
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from lxml import etree, html

from fuzz.case import Case
from scrapy_simhash import Fingerprint, kernel
from scrapy_simhash.index.index import Callbacks
from scrapy_simhash.page.compiled.definition import LANGUAGES, ZONES, definition
from scrapy_simhash.page.text.document import Paragraph
from scrapy_simhash.page.text.main_text import REASONS
from scrapy_simhash.store import Posting

#: Lines of a script; seconds after which it counts as hanging; max nested calls; share of fields with any value.
MAX_LINES, HANGS_AFTER, DEEPEST, WRONG = 60, 20, 3, 0.04

#: For each class: its constructor call, and its methods and attributes, separated by ``|``.
OBJECTS: dict[str, tuple[str, str]] = {
    "Postings": (
        "hamming.Postings({door}, {distance}, {plan}, {count})",
        "find({value})|nearest([{value}, {value}], {count})|keys_of({value})|has({value}, {key})|add({value}, {key})|"
        "find_or_add({value}, {key})|discard({value}, {key})|find_many({row})|add_many({row}, {keys}, {count})|"
        "columns()|check()|nbytes|next_key|"
        "near({SecondLook}, {print}, {value}, {most}, {count}, {recent}, {read}, {count}, {count}, {count})|"
        "nearest({any}, {any})",
    ),
    "PairSearch": (
        "hamming.PairSearch({count}, {masks}, {distance})",
        "take({row})|take(bytes(16))|step()|done",
    ),
    "SecondLook": (
        "hamming.SecondLook({decide}, {threshold}, {number}, {distance}, {small})",
        "compare({print}, {prints}, {flag})|nearest({print}, {prints}, {flag})",
    ),
    "Rules": ("native.Rules({definition})", "__init__(None)"),
    "Reader": (
        "native.Reader({Rules}, {numbers}, frozenset(['zh']), {paragraph}, {zones}, {reasons})",
        "read_tree({tree}, {language}, {settings}, {site}, {string})|read_text({string}, {language}, {settings})|"
        "extract({tree}, {language})",
    ),
    "PieceTable": (
        "native.PieceTable({small}, {small})",
        "flags({row})|learn({row}, {small})|load({row})|to_bytes()|known()|is_known|title_keys",
    ),
}
#: Calls to functions, and calls that any object allows.
ANYHOW = (
    "gc.collect(1)|native.digest({row})|native.Columns({any})|"
    "native.links_in_head({tree}, {word}, {count})|filters.classify({object})|len({object})|{object} == {object}|"
    "hash({object})|repr({object})|copy.copy({object})|pickle.dumps({object})|{object}.__init__({any}, {any}, {any})|"
    "{object}.__setstate_cython__({any})|{class}.__new__({class})|{class}.__new__({class}, {any}, {any}, {any})|"
    "{class}.find({object}, {any})|type('Sub', ({class},), {})({any}, {any}, {any})|"
    "{Postings}.__init__(Callbacks, 3, [], 0)|setattr({PieceTable}, 'title_keys', {value})"
)
KINDS = {
    "value": "5|7|{small}|1 << ({small}) % 70|2**64 - 1|0|2**63|Busy({call!r})|2**64",
    "key": "{small}|0|1|2|3|2**63 - 1|Busy({call!r})|2**63",
    "small": "1|2|3|0|6|63|64|255|-1",
    "distance": "3|3|8|0|64|65|-1",
    "count": "1|2|3|0|8|64|65|256|2**31|2**32 - 1|2**63 - 1|2**63|2**64 - 1|-1",
    "most": "64|3|0|65|{count}",
    "number": "0.8|1|-1.5|float('nan')|float('inf')|10**400",
    "flag": "True|False|0|None",
    "row": "some({small})|bytes(8)|bytes(16)|b'\\xff' * 16|some(3000)|bytes(800)|b''|bytes(7)|"
    "Sub(bytes(8))|bytearray(8)",
    "keys": "None|some({small})|{row}",
    "door": "Callbacks|BusyDoor({call!r})|SimpleNamespace(checked_value=str)",
    "plan": "[]|SIXTEEN|[(0, 0)]|[(255, 0)]|[(0xFFFF << 48, {small})]|[({value}, {small})]|[(0xF00F, 40)]|"
    "[(0xFFFF << 48, 1), (2**48 - 1, 1)]|[(1,)]|[()]|[Busy({call!r})]",
    "masks": "[2**64 - 1]|[0xFFFF, 0xFFFF0000]|[{value}] * 70|[0]|[]|[Busy({call!r})]",
    "print": "bytes(8)|bytes(136)|b'\\2' * 267|b'\\1' * 147|b'\\6' * 276|b'\\5' * 156|bytes(({count}) % 300)|"
    "Sub(bytes(8))",
    "prints": "[{print}, {print}]|[bytes(136), b'\\2' * 267]|[{print}] * 70|[]|[{any}]",
    "recent": "{}|{0: (0, b'', '', {print}, None, 0, 1)}|Busy({call!r})",
    "read": "lambda n: (n, b'', '', {print}, None, 0, 1)|lambda n: None|lambda n: {call}|lambda n: (n,)",
    "decide": "C['decide']|C['decide']|C['threshold']|C['PART']",
    "threshold": "C['threshold']|C['threshold']|C['decide']|C['PART']",
    "definition": "definition()|changed({string}, {any})|changed('stopwords', {})|changed('weight', {any})",
    "numbers": "NUMBERS|{}|{'en': {count}}",
    "paragraph": "Paragraph|tuple|object",
    "zones": "ZONES|()",
    "reasons": "REASONS|(None,)",
    "settings": "(2, 1, False, True, True)|(3, 5, True, True, False)|"
    "({count}, {count}, {flag}, {flag}, {flag})|(2, 1)",
    "site": "{PieceTable}|None|SimpleNamespace(flags=lambda keys: {row})|Busy({call!r})",
    "tree": "tree(PAGE)|tree('<p lang=en>a')|etree.Element('a')|html.fromstring('<b>x</b>')|etree.Comment('x')|"
    "etree._Element.__new__(etree._Element)|etree.Entity('amp')|etree.PI('a', 'b')|tree(PAGE)[0]",
    "language": "None|'en'|'zh'|''|'\\udc80'",
    "string": "'one two three ' * 99|'tags'|'scripts'|'character'|'\\udc80'|'\\0'",
    "word": "None|b'canonical'|b'x '|b''|b'\\xff'|b'a\\0'",
    "odd": "None|object()|1.5|'a'|b'a'|10**30|-1|True|[]|()|{}|Busy({call!r})",
    "class": "|".join(made.partition("(")[0] for made, _ in OBJECTS.values()),
}
#: The first object of each class except Rules.
GOOD = (
    "Postings0 = hamming.Postings(Callbacks, 3, SIXTEEN, 9)",
    "PairSearch0 = hamming.PairSearch(2, [2**64 - 1], 3)",
    "SecondLook0 = hamming.SecondLook(C['decide'], C['threshold'], 0.8, 8, 2)",
    "Reader0 = native.Reader(Rules0, NUMBERS, frozenset(['zh']), Paragraph, ZONES, REASONS)",
    "PieceTable0 = native.PieceTable(2, 4)",
)
_FIELD = re.compile(r"\{(\w+)(!r)?\}")


class Dice:
    """Generates the lines of a script."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        #: One valid object of each exists, see `_names`.
        self._made = dict.fromkeys(OBJECTS, 1)

    def line(self) -> str:
        """Return the next line."""
        kind = self._dice.choice([*OBJECTS, "Postings", "Postings"])
        if self._dice.random() < 0.1:
            self._made[kind] += 1
            return f"{kind}{self._made[kind] - 1} = {self._filled(OBJECTS[kind][0], 0)}"
        return self._call(kind, 0)

    def _call(self, kind: str, depth: int) -> str:
        if self._dice.random() < 0.15:
            return self._filled(self._dice.choice(ANYHOW.split("|")), depth)
        return f"{self._one_of(kind)}.{self._filled(self._dice.choice(OBJECTS[kind][1].split('|')), depth)}"

    def _one_of(self, kind: str) -> str:
        return f"{kind}{int(self._made[kind] * self._dice.random() ** 2)}"

    def _filled(self, template: str, depth: int) -> str:
        return _FIELD.sub(lambda field: self._field(field[1], bool(field[2]), depth + 1), template)

    def _field(self, name: str, is_quoted: bool, depth: int) -> str:
        if name == "call":
            call = self._call(self._dice.choice(list(OBJECTS)), depth) if depth < DEEPEST else "None"
            return repr(call) if is_quoted else call
        if self._dice.random() < WRONG or name == "any":
            name = self._dice.choice(["odd", "object", *KINDS]) if depth < 2 * DEEPEST else "small"
        if name == "object":
            name = self._dice.choice(list(OBJECTS))
        if name in OBJECTS:
            return self._one_of(name)
        ways = KINDS[name].split("|")
        return self._filled(ways[int(len(ways) * self._dice.random() ** 2)], depth) if depth < 9 else "None"


def script(dice: random.Random) -> Case:
    """Return a script: lines that are run one after another; an exception ends only its line."""
    drawn = Dice(dice)
    return Case("script", "\n".join(drawn.line() for _ in range(dice.randint(2, MAX_LINES))))


def differences(made: Case) -> list[str]:
    """Run a script, and return faults other than exceptions. A crash or a hang ends the process."""
    faults: list[str] = []
    sys.unraisablehook, hook = (
        lambda caught: faults.append(f"ignored: {caught.exc_value!r}"),
        sys.unraisablehook,
    )
    alarm = getattr(signal, "alarm", lambda seconds: None)
    alarm(HANGS_AFTER)
    names = _names()
    # Syntax warnings for lines such as ``5.find(1)``.
    warnings.simplefilter("ignore")
    try:
        checks = [f"{name}.check()" for name in names if name.startswith("Postings")]
        for line in (*made.content.splitlines(), *checks):
            try:
                exec(line, names)
            except Exception as raised:
                # lxml raises AssertionError for an element without a tree.
                if isinstance(raised, AssertionError if line in checks else SystemError):
                    faults.append(f"{line}: {raised!r}")
        names.clear()
        gc.collect(0)
    finally:
        sys.unraisablehook = hook
        alarm(0)
    return faults


_known = cache(definition)


@cache
def _rules() -> Any:
    return kernel.native and kernel.native.Rules(_known())


def _names() -> dict[str, Any]:
    """Return the names that scripts use, with a valid object of each class."""
    depth = 0

    def again(call: str) -> Any:
        nonlocal depth
        if depth < DEEPEST:
            depth += 1
            try:
                eval(call, names)
            finally:
                depth -= 1
        return None

    class Busy:
        def __init__(self, call: str) -> None:
            self.call = call

        def __index__(self) -> int:
            again(self.call)
            return 5

        def __hash__(self) -> int:
            return self.__index__()

        def __eq__(self, other: object) -> bool:
            return self.__index__() == other

        def __getitem__(self, item: Any) -> Any:
            again(self.call)
            fingerprint = Fingerprint(5, sketch=bytes(128))
            return Posting(b"%020d" % 1, "https://a.example/", "", fingerprint, False, 7, 1)[item]

        def get(self, key: Any, default: Any = None) -> Any:
            return again(self.call)

        def flags(self, keys: bytes) -> bytes:
            again(self.call)
            return bytes(len(keys) // 8)

    class Sub(bytes):
        def __hash__(self) -> int:
            return again("gc.collect(0)") or 7

    def busy(door: Any, name: str) -> Callable[[str], Any]:
        def does(call: str, *arguments: Any) -> Any:
            return again(call) or getattr(door, name)(*arguments)

        return lambda call: type("Busy", (door,), {name: staticmethod(lambda *given: does(call, *given))})

    def module(name: str) -> Any:
        return import_module(f"scrapy_simhash.{name}")

    names: dict[str, Any] = {
        "hamming": kernel.hamming,
        "native": kernel.native,
        "filters": module("page.compiled._main_text"),
        "C": module("kernel._second_look").__pyx_capi__,
        "BusyDoor": busy(Callbacks, "match"),
        "definition": _known,
        "Rules0": _rules(),
        "changed": lambda name, to: SimpleNamespace(**{**vars(_known()), name: to}),
        "NUMBERS": {code: number for number, code in enumerate(LANGUAGES)},
        "SIXTEEN": [(0xFFFF << shift, 0) for shift in range(0, 64, 16)],
        "tree": html.document_fromstring,
        "PAGE": "<title>T</title><h1>The tide</h1><p>The ship that went out to the sea came home with it."
        * 9,
        "some": lambda n: array("Q", (i * 0x9E3779B97F4A7C15 % 2**64 for i in range(n % 4096))).tobytes(),
        "ZONES": ZONES,
        "REASONS": REASONS,
        **{made.__name__: made for made in (Busy, Sub, Callbacks, Fingerprint, Paragraph, Posting)},
        **{
            used.__name__.rpartition(".")[2]: used
            for used in (copy, etree, gc, html, pickle, SimpleNamespace)
        },
    }
    for line in GOOD:
        exec(line, names)
    return names
