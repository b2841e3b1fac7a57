"""What several commands take on the command line, and how it is understood."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from typing import Final, Literal

from scrapy_simhash.cli.failures import Refused
from scrapy_simhash.cli.output import add_output
from scrapy_simhash.index.plans import BITS, Plan, plans_for

#: What leaves the choice of a plan to the index.
AUTO: Final = "auto"


def add_search_arguments(parser: ArgumentParser, read: str = "the hashes") -> None:
    """Add what every search takes: where it reads what *read* says, where it writes, how far it looks, and how."""
    # The short options are those of simhash-cpp's programs, as are all the long ones that those have.
    parser.add_argument(
        "-i",
        "--input",
        metavar="FILE",
        default="-",
        help=f"{read}, one per line (default: -, standard input)",
    )
    add_output(parser, "the results")
    parser.add_argument(
        "-d",
        "--distance",
        metavar="BITS",
        type=parsed_distance,
        default=3,
        help="maximum Hamming distance in bits, 0 to 64 (default: 3)",
    )
    parser.add_argument(
        "-b",
        "--blocks",
        default=AUTO,
        help="index plan: a number of blocks greater than the distance, the name of a plan, or auto; it changes the "
        "speed, not the results (default: auto)",
    )
    parser.add_argument(
        "--hex", action="store_true", help="read the hashes as hexadecimal, with or without 0x"
    )
    parser.add_argument("--json", action="store_true", help="write one JSON document instead of one per line")


def parsed_distance(text: str) -> int:
    """Return the distance in *text*, 0 to 64, or raise ArgumentTypeError.

    >>> parsed_distance("3")
    3
    """
    if text.isascii() and text.isdigit() and len(text) < 4 and int(text) <= BITS:
        return int(text)
    raise ArgumentTypeError(f"must be a number of bits from 0 to 64, got {text!r}")


def chosen_plan(blocks: str, distance: int) -> Plan | Literal["auto"]:
    """Return the plan that ``--blocks`` and ``--distance`` ask for; ``auto`` is passed on.

    Raises Refused if there is none.

    >>> chosen_plan("4", 3) == chosen_plan("4x16", 3), chosen_plan("auto", 3)
    (True, 'auto')
    >>> chosen_plan("3", 3)
    Traceback (most recent call last):
        ...
    scrapy_simhash.cli.failures.Refused: --blocks must be greater than --distance (3) and at most 64, got 3
    """
    if blocks == AUTO:
        return AUTO
    if blocks.isascii() and blocks.isdigit() and len(blocks) < 4:
        number = int(blocks)
        if not distance < number <= BITS:
            raise Refused(
                f"--blocks must be greater than --distance ({distance}) and at most {BITS}, got {number}"
            )
        try:
            return Plan.classic(distance, number)
        except ValueError as error:
            raise Refused(f"--blocks {number} is too large: {error}") from None
    plans = plans_for(distance)
    if blocks not in plans:
        known = ", ".join(plans)
        raise Refused(
            f"--blocks must be auto, a number, or one of the plans for a distance of {distance} "
            f"({known}), got {blocks!r}"
        )
    return plans[blocks]
