"""The page of all commands and flags, from the parsers that read them.

Every command is asked for its help, and the parser that is about to print it is described instead. So this page needs
no list of commands.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final, NoReturn, cast

from hermes_acp.__main__ import main

from .markdown import code, page, sentence, table

INTRO: Final = """\
`hermes-acp COMMAND --help` prints the same in a terminal. Without a command, `hermes-acp` serves an editor over
standard input and output."""
CODES: Final = re.compile(r"^exit codes: ?")
CODE: Final = re.compile(r"(?:^|[,\n])\s*(\d+)\s+([^\n]*?)(?=,\s*\d+\s|\n|$)")


class CaughtParser(Exception):
    """Carries a parser out of the command that was about to print its help."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__()
        self.parser = parser


def render() -> str:
    """Return the page."""
    top = find_parser()
    names = [name for name in _subcommands(top) if name not in ("acp", "help")]
    return page("Commands", INTRO, *(_render(find_parser(name), 2) for name in names))


def find_parser(*words: str) -> argparse.ArgumentParser:
    """Return the parser of a command; of the whole command line without words."""
    printing, argv = argparse.ArgumentParser.print_help, sys.argv
    argparse.ArgumentParser.print_help = _catch
    sys.argv = ["hermes-acp", *words, "--help"]
    try:
        main()
    except CaughtParser as caught:
        return caught.parser
    finally:
        argparse.ArgumentParser.print_help, sys.argv = printing, argv
    raise ValueError(f"{words} has no help")


def _catch(self: argparse.ArgumentParser, file: object = None) -> NoReturn:
    raise CaughtParser(self)


def exit_codes(parser: argparse.ArgumentParser) -> dict[int, str]:
    """Return the exit codes that a parser's help ends with, each with its meaning."""
    epilog = parser.epilog or ""
    found = CODE.findall(CODES.sub("", epilog)) if CODES.match(epilog) else ()
    return {int(number): meaning for number, meaning in found}


def _subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in _actions(parser):
        if isinstance(action.choices, dict):
            return dict(cast("Mapping[str, argparse.ArgumentParser]", vars(action)["choices"]))
    return {}


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return cast("list[argparse.Action]", vars(parser)["_actions"])


def _help_of(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Return the one-line help of each subcommand."""
    for action in _actions(parser):
        if isinstance(action.choices, dict):
            listed = cast("list[argparse.Action]", vars(action)["_choices_actions"])
            return {each.dest: each.help or "" for each in listed}
    return {}


def _render(parser: argparse.ArgumentParser, level: int, about: str = "") -> str:
    about = sentence(parser.description or about or _help_of(find_parser()).get(parser.prog.split()[-1], ""))
    helps = _help_of(parser)
    codes = [(code(str(number)), sentence(meaning)) for number, meaning in exit_codes(parser).items()]
    blocks = [
        f"{'#' * level} {code(parser.prog)}",
        about,
        table(("argument", "meaning"), _arguments(parser)),
        f"Exit codes:\n\n{table(('code', 'meaning'), codes)}" if codes else "",
        *(_render(each, level + 1, helps.get(name, "")) for name, each in _subcommands(parser).items()),
    ]
    return "\n\n".join(filter(None, blocks))


def _arguments(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    for action in _actions(parser):
        if isinstance(action.choices, dict) or "--help" in action.option_strings:
            continue
        if action.help != argparse.SUPPRESS:
            yield _signature(action), _meaning(action)


def _signature(action: argparse.Action) -> str:
    choices = cast("tuple[Any, ...] | None", action.choices)
    value = action.metavar or (f"{{{','.join(map(str, choices))}}}" if choices else action.dest.upper())
    if not action.option_strings:
        return code(f"[{value}]" if action.nargs in ("?", "*") else str(value))
    shown = "" if action.nargs == 0 else f" {value}"
    return ", ".join(code(f"{option}{shown}") for option in action.option_strings)


def _meaning(action: argparse.Action) -> str:
    return sentence(
        (action.help or "").replace("%%", "%") % {"default": action.default} if action.help else ""
    )
