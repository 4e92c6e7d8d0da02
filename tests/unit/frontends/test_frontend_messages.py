"""All messages of each frontend are in one place, so that they can be reviewed together."""

import pytest

from tests.architecture.sources import ROOT
from tests.golden.message_catalogue import FOLDER, catalogue


@pytest.mark.parametrize(
    "frontend",
    [
        "acp",
        "chat",
        "chat.full_screen",
        "cli",
        "cli.batch",
        "cli.board",
        "cli.logs",
        "cli.usage",
        "cli.model",
        "cli.sessions",
        "cli.update",
        "cli.skills",
        "cli.train",
        "cli.users",
        "cli.voice",
        "cli.worker",
        "command_line",
        "gateway",
        "hub",
        "library",
        "lsp",
        "web",
    ],
)
def test_messages_match_the_reviewed_catalogue(frontend: str) -> None:
    package, file = f"hermes_acp.frontends.{frontend}.messages", FOLDER / f"{frontend}.txt"
    assert catalogue(package) == file.read_text(encoding="utf-8"), (
        f"Messages changed. Run `python -m tests.golden.message_catalogue {package} {file.relative_to(ROOT)}` "
        "and review the diff."
    )
