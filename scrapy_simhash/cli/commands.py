"""The commands, by what they are for: which there are, which module does each, and the parser of the command line."""

from __future__ import annotations

from argparse import Action, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

PROGRAM = "scrapy-simhash"

#: What each command does, by what it is about, in the order of the help. Its module is imported only when it is
#: called: what searches need takes longer to import than a help takes to read.
GROUPS: Mapping[str, Mapping[str, str]] = {
    "pages": {
        "dedup": "write pages without those that repeat others",
        "cluster": "write the groups of pages that say the same",
        "against": "compare pages with those that a store knows",
        "fingerprint": "write the fingerprints of pages",
        "compare": "show what two pages have in common, and the verdict on them",
    },
    "crawls": {
        "report": "show what a crawl found, or explain the verdict on a page",
        "tune": "choose a threshold by pairs of a crawl that you judge",
    },
    "hashes": {
        "find-all": "find all pairs of near-duplicates among hashes",
        "find-clusters": "find groups of near-duplicates among hashes",
        "find": "find the near-duplicates of hashes in another file of hashes",
    },
    "stores": {
        "info": "show the pages, clusters, settings and runs of a store",
        "profile": "show, export, import or pin what a store knows about sites",
        "rules": "show, export or import the URL rules of a store",
        "export": "write a store as lines of text",
        "import": "add an export, or pages of any kind of input, to a store",
        "merge": "merge stores and exports into one store",
    },
    "shell": {
        "completion": "print completions for bash, zsh or fish",
    },
}
COMMANDS: Mapping[str, str] = {name: does for group in GROUPS.values() for name, does in group.items()}
#: Those for which the settings of a Scrapy project matter, which are also the commands of ``scrapy simhash``.
CRAWL_COMMANDS = (*GROUPS["pages"], *GROUPS["crawls"], *GROUPS["stores"])

#: The modules of the commands that are not named after them.
_MODULES = {
    **dict.fromkeys(GROUPS["hashes"], "find"),
    **dict.fromkeys(("dedup", "cluster", "against", "fingerprint"), "batches"),
    **dict.fromkeys(("export", "import", "merge"), "transfer"),
}
#: How each is called and, where it is short, what it writes then; ``...`` stands for a rest of a line or lines.
EXAMPLES: Mapping[str, str] = {
    "dedup": """\
$ scrapy-simhash dedup pages.jsonl -o unique.jsonl
records: 3, kept: 2, near-duplicates: 1
""",
    "cluster": """\
$ scrapy-simhash cluster pages.jsonl
{"cluster": 0, "preferred": "https://example.com/ferry", ...
""",
    "against": """\
$ scrapy-simhash against news.sqlite pages.jsonl
{"url": "https://example.com/ferry", "simhash_status": ...
""",
    "fingerprint": """\
$ scrapy-simhash fingerprint pages.jsonl
{"url": "https://example.com/ferry", "fingerprint": ...
""",
    "compare": """\
$ scrapy-simhash compare page.html other.html
near-duplicates: distance 4, similarity 0.96, titles: equal; decided by all
text, which needs 0.8
...
they would not be near-duplicates with SIMHASH_MIN_SIMILARITY = 0.961
...
""",
    "report": """\
$ scrapy-simhash report report.jsonl --url https://example.com/print/ferry
https://example.com/print/ferry repeats https://example.com/ferry, ...
""",
    "tune": """\
$ scrapy-simhash tune report.jsonl
Pairs of pages that were compared: 1. The threshold of a pair is the greatest
...
""",
    "find-all": """\
$ scrapy-simhash find-all --distance 3 --input hashes.txt
[5456993838078482869, 5457064206285785525]
""",
    "find-clusters": """\
$ scrapy-simhash find-clusters --distance 3 --input hashes.txt
[5456993838078482869, 5457064206285785525]
""",
    "find": """\
$ scrapy-simhash find --stored hashes.txt --input queries.txt
{"query": 5456993838078482868, "matches": [[5456993838078482869, 1]]}
""",
    "info": """\
$ scrapy-simhash info news.sqlite
news.sqlite (sqlite, ... bytes)
pages             3
fingerprints      2
clusters          1
near-duplicates   1
...
""",
    "profile": """\
$ scrapy-simhash profile news.sqlite
host           pages  subjects  pieces  known
example.com        3         1       0  no
""",
    "rules": """\
$ scrapy-simhash rules news.sqlite
host         rule           pairs  different  clusters  loss at most  saved  ...
example.com  parameter sid  174    0          29        1.7 %         ...
""",
    "export": """\
$ scrapy-simhash export news.sqlite
{"format": "scrapy-simhash postings", ...
""",
    "import": """\
$ scrapy-simhash import new.sqlite --input pages.jsonl
records: 3, new: 2, near-duplicates: 1, revisits: 0, short: 0, skipped: 0, broken: 0
""",
    "merge": """\
$ scrapy-simhash merge both.sqlite monday.sqlite tuesday.sqlite
postings: 6, new: 2, near-duplicates: 1, revisits: 3, short: 0, profiles: 2
""",
    "completion": """\
$ scrapy-simhash completion bash > ~/.local/share/bash-completion/completions/scrapy-simhash
""",
}

