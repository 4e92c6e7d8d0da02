"""Parsers for the values of flags."""

import argparse
from collections.abc import Callable

from hermes_acp.frontends.cli.messages import command_messages


def positive_number(kind: type[int] | type[float]) -> Callable[[str], int | float]:
    """Return a parser for positive numbers of the given type."""

    def parse(text: str) -> int | float:
        value = kind(text)
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError(command_messages.not_a_positive_number(text))
        return value

    parse.__name__ = "number"
    return parse
