"""A process that adds cards to a board and comments on the first one: `python -m … FOLDER NAME COUNT`."""

import os
import sys
from pathlib import Path

import anyio

from hermes_acp.app.service_factories import build_board_service
from hermes_acp.clock import SystemClock
from hermes_acp.config.environment import environment_of
from hermes_acp.core.ports.boards.card_actions import AddCard, CommentOnCard
from hermes_acp.core.ports.boards.cards import Actor
from hermes_acp.ids import RandomIds
from hermes_acp.runs.board.board_service import BoardService
from hermes_acp.runs.run_service import RunService, cannot_drive
from hermes_acp.storage.session_store import SessionStore


def service_in(home: Path) -> BoardService:
    """Return the boards of a home, configured by this process's variables."""
    environment = environment_of({**os.environ, "HERMES_HOME": str(home)})
    runs = RunService(
        environment,
        SystemClock(),
        RandomIds(),
        cannot_drive,
        SessionStore(home).sharing.fetch,
    )
    return build_board_service(environment, SystemClock(), runs)


async def write(home: Path, name: str, count: int) -> None:
    service, by = service_in(home), Actor("person", name)
    for number in range(count):
        await service.act("b", AddCard(f"{name} {number}"), by)
        await service.act("b", CommentOnCard("1", f"{name} {number}"), by)
        print(number, flush=True)
    await service.aclose()


if __name__ == "__main__":
    anyio.run(write, Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
