"""Print what a shell completes the command by: commands, options, choices, and files where a file is meant.

It is all made from the parsers of the commands, once: a shell that completes starts no Python.
"""

from __future__ import annotations

from argparse import Action, ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from scrapy_simhash.cli.commands import COMMANDS, PROGRAM, make_parser

#: What stands for a value that is a file, or may be one.
FILES = ("FILE", "PAGE", "PLACE", "INTO", "FROM")


class Option(NamedTuple):
    """An option, or an argument without a name."""

    names: tuple[str, ...]
    """Empty for an argument."""
    help: str
    value: str
    """What stands for the value, empty if there is none."""
    choices: tuple[str, ...]

    @property
    def is_file(self) -> bool:
        """Tell whether the value is one."""
        return self.value in FILES


def add_completion(parser: ArgumentParser) -> None:
    """Add which shell."""
    parser.add_argument("shell", choices=tuple(SHELLS), help="the shell that is to complete")


def run_completion(options: Namespace) -> int:
    """Print the script for a shell, and return 0."""
    print("\n".join(SHELLS[options.shell](options_of_commands())))
    return 0


def options_of_commands() -> dict[str, list[Option]]:
    """Return what each command takes."""
    parser = make_parser(COMMANDS)
    (commands,) = (action.choices for action in parser._actions if isinstance(action.choices, dict))
    return {name: list(map(_option, command._actions)) for name, command in commands.items()}


def _option(action: Action) -> Option:
    return Option(
        tuple(action.option_strings),
        str(action.help).replace("%%", "%"),
        "" if action.nargs == 0 else str(action.metavar or action.dest),
        tuple(map(str, action.choices or ())),
    )


_BASH = """\
# Completions of {program} for bash.
_scrapy_simhash() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command= words= i
    # --option=value comes as three words.
    if [[ $word == "=" ]]; then
        word=
    elif [[ $before == "=" ]]; then
        before=${{COMP_WORDS[COMP_CWORD-2]}}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${{COMP_WORDS[i]}} != -* ]]; then
            command=${{COMP_WORDS[i]}}
            break
        fi
    done
    case "$command $before" in
{values}
    *)
        case "$command $word" in
{words}
        esac ;;
    esac
    # Where nothing is offered, bash offers files.
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o bashdefault -o default -F _scrapy_simhash {program}"""
#: What nobody knows is not completed, nor taken for a file; bash 3.2 cannot do that.
_NOTHING = "compopt +o bashdefault +o default 2>/dev/null"


def bash(commands: Mapping[str, list[Option]]) -> Iterator[str]:
    """Yield the script for bash, 3.2 or later."""
    values = []
    words = [("", "-", ["--help", "--version"]), ("", "", list(commands))]
    for command, options in commands.items():
        for option in options:
            if option.names and option.value:
                does = "" if option.is_file else _NOTHING
                if option.choices:
                    does = f'words="{" ".join(option.choices)}"'
                places = " | ".join(f'"{command} {name}"' for name in option.names)
                values.append(f"    {places}) {does} ;;")
        arguments = [option for option in options if not option.names]
        words.append((command, "-", [name for option in options for name in option.names]))
        words += [(command, "", list(option.choices)) for option in arguments if option.choices]
    cases = [f'        "{command} {begin}"*) words="{" ".join(these)}" ;;' for command, begin, these in words]
    yield _BASH.format(program=PROGRAM, values="\n".join(values), words="\n".join(cases))


_ZSH = """\
#compdef {program}
# Completions of {program} for zsh.
_scrapy_simhash() {{
    local curcontext=$curcontext state line
    _arguments -C \\
        '(- *)'{{-h,--help}}'[show the help]' \\
        '(- *)--version[show the version]' \\
        '1:command:(({names}))' \\
        '*::argument:->arguments'
    [[ $state == arguments ]] || return
    case $line[1] in
{commands}
    esac
}}
if [[ $funcstack[1] == _scrapy_simhash ]]; then
    _scrapy_simhash "$@"
else
    compdef _scrapy_simhash {program}
fi"""


def zsh(commands: Mapping[str, list[Option]]) -> Iterator[str]:
    """Yield the script for zsh: to be read after compinit, or a file in a folder of ``$fpath``."""
    names = " \\\n            ".join(f"{name}\\:{_quoted(does, ' ():[]')}" for name, does in COMMANDS.items())
    cases = []
    for command, options in commands.items():
        specs = [_zsh_spec(option) for option in _one_by_one(options)]
        # It takes one for all that follow.
        specs += [f"*{_zsh_value(option)}" for option in options if not option.names][:1]
        lines = " \\\n            ".join(f"'{spec}'" for spec in specs)
        cases.append(f"    {command})\n        _arguments -s \\\n            {lines} ;;")
    yield _ZSH.format(program=PROGRAM, names=names, commands="\n".join(cases))


def _zsh_spec(option: Option) -> str:
    name = option.names[0]
    follows = ("=" if name.startswith("--") else "+") if option.value else ""
    return f"({' '.join(option.names)}){name}{follows}[{_quoted(option.help, '[]:')}]{_zsh_value(option)}"


def _zsh_value(option: Option) -> str:
    if not option.value:
        return ""
    offered = f"({' '.join(option.choices)})" if option.choices else "_files" if option.is_file else " "
    return f":{option.value}:{offered}"


def _one_by_one(options: Iterable[Option]) -> Iterator[Option]:
    """Yield each name of an option as an option of its own, with the others behind it."""
    for option in options:
        for name in option.names:
            yield option._replace(names=(name, *(other for other in option.names if other != name)))


def fish(commands: Mapping[str, list[Option]]) -> Iterator[str]:
    """Yield the script for fish, 3 or later."""
    begin = f"complete -c {PROGRAM}"
    yield f"# Completions of {PROGRAM} for fish."
    yield f"{begin} -f"
    yield f"{begin} -n __fish_use_subcommand -s h -l help -d 'show the help'"
    yield f"{begin} -n __fish_use_subcommand -l version -d 'show the version'"
    for command, does in COMMANDS.items():
        yield f"{begin} -n __fish_use_subcommand -a {command} -d '{_quoted(does)}'"
    for command, options in commands.items():
        within = f"{begin} -n '__fish_seen_subcommand_from {command}'"
        for option in options:
            names = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names]
            takes = ["-r" if option.is_file else "-x"] if names and option.value else []
            files = ["-F"] if option.is_file else []
            choices = [f"-a '{' '.join(option.choices)}'"] if option.choices else []
            if names or files or choices:
                yield " ".join([within, *names, *takes, *files, *choices, f"-d '{_quoted(option.help)}'"])


SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}


def _quoted(text: str, signs: str = "") -> str:
    r"""Return *text* for between single quotes, with a backslash before each of *signs*.

    >>> print(_quoted("a [b]", "[]"))
    a \[b\]
    """
    for sign in ("\\", *signs):
        text = text.replace(sign, f"\\{sign}")
    return text.replace("'", "’")
