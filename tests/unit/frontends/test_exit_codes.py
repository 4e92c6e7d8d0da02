"""Exit codes: one table, shared by the help, the errors and the chat."""

import re

import pytest

from hermes_acp.core.errors import Busy, HermesError, exit_code_of
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.cli.messages.run_messages import EXIT_CODES as RUN_HELP
from hermes_acp.frontends.cli.run.run_output import failure_report
from hermes_acp.frontends.command_line.messages import EXIT_CODES
from tests.architecture.sources import ROOT


def test_every_code_has_a_meaning_that_the_help_shows() -> None:
    assert set(EXIT_CODES) == set(ExitCode)
    assert all(f"  {code.value:<4} " in RUN_HELP for code in ExitCode)


def errors() -> list[type[HermesError]]:
    found = [HermesError]
    for each in found:
        found += each.__subclasses__()
    return [each for each in found if each.__module__.startswith("hermes_acp.core")]


@pytest.mark.parametrize("error", errors())
def test_an_error_has_the_same_exit_code_in_the_chat(error: type[HermesError]) -> None:
    assert error.exit_code in set(ExitCode)
    assert exit_code_of(error.code) == error.exit_code


def test_no_frontend_defines_its_own_codes() -> None:
    literal = re.compile(r"\b(?:75|124|130)\b(?![\w ]*\w)|exit_code = \d")
    found = [
        f"{path}:{number}"
        for path in sorted((ROOT / "hermes_acp" / "frontends").rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if "messages" not in str(path)
        and literal.search(line)
        and ("return" in line or "exit" in line.casefold())
    ]
    assert found == []


def test_an_unavailable_resource_is_not_wrong_usage() -> None:
    assert (Busy.exit_code, exit_code_of("busy"), exit_code_of("something else")) == (75, 75, 1)
    report = failure_report(Busy("The session is open."))
    assert (report.reason, report.exit_code, report.error_code) == ("busy", 75, "busy")
