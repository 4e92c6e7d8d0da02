"""docs/sessions.md says what the commands say, name by name."""

import argparse
import re
from typing import Any

from hermes_acp.frontends.cli.doctor_command import add_doctor
from hermes_acp.frontends.cli.sessions.sessions_command import DEFAULT_RESULTS, add_sessions
from hermes_acp.storage.search.search_index import MAX_PER_SESSION
from hermes_acp.storage.search.search_tables import OUTCOME_CHARACTERS, WORDS_CHARACTERS
from tests.architecture.sources import ROOT
from tests.unit.test_documents import names, rows

SESSIONS = (ROOT / "docs" / "sessions.md").read_text(encoding="utf-8")


def commands() -> dict[str, argparse.ArgumentParser]:
    """Return every command's parser by its words."""
    sessions, doctor = argparse.ArgumentParser(), argparse.ArgumentParser()
    add_sessions(sessions)
    add_doctor(doctor)
    choices: dict[str, Any] = {}
    for action in vars(sessions)["_actions"]:
        choices |= action.choices or {}
    return {"doctor": doctor, **{f"sessions {name}": parser for name, parser in choices.items()}}


def test_every_command_is_documented() -> None:
    assert {names(row[0])[0] for row in rows(SESSIONS, "## Commands")} == set(commands())


def test_every_flag_is_documented_with_its_commands() -> None:
    written = {
        (flag, command)
        for command, parser in commands().items()
        for flag in re.findall(r"--[a-z][a-z-]*", parser.format_usage())
    }
    documented = {
        (names(row[0])[0], command) for row in rows(SESSIONS, "## Flags") for command in names(row[1])
    }
    assert documented == written


def test_the_limits_are_documented() -> None:
    for limit in (f"{WORDS_CHARACTERS:,}", f"{OUTCOME_CHARACTERS:,}", f"Default: {DEFAULT_RESULTS}."):
        assert limit in SESSIONS
    assert MAX_PER_SESSION == 3
    assert "At most three finds of one session" in SESSIONS
