"""The verbs of the command line: which there are, their parser, and what is said to who types another word."""

from __future__ import annotations

from argparse import (
    Action,
    ArgumentParser,
    Namespace,
    RawDescriptionHelpFormatter,
    _SubParsersAction,
)
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from scrapy_simhash.display import printable

PROGRAM = "scrapy-simhash"

#: What each verb does, by what it is about, in the order of the help. Each is a module with `add_arguments(parser)`,
#: `run(options)`, which returns an exit status, and `EXAMPLE`: how it is called and, where short, what it writes
#: then, with ``...`` for the rest of a line or lines. It is imported only when the verb is called: what searches need
#: takes longer to import than a help takes to read.
GROUPS: Mapping[str, Mapping[str, str]] = {
    "pages": {
        "dedup": "write pages without near-duplicates, or their clusters",
        "text": "show the main text of pages as it is compared, and what was left out",
        "compare": "show what two pages have in common, and the verdict on them",
        "fingerprint": "write the fingerprints of pages",
    },
    "crawls": {
        "report": "show what a crawl found, or explain the verdict on a page",
        "tune": "choose a threshold by pairs of a crawl that you judge",
    },
    "hashes": {
        "find": "find near-duplicates among hashes: pairs, clusters, or those in another file",
    },
    "stores": {
        "info": "show the pages, clusters, settings and runs of a store, or check it",
        "learned": "show or correct what a store has learned about sites: their text and URL rules",
        "export": "write a store as lines of text",
        "import": "add stores, exports, or pages of any kind of input to a store",
        "remove": "remove a page, or all pages of a host, from a store",
    },
}
VERBS: Mapping[str, str] = {name: does for group in GROUPS.values() for name, does in group.items()}
#: Those for which the settings of a Scrapy project matter, which are also the verbs of ``scrapy simhash``.
PROJECT_VERBS = tuple(name for name in VERBS if name not in GROUPS["hashes"])
#: What people type who mean one of them.
MEANT: Mapping[str, str] = {
    "against": "dedup --against STORE",
    "check": "info --check",
    "cluster": "dedup --clusters -",
    "clusters": "dedup --clusters -",
    "completion": "--completion SHELL",
    "diff": "compare",
    "extract": "text",
    "find-all": "find",
    "find-clusters": "find --clusters",
    "hash": "fingerprint",
    "help": "--help",
    "merge": "import",
    "profile": "learned",
    "rules": "learned",
    "stats": "info",
    "version": "--version",
}
_MEANT_OPTIONS: Mapping[str, str] = {
    "--drop": "is the default",
    "--input": "is not needed: give the input without an option",
    "-i": "is not needed: give the input without an option",
    "--stored": "is called --in",
}
SHELLS = ("bash", "zsh", "fish")
#: What stands for a value that is a file, or may be one.
_FILES = ("FILE", "INPUT", "PAGE", "STORE", "SOURCE", "HASHES")

EXIT_STATUS = """\
exit status:
  0    it worked, whether or not anything was found
  1    something is not there, cannot be read or written, or is damaged
  2    wrong usage, or a wrong line of the input
  130  interrupted with Ctrl-C
"""