DESCRIPTION = "Deduplicate and compare pages, read reports, search hashes, manage stores."
EXIT_STATUS = """\
exit status:
  0    it worked, whether or not anything was found
  1    something is not there, cannot be read or written, or is damaged
  2    wrong usage, or a wrong line of the input
  130  interrupted with Ctrl-C
"""


class Command(NamedTuple):
    """What a module of ``cli/`` has for a command, as ``add_find_all`` and ``run_find_all``."""

    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], int]
    """Does it, and returns an exit status."""


class _Parser(ArgumentParser):
    """A parser whose errors move no cursor, whatever was typed."""

    def error(self, message: str) -> NoReturn:
        from scrapy_simhash.display import printable  # a help does not need it

        super().error(printable(message))


def command_of(name: str) -> Command:
    """Import the module of the command *name*, and return what it has for it.

    >>> command_of("find-all").run.__name__
    'run_find_all'
    """
    module = import_module(f"scrapy_simhash.cli.{_MODULES.get(name, name)}")
    function = name.replace("-", "_")
    return Command(getattr(module, f"add_{function}"), getattr(module, f"run_{function}"))


def make_parser(complete: Container[str]) -> ArgumentParser:
    """Return the parser of the command line; only the commands in *complete* have their arguments."""
    parser = _Parser(
        prog=PROGRAM,
        description="\n".join(_summary()),
        epilog=EXIT_STATUS,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version and exit")
    for name, subparser in add_commands(parser, COMMANDS, is_listed=False):
        if name in complete:
            finish(subparser, name)
            subparser.set_defaults(project=None)
    return parser


def add_commands(
    parser: ArgumentParser, names: Iterable[str], is_listed: bool = True, **keywords: Any
) -> Iterator[tuple[str, ArgumentParser]]:
    """Add the commands *names*, and yield each with its parser, which has no arguments yet.

    *keywords* are for the parsers. Those that are not listed must be in the description of *parser*.
    """
    subparsers = parser.add_subparsers(
        metavar="command",
        required=True,
        prog=parser.prog,
        help="add --help to see its options and an example",
    )
    for name in names:
        does = COMMANDS[name]
        listed: dict[str, Any] = {"help": does} if is_listed else {}
        subparser = subparsers.add_parser(
            name,
            description=f"{does[0].upper()}{does[1:]}.",
            formatter_class=RawDescriptionHelpFormatter,
            **{**listed, **keywords},
        )
        yield name, subparser


def finish(parser: ArgumentParser, name: str) -> None:
    """Add to *parser* what the module of the command *name* has: arguments, example, and what is to be run."""
    command = command_of(name)
    command.add_arguments(parser)
    # In a Scrapy project it is called by another name.
    program = parser.prog.removesuffix(name)
    lines = EXAMPLES[name].replace(f"{PROGRAM} ", program).splitlines()
    parser.epilog = "\n".join(["example:", *(f"  {line}" for line in lines)])
    parser.set_defaults(run=command.run, parser=parser)


def _summary() -> Iterator[str]:
    yield DESCRIPTION
    width = max(map(len, COMMANDS))
    for group, commands in GROUPS.items():
        yield f"\n{group}:"
        yield from (f"  {name:<{width}}  {does}" for name, does in commands.items())


class _ShowVersion(Action):
    """Looks the version up only when it is asked for, which takes longer than all else here."""

    def __call__(self, parser: ArgumentParser, *_: Any) -> NoReturn:
        from importlib.metadata import version

        print(PROGRAM, version("scrapy-simhash"))
        parser.exit()
