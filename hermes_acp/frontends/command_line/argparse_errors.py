"""Rephrase the errors of `argparse` about the values of flags."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from hermes_acp.frontends.command_line import messages
from hermes_acp.frontends.command_line.nearest_words import nearest

_CHOICE: Final = re.compile(r"argument (.+?): invalid choice: (.*) \(choose from (.*)\)", re.DOTALL)
_SENTENCES: Final[Mapping[re.Pattern[str], Callable[..., str]]] = MappingProxyType(
    {
        re.compile(r"argument (.+?): expected (?:one|at least one) argument"): messages.value_missing,
        re.compile(r"argument (.+?): ignored explicit argument .*", re.DOTALL): messages.takes_no_value,
        re.compile(r"argument (.+?): not allowed with argument (.+)"): messages.exclude_each_other,
        re.compile(r"argument (.+?): (must .+)", re.DOTALL): messages.wrong_value,
        re.compile(
            r"argument (.+?): invalid (?:int|float|number) value: (.*)", re.DOTALL
        ): messages.not_a_number,
        re.compile(r"unrecognized arguments: (.*)", re.DOTALL): messages.unexpected_argument,
    }
)


def plain_error(said: str) -> tuple[str, str]:
    """Rephrase an error of `argparse` as a sentence and a hint, which may be empty."""
    if choice := _CHOICE.fullmatch(said):
        name, value, listed = choice.groups()
        typed, choices = value.strip("'\""), [each.strip("'") for each in listed.split(", ")]
        alike = nearest(typed, choices)
        hint = messages.did_you_mean(alike) if alike else ""
        return messages.not_a_choice(name, typed, choices), hint
    for pattern, sentence in _SENTENCES.items():
        if found := pattern.fullmatch(said):
            return sentence(*found.groups()), ""
    return messages.usage(said), ""
