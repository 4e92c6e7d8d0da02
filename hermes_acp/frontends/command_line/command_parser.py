"""The parser for command lines. The code that explains errors is imported only when needed."""

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn


class UsageError(Exception):
    """Carries an `argparse` error out of a parser."""

    def __init__(self, message: str, program: str) -> None:
        super().__init__(message)
        self.message = message
        self.program = program


class CommandParser(argparse.ArgumentParser):
    """A parser that raises explained errors instead of ending the process, and rejects abbreviated flags."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options, allow_abbrev=False)

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse the arguments. Raises BadRequest, which names the first mistake and what was probably meant."""
        try:
            return self.parse_args(arguments)
        except UsageError as error:
            from hermes_acp.frontends.command_line.wrong_usage import explain_usage

            raise explain_usage(error.message, error.program, self, arguments) from None

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(message, self.prog)