class _Parser(ArgumentParser):
    """A parser that says in one sentence what is wrong."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {printable(message)}\n")


class _Verbs(_SubParsersAction):  # type: ignore[type-arg]
    """The verbs: for any other word, it suggests what was meant."""

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: Any, option_string: str | None = None
    ) -> None:
        name = values[0]
        if name not in self._name_parser_map:
            program = parser.prog
            parser.exit(2, f"{program}: {printable(_instead(name, program, self._name_parser_map))}\n")
        super().__call__(parser, namespace, values, option_string)


def _instead(word: str, program: str, verbs: Container[str]) -> str:
    """Return what to type in the place of *word*, which is no verb, in a sentence."""
    if Path(word).exists():
        calls = [f"{program} {name} {word}" for name in _verbs_for(Path(word)) if name in verbs]
        return f"no verb is given for {word}: {', '.join(calls[:-1])} or {calls[-1]}"
    near = MEANT.get(word) or next(iter(get_close_matches(word, [*VERBS, *MEANT], 1, 0.7)), None)
    near = MEANT.get(near, near) if near else None
    if near is None:
        return f"{word} is not a verb: {', '.join(VERBS)}"
    return f"{word} is not a verb, did you mean {program} {near}?"


def _verbs_for(path: Path) -> Sequence[str]:
    """Return which verbs take what is at *path*, by its beginning."""
    if path.is_dir():
        return "dedup", "fingerprint"
    try:
        with path.open("rb") as file:
            head = file.read(4096).lstrip()
    except OSError:
        head = b""
    if head.startswith(b"SQLite format 3"):
        return "info", "report", "export"
    if head.startswith(b"<"):
        return "text", "dedup"
    if head[:1].isdigit():
        return "find", "dedup"
    if head.startswith(b'{"format": "scrapy-simhash'):
        return "import STORE", "import"
    return ("report", "tune") if b'"status"' in head else ("dedup", "fingerprint")


def unknown_option(option: str, parser: ArgumentParser) -> str:
    """Return what to write in the place of an *option* that the verb of *parser* does not have, in a sentence."""
    option = option.partition("=")[0]
    meant = _MEANT_OPTIONS.get(option)
    near = get_close_matches(option, parser._option_string_actions, 1, 0.7)
    if meant is None and near:
        meant = f"is not an option, did you mean {near[0]}?"
    return f"{option} {meant or f'is not an option, see {parser.prog} --help'}"


def module_of(name: str) -> ModuleType:
    """Import the module of the verb *name*.

    >>> module_of("import").__name__
    'scrapy_simhash.cli.import_'
    """
    return import_module(f"scrapy_simhash.cli.{'import_' if name == 'import' else name}")


def make_parser(complete: Container[str]) -> ArgumentParser:
    """Return the parser of the command line; only the verbs in *complete* have their arguments."""
    parser = _Parser(
        prog=PROGRAM,
        description="\n".join(_summary()),
        epilog=EXIT_STATUS,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version and exit")
    parser.add_argument(
        "--completion",
        action=_Complete,
        choices=SHELLS,
        metavar="SHELL",
        help="print what bash, zsh or fish needs to complete verbs, options and files, and exit",
    )
    for name, verb in add_verbs(parser, VERBS, is_listed=False):
        if name in complete:
            finish(verb, name)
    return parser


def add_verbs(
    parser: ArgumentParser, names: Iterable[str], is_listed: bool = True, **keywords: Any
) -> Iterator[tuple[str, ArgumentParser]]:
    """Add the verbs *names*, and yield each with its parser, which has no arguments yet.

    *keywords* are for the parsers. Those that are not listed must be in the description of *parser*.
    """
    action = parser.add_subparsers(
        action=_Verbs,
        parser_class=_Parser,
        metavar="verb",
        required=True,
        prog=parser.prog,
        help="add --help to see its options and an example",
    )
    # So that the action above is asked, and not the list of choices shown.
    action.choices = None  # type: ignore[assignment]
    for name in names:
        does = VERBS[name]
        listed: dict[str, Any] = {"help": does} if is_listed else {}
        verb = action.add_parser(
            name,
            description=f"{does[0].upper()}{does[1:]}.",
            formatter_class=RawDescriptionHelpFormatter,
            **{**listed, **keywords},
        )
        yield name, verb


def finish(parser: ArgumentParser, name: str) -> None:
    """Add to *parser* what the module of the verb *name* has: arguments, example, and what is to be run."""
    module = module_of(name)
    module.add_arguments(parser)
    # In a Scrapy project it is called by another name.
    program = parser.prog.removesuffix(name)
    lines = module.EXAMPLE.replace(f"{PROGRAM} ", program).splitlines()
    parser.epilog = "\n".join(["example:", *(f"  {line}" for line in lines)])
    parser.set_defaults(run=module.run, parser=parser, verb=name, project=None)


def _summary() -> Iterator[str]:
    yield "Deduplicate and compare pages, read reports, search hashes, manage stores."
    width = max(map(len, VERBS))
    for group, verbs in GROUPS.items():
        yield f"\n{group}:"
        yield from (f"  {name:<{width}}  {does}" for name, does in verbs.items())


class _ShowVersion(Action):
    """Looks the version up only when it is wanted, which takes longer than all else here."""

    def __call__(self, parser: ArgumentParser, *_: Any) -> NoReturn:
        from importlib.metadata import version

        print(PROGRAM, version("scrapy-simhash"))
        parser.exit()


class _Complete(Action):
    """Prints the script of shtab for a shell, made from the parsers once: a shell that completes starts no Python."""

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: Any, option_string: str | None = None
    ) -> NoReturn:
        try:
            shtab = import_module("shtab")
        except ImportError:
            parser.exit(1, f"{PROGRAM}: --completion needs shtab: pip install 'scrapy-simhash[completion]'\n")
        whole = ArgumentParser(PROGRAM)
        whole.add_argument("--version", action="store_true", help="show the version and exit")
        whole.add_argument("--completion", choices=SHELLS, help="print completions for a shell")
        verbs = whole.add_subparsers()
        for name, does in VERBS.items():
            verb = verbs.add_parser(name, help=does)
            finish(verb, name)
            for action in verb._actions:
                if action.metavar in _FILES:
                    action.complete = shtab.FILE  # type: ignore[attr-defined]  # where shtab looks
        from scrapy_simhash.exceptions import failing

        with failing("write standard output"):
            print(shtab.complete(whole, values))
        parser.exit()
