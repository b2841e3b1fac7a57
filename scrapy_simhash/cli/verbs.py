"""The subcommands of the command line, and their parser."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Container, Mapping
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from scrapy_simhash import __version__
from scrapy_simhash.cli.streams import Refused
from scrapy_simhash.display import printable

PROGRAM = "scrapy-simhash"

#: The description of each subcommand, in the order of the help. Each subcommand is a module with
#: `add_arguments(parser)` and `run(options)`, which returns an exit status. Only the module of the called subcommand
#: is imported, because imports take long.
VERBS: Mapping[str, str] = {
    "dedup": "find near-duplicates among stored pages, and write the other pages",
    "text": "show the main text of pages, and the text that is left out of the comparison",
    "compare": "show the differences of two pages, and the verdict on them",
    "fingerprint": "write the fingerprints of pages",
    "report": "show the results of a crawl, or explain the verdict on a page",
    "tune": "choose a threshold from pairs of a crawl that you judge",
    "find": "find near-duplicates among hashes: pairs, clusters, or matches in a second file",
    "info": "show the pages, clusters, settings and runs of a store, or check it",
    "learned": "show or correct what a store has learned about sites: boilerplate and URL rules",
    "export": "export a store as JSON Lines",
    "import": "add exports of stores, or pages of any format, to a store",
    "remove": "remove a page, or all pages of a host, from a store",
}
#: Subcommands that use the settings of a Scrapy project.
PROJECT_VERBS = tuple(name for name in VERBS if name != "find")
SHELLS = ("bash", "zsh", "fish")
#: Metavars of values that may be files.
_FILES = ("FILE", "INPUT", "PAGE", "STORE", "SOURCE", "HASHES", "REPORT")

EXIT_STATUS = """\
exit status:
  0    success, whether or not anything was found
  1    a file, page or store is missing or damaged, or cannot be read or written
  2    wrong usage, a file of the wrong kind, or an invalid line of the input
  130  interrupted with Ctrl-C

scrapy-simhash SUBCOMMAND --help shows the options of a subcommand.
"""


class _Parser(ArgumentParser):
    """A parser that reports errors in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {printable(message)}; see {self.prog} --help\n")


def module_of(name: str) -> ModuleType:
    """Import the module of the subcommand *name*.

    >>> module_of("import").__name__
    'scrapy_simhash.cli.import_'
    """
    return import_module(f"scrapy_simhash.cli.{'import_' if name == 'import' else name}")


def make_parser(complete: Container[str], files: object = None) -> ArgumentParser:
    """Return the parser of the command line; only subcommands in *complete* have their arguments.

    *files* is the value that shtab uses for file names.
    """
    parser = _Parser(
        prog=PROGRAM,
        description="Deduplicate and compare pages, read reports, search hashes, manage stores.",
        epilog=EXIT_STATUS,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    parser.add_argument(
        "--completion",
        choices=SHELLS,
        help="print a script that completes subcommands, options and files in the shell, and exit",
    )
    verbs = parser.add_subparsers(title="subcommands", metavar="SUBCOMMAND", dest="verb", prog=PROGRAM)
    for name, does in VERBS.items():
        verb = verbs.add_parser(name, help=does, description=f"{does[0].upper()}{does[1:]}.")
        if name in complete:
            module = module_of(name)
            module.add_arguments(verb)
            verb.set_defaults(run=module.run, project=None)
            for action in verb._actions:
                if action.metavar in _FILES:
                    action.complete = files  # type: ignore[attr-defined]  # for shtab
    return parser


def completion(shell: str) -> str:
    """Return the completion script for *shell*, generated from the parsers; completion does not start Python."""
    try:
        shtab = import_module("shtab")
    except ImportError:
        raise Refused("--completion needs shtab: pip install 'scrapy-simhash[cli]'") from None
    script: str = shtab.complete(make_parser(VERBS, shtab.FILE), shell)
    return script
