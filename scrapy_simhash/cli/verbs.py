"""The verbs of the command line, and their parser."""

from __future__ import annotations

from argparse import SUPPRESS, Action, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Container, Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from scrapy_simhash import __version__
from scrapy_simhash.cli.kinds import kind_of, verb_for
from scrapy_simhash.cli.streams import Refused
from scrapy_simhash.display import printable
from scrapy_simhash.exceptions import failing

PROGRAM = "scrapy-simhash"

#: The description of each verb, by topic, in the order of the help. Each verb is a module with
#: `add_arguments(parser)`, `run(options)`, which returns an exit status, and `EXAMPLE`: a call and its output, with
#: ``...`` for the rest of a line or for further lines. Only the module of the called verb is imported, since some
#: imports take longer than the help.
GROUPS: Mapping[str, Mapping[str, str]] = {
    "pages": {
        "dedup": "find near-duplicates among stored pages, and write the pages without them",
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
#: Verbs that use the settings of a Scrapy project.
PROJECT_VERBS = tuple(name for name in VERBS if name not in GROUPS["hashes"])
SHELLS = ("bash", "zsh", "fish")
#: Metavars of values that may be files.
_FILES = ("FILE", "INPUT", "PAGE", "STORE", "SOURCE", "HASHES", "REPORT")

EXIT_STATUS = """\
exit status:
  0    it worked, whether or not anything was found
  1    something is not there, cannot be read or written, or is damaged
  2    wrong usage, a file of another kind, or a wrong line of the input
  130  interrupted with Ctrl-C
"""


class _Parser(ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {printable(message)}; see {self.prog} --help\n")


def check_verb(word: str) -> None:
    """Raise Refused if *word* is neither a verb nor an option; for a file, name the verb that reads it."""
    if word in VERBS or word.startswith("-"):
        return
    path = Path(word)
    if path.exists():
        raise Refused(f"no verb was given for {word}: {PROGRAM} {verb_for(kind_of(path))} {word}")
    near = get_close_matches(word, VERBS, 1)
    meant = f"did you mean {PROGRAM} {near[0]}?" if near else f"the verbs are {', '.join(VERBS)}"
    raise Refused(f"{word} is not a verb: {meant}")


def module_of(name: str) -> ModuleType:
    """Import the module of the verb *name*.

    >>> module_of("import").__name__
    'scrapy_simhash.cli.import_'
    """
    return import_module(f"scrapy_simhash.cli.{'import_' if name == 'import' else name}")


def make_parser(complete: Container[str]) -> ArgumentParser:
    """Return the parser of the command line; only verbs in *complete* have their arguments."""
    parser = _Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} VERB [options]",
        description="\n".join(_summary()),
        epilog=EXIT_STATUS,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    parser.add_argument(
        "--completion",
        action=_Complete,
        choices=SHELLS,
        metavar="SHELL",
        help="print what bash, zsh or fish needs to complete verbs, options and files, and exit",
    )
    verbs = parser.add_subparsers(dest="verb", required=True, help=SUPPRESS, prog=PROGRAM)
    for name, does in VERBS.items():
        verb = verbs.add_parser(
            name,
            help=does,
            description=f"{does[0].upper()}{does[1:]}.",
            formatter_class=RawDescriptionHelpFormatter,
        )
        if name in complete:
            module = module_of(name)
            module.add_arguments(verb)
            verb.epilog = "\n".join(["example:", *(f"  {line}" for line in module.EXAMPLE.splitlines())])
            verb.set_defaults(run=module.run, parser=verb, project=None)
    return parser


def _summary() -> Iterator[str]:
    yield "Deduplicate and compare pages, read reports, search hashes, manage stores."
    width = max(map(len, VERBS))
    for group, verbs in GROUPS.items():
        yield f"\n{group}:"
        yield from (f"  {name:<{width}}  {does}" for name, does in verbs.items())
    yield f"\n{PROGRAM} VERB --help shows the options of a verb and an example."


class _Complete(Action):
    """Print the completion script of a shell, made from the parsers, so that completion does not start Python."""

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: Any, option_string: str | None = None
    ) -> NoReturn:
        try:
            shtab = import_module("shtab")
        except ImportError:
            raise Refused("--completion needs shtab: pip install 'scrapy-simhash[cli]'") from None
        whole = make_parser(VERBS)
        verbs = next(action for action in whole._actions if action.dest == "verb")
        # shtab leaves out arguments that help does not show.
        verbs.help = "verb"
        for verb in (verbs.choices or {}).values():  # type: ignore[attr-defined]  # parsers, by their names
            for action in verb._actions:
                if action.metavar in _FILES:
                    action.complete = shtab.FILE
        with failing("write standard output"):
            print(shtab.complete(whole, values))
        parser.exit()
