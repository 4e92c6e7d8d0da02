"""The `board` tool: show the cards that people and agents work on. It is only offered in home folders with a board."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.flow_labels import Source
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.boards.agent_boards import AgentBoards
from hermes_acp.core.ports.boards.board_views import CardView
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.untrusted_text import fence
from hermes_acp.tools.store_failures import store_errors_as_refusals
from hermes_acp.tools.tool_schemas import schema_of

MAX_LISTED: Final = 100
MAX_BYTES: Final = 16_000


class Arguments(BaseModel):
    """What to show."""

    model_config = ConfigDict(extra="forbid")

    card: Annotated[
        str, Field(description="A card's number, to see all of it; empty: list what is not done")
    ] = ""
    """The card to show; without one, the cards are listed."""
    board: Annotated[str, Field(description="Empty: your card's board, or the default one")] = ""
    """The board."""


class Board:
    """Look at a board."""

    name = "board"
    kind: ToolKind = "read"
    tool_metadata = ToolMetadata(
        capabilities=frozenset(),
        is_cheap=True,
        is_repeatable=True,
        quotes="output",
        brings=(Source("untrusted", "cards of a board"),),
    )
    arguments: type[BaseModel] = Arguments

    def __init__(self, boards: AgentBoards | None = None) -> None:
        self._boards = boards

    def bind(self, boards: AgentBoards) -> "Board":
        """Return the tool bound to the boards of a home folder."""
        return Board(boards)

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(
            self.name, "List the cards of a task board, or show one with comments and result.", Arguments
        )

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose to show the board or one card."""
        boards = self._boards
        assert boards, "an unbound tool is never in a toolbox"
        if not arguments.card:
            return Proposal("List the board", self.kind, lambda progress: _list(boards, arguments, progress))
        title = f"Show card {arguments.card}"
        return Proposal(title, self.kind, lambda progress: _show(boards, arguments, progress))


async def _list(boards: AgentBoards, arguments: Arguments, progress: Progress) -> Result:
    with store_errors_as_refusals():
        views = await boards.list(arguments.board, progress.session_id)
    if not views:
        return Result("No cards.")
    more = f"\n{len(views) - MAX_LISTED} more." if len(views) > MAX_LISTED else ""
    return Result(fence("\n".join(map(_line, views[:MAX_LISTED])), "Cards of a board", MAX_BYTES) + more)


async def _show(boards: AgentBoards, arguments: Arguments, progress: Progress) -> Result:
    with store_errors_as_refusals():
        view = await boards.show(arguments.board, arguments.card, progress.session_id)
    return Result(fence("\n".join(_lines(view)), "A card of a board", MAX_BYTES))


def _line(view: CardView) -> str:
    card = view.card
    waits = f" (waits for {', '.join(view.waits_for)})" if view.waits_for else ""
    return f"{card.id} [{card.state}] {card.title}{waits}"


def _lines(view: CardView) -> Iterator[str]:
    card = view.card
    yield _line(view)
    for link in card.links:
        yield f"{link.kind}: {link.card_id}"
    sections: Sequence[tuple[str, str]] = (
        ("", card.text),
        ("Result", card.notes.result),
        ("State", card.notes.reason),
        *((f"Comment by {each.by.name or each.by.kind}", each.text) for each in card.comments),
    )
    for title, text in sections:
        if text.strip():
            yield f"\n{title}:\n{text.strip()}" if title else f"\n{text.strip()}"


TOOL = Board()
