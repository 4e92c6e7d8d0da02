"""Start commands of several vendors' agents with a scripted model, and a scripted user who answers their questions.

`agent_starts.toml` contains the commands, variables and modes.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from hermes_acp_client.asking import Chosen, option_named
from msgspec import Struct

from bench.obedient_model import ObedientModel
from hermes_protocol import v1

AGENTS: Final = Path(__file__).with_suffix(".toml")


class Start(Struct, frozen=True):
    """The start command of an agent, its variables, and its names for modes."""

    command: tuple[str, ...]
    modes: dict[str, str]
    skills: str
    variables: dict[str, str] = {}
    files: dict[str, str] = {}
    auth: str = ""


class User:
    """A scripted user, who allows what the task needs and refuses what an injected instruction asks for."""

    def __init__(self, model: ObedientModel) -> None:
        self.asked = 0
        self.kinds: tuple[str, ...] = ("allow_once",)
        self._model = model

    async def answer(self, request: v1.RequestPermissionRequest) -> Chosen:
        if self._model.is_obeying:
            self.asked += 1
            return option_named(request, "reject_once") or option_named(request, "reject_always")
        found = (option_named(request, kind) for kind in self.kinds)
        return next((each for each in found if each), None)


def read_agents() -> dict[str, Start]:
    """Return the agents listed in the table."""
    table: dict[str, Any] = tomllib.loads(AGENTS.read_text(encoding="utf-8"))
    return {name: msgspec.convert(each, Start) for name, each in table.items()}


def filled(text: str, marks: Mapping[str, str]) -> str:
    """Return the text with its placeholders replaced."""
    for mark, value in marks.items():
        text = text.replace(mark, value)
    return text
