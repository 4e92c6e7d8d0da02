"""The page of exit codes, reasons and error codes."""

from collections.abc import Iterator
from typing import Final

from hermes_acp.core.errors import HermesError
from hermes_acp.frontends.cli.run.headless_session import EXIT_CODES
from hermes_acp.frontends.cli.run.run_output import BUSY, NOT_STARTED
from hermes_acp.frontends.command_line.messages import EXIT_CODES as EXIT_MEANINGS

from .docstrings import class_text
from .markdown import code, page, sentence, table

INTRO: Final = """\
All commands end with these exit codes, where they apply. [`scan`](commands.md#hermes-acp-scan) gives some of them a
meaning of its own."""
REASONS: Final = """\
## Reasons

`reason` of the [`result`](../headless.md#the-last-line-result) line and of the event
[`turn_ended`](events.md#turn_ended), each with the exit code of a run that ends so. `not_started` and
`busy` are only in `result`: the run never began."""
ERRORS: Final = """\
## Error codes

`error_code` of the same lines: stable names for failures. Groups are in bold."""


def render() -> str:
    """Return the page."""
    codes = ((code(str(number.value)), sentence(text)) for number, text in EXIT_MEANINGS.items())
    reasons = (
        (code(reason), code(str(int(number))))
        for reason, number in {**EXIT_CODES, NOT_STARTED: 2, BUSY: 75}.items()
    )
    errors = table(("error code", "exit code", "meaning"), _errors(HermesError))
    codes_table = table(("code", "meaning"), codes)
    return page(
        "Exit codes", INTRO, codes_table, REASONS, table(("reason", "exit code"), reasons), ERRORS, errors
    )


def _errors(parent: type[HermesError]) -> Iterator[tuple[str, str, str]]:
    """Yield a row for each kind of failure, groups before their members."""
    for each in parent.__subclasses__():
        if "code" in vars(each):
            name = code(each.code)
            shown = f"**{name}**" if parent is HermesError else name
            yield shown, code(str(int(each.exit_code))), class_text(each).partition("\n\n")[0]
        yield from _errors(each)
