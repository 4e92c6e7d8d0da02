"""The `ask_user` tool: ask the user a question that only they can answer."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Question, Reply, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.tools.tool_schemas import schema_of

NOBODY: Final = Result(
    "No user can be asked here.",
    is_error=True,
    advice="Put the question into your answer and end the turn; the user answers with their next message.",
)
OPENED: Final = Result(
    "The user opened the page.",
    advice="It is not known whether they finished there: check before you rely on it.",
)
DECLINED: Final = Result(
    "The user declined to answer.",
    advice="Continue without the answer, or end the turn and say what you need.",
)
DISMISSED: Final = Result(
    "The user closed the question without an answer.",
    advice="Do not ask it again: continue with care, or end the turn.",
)


class Arguments(BaseModel):
    """A question, the possible answers, and a page to open."""

    model_config = ConfigDict(extra="forbid")

    question: Annotated[str, Field(min_length=1)]
    """The question."""
    choices: list[str] | None = None
    """Answers to choose from."""
    url: str | None = None
    """A page for you to act on. Your editor opens it."""


class AskUser:
    """Ask you one question, or open a page for you, if you are there to answer."""

    name = "ask_user"
    kind: ToolKind = "other"
    tool_metadata = ToolMetadata(is_repeatable=True)
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        about = "Ask the user one question, or to act on the page at url."
        return schema_of(self.name, about, Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call; the call changes nothing."""
        del workspace
        url = escape_invisible(arguments.url or "")
        if url and not url.lower().startswith(("https://", "http://")):
            raise BadRequest(
                f"The url {url[:80]!r} is not a web page.", hint="It must start with https:// or http://."
            )
        choices = tuple(dict.fromkeys(choice for choice in arguments.choices or () if choice.strip()))
        question = Question(arguments.question, choices, url=url)

        async def ask(progress: Progress) -> Result:
            return _result(await progress.inquire(question))

        return Proposal(f"Ask: {escape_invisible(arguments.question)}", self.kind, ask)


def _result(reply: Reply | None) -> Result:
    match reply:
        case None:
            return NOBODY
        case Reply(outcome="answered"):
            return Result(f"The user answered: {reply.text}")
        case Reply(outcome="opened"):
            return OPENED
        case Reply(outcome="declined"):
            return DECLINED
        case _:
            return DISMISSED


TOOL = AskUser()
