"""The `card` tool: report on the agent's own card, comment on others, and add new ones.

It is only offered in home folders with a board. A card that starts work needs the user's approval in every mode.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import Diff, ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.boards.agent_boards import AgentBoards
from hermes_acp.core.ports.boards.card_actions import AddCard, CardAction, CommentOnCard, LinkCard, NoteResult
from hermes_acp.core.ports.boards.cards import CardWork, Link
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Remembers, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.tools.store_failures import store_errors_as_refusals
from hermes_acp.tools.tool_schemas import schema_of


class Arguments(BaseModel):
    """The action on a card."""

    model_config = ConfigDict(extra="forbid")

    action: Literal["add", "comment", "link", "result"]
    """What to do: `result` notes the result of the card that the session works on."""
    card: Annotated[str, Field(description="Its number; empty: the card you work on")] = ""
    """The card."""
    title: Annotated[str, Field(description="For add: one line")] = ""
    """The title of a new card."""
    text: Annotated[
        str, Field(description="The task (complete, for somebody else), the comment, or the result")
    ] = ""
    """The text of a new card, a comment or a result."""
    link: Annotated[
        Literal["", "blocks", "parent", "found_in"], Field(description="What it is to `other`")
    ] = ""
    """The link of the card to another one."""
    other: Annotated[str, Field(description="The number of the other card")] = ""
    """The other card of a link."""
    start: Annotated[bool, Field(description="For add: begin at once, without waiting for a person")] = False
    """Whether work on a new card begins at once."""
    board: Annotated[str, Field(description="Empty: your card's board, or the default one")] = ""
    """The board."""


class CardTool:
    """Change cards of a board."""

    name = "card"
    kind: ToolKind = "other"
    tool_metadata = ToolMetadata(capabilities=frozenset({"memory"}))
    arguments: type[BaseModel] = Arguments

    def __init__(self, boards: AgentBoards | None = None) -> None:
        self._boards = boards

    def bind(self, boards: AgentBoards) -> "CardTool":
        """Return the tool bound to the boards of a home folder."""
        return CardTool(boards)

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        text = "Add a card to a task board, comment on one, link two, or note the result of the card you work on."
        return schema_of(self.name, text, Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a change. Raises BadRequest."""
        boards = self._boards
        assert boards, "an unbound tool is never in a toolbox"
        action = _action_of(arguments, workspace.cwd)

        async def act(progress: Progress) -> Result:
            with store_errors_as_refusals():
                view = await boards.act(arguments.board, action, progress.session_id)
            return Result(f"Card {view.card.id}: {view.card.state}.")

        if isinstance(action, NoteResult):
            return Proposal("Note the card's result", self.kind, act)
        starts = isinstance(action, AddCard) and action.to == "ready"
        effects = (Remembers(boards.place, is_asked=starts, is_user_wide=starts),)
        diff = Diff(f"{boards.place}/{arguments.card or 'new'}", None, _shown(arguments, workspace.cwd))
        return Proposal(escape_invisible(_title(arguments)), self.kind, act, effects, diffs=(diff,))


def _action_of(arguments: Arguments, cwd: str) -> CardAction:
    """Return the action that a call describes. Raises BadRequest."""
    link = Link(arguments.link, arguments.other) if arguments.link and arguments.other else None
    match arguments.action:
        case "add":
            if not arguments.title.strip():
                raise BadRequest("A card needs a title.")
            to = "ready" if arguments.start else "inbox"
            return AddCard(arguments.title, arguments.text, to, CardWork(cwd), (link,) if link else ())
        case "comment":
            return CommentOnCard(arguments.card, arguments.text)
        case "link":
            if link is None:
                raise BadRequest("Give link and other.")
            return LinkCard(arguments.card, link)
        case "result":
            if not arguments.text.strip():
                raise BadRequest("Give the result as text.")
            return NoteResult(arguments.card, arguments.text)


def _title(arguments: Arguments) -> str:
    match arguments.action:
        case "add":
            return f"{'Start work on a new card' if arguments.start else 'Add a card'}: {arguments.title}"
        case "comment":
            return f"Comment on card {arguments.card or 'in work'}"
        case _:
            return f"Link card {arguments.card or 'in work'} with {arguments.other}"


def _shown(arguments: Arguments, cwd: str) -> str:
    """Return the full text that the change adds."""
    lines = [arguments.title, f"In {cwd}" if arguments.action == "add" else "", arguments.text]
    if arguments.link:
        lines.append(f"{arguments.link} {arguments.other}")
    return "\n".join(filter(None, lines)) + "\n"


TOOL = CardTool()
