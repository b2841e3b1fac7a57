"""The commands, by what they are for: which there are, which module does each, and the parser of the command line."""

from __future__ import annotations

from argparse import Action, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Container, Iterable, Iterator, Mapping
from importlib import import_module
from keyword import iskeyword
from typing import Any, NoReturn, Protocol, cast

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

DESCRIPTION = "Deduplicate and compare pages, read reports, search hashes, manage stores."
EXIT_STATUS = """\
exit status:
  0    it worked, whether or not anything was found
  1    something is not there, cannot be read or written, or is damaged
  2    wrong usage, or a wrong line of the input
  130  interrupted with Ctrl-C
"""


class Command(Protocol):
    """What a module of ``cli/`` must have."""

    EXAMPLE: str
    """How it is called and, where it is short, what it writes then; ``...`` stands for a rest of a line or lines."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add its arguments."""

    def run(self, options: Namespace) -> int:
        """Do it, and return an exit status."""


class _Parser(ArgumentParser):
    """A parser whose errors move no cursor, whatever was typed."""

    def error(self, message: str) -> NoReturn:
        from scrapy_simhash.display import printable  # a help does not need it

        super().error(printable(message))


def command_of(name: str) -> Command:
    """Import and return the module of the command *name*.

    >>> command_of("find-all").__name__
    'scrapy_simhash.cli.find_all'
    """
    # import is no name that a module can be imported by.
    module = import_module(f"scrapy_simhash.cli.{name.replace('-', '_')}{'_' * iskeyword(name)}")
    return cast(Command, module)


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
    lines = command.EXAMPLE.replace(f"{PROGRAM} ", program).splitlines()
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
