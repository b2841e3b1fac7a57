"""``scrapy simhash``: the verbs that know the settings of a Scrapy project.

Scrapy imports this module whenever any of its commands is called. So it imports nothing else until it is the one.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from functools import partial

from scrapy.commands import ScrapyCommand

PROGRAM = "scrapy simhash"


class SimhashCommand(ScrapyCommand):
    """Does what ``scrapy-simhash`` does, and knows the spiders of the project."""

    # Scrapy lists it anywhere, whatever it says here; with a store that is named it works anywhere.
    requires_project = False
    requires_crawler_process = False
    # Scrapy 2.13 makes one all the same, which would log that it has started.
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy has it

    def syntax(self) -> str:
        """Return what follows the name of the command."""
        return "<verb> [options]"

    def short_desc(self) -> str:
        """Return the line that stands in the list of all commands."""
        return "Deduplicate and compare pages, read reports, look into the stores of crawls, and move them"

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the verbs, each with its own options and with those that all commands of Scrapy have."""
        from scrapy_simhash.cli.verbs import PROJECT_VERBS, add_verbs, finish

        parser.prog = PROGRAM
        # One and the same option may be there twice: --set is Scrapy's as well.
        for name, subparser in add_verbs(parser, PROJECT_VERBS, conflict_handler="resolve"):
            finish(subparser, name)
            super().add_options(subparser)

    def run(self, args: list[str], opts: Namespace) -> None:
        """Run one of them; its exit status is that of Scrapy."""
        from scrapy.utils.project import inside_project

        from scrapy_simhash.cli.main import ended, run_verb
        from scrapy_simhash.cli.project import Project

        opts.project = Project(self.settings) if self.settings is not None and inside_project() else None
        self.exitcode = ended(PROGRAM, partial(run_verb, opts, args))
