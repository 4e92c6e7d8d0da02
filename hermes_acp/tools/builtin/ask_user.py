"""The tool that asks the user what only they can tell.

Knows: how a question and its answer read. Does not know: who puts it, or how.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Question, Reply, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.tools.safe_display import escape_invisible
from hermes_acp.tools.tool_schemas import schema_of

NOBODY = (
    "Nobody can be asked from here. Put the question into your answer and end the turn; the user answers with their "
    "next message."
)
OPENED = "The user opened the page. Whether they finished there is not known: check before you rely on it."
DECLINED = "The user declined to answer. Go on without the answer, or end the turn and say what you need."
DISMISSED = (
    "The user closed the question without an answer. Do not ask it again: go on with care, or end the turn."
)


class Arguments(BaseModel):
    """A question, what it may be answered with, and the page it is about."""

    model_config = ConfigDict(extra="forbid")

    question: Annotated[str, Field(min_length=1)]
    choices: list[str] | None = None
    url: str | None = None


class AskUser:
    """Puts one question and waits for the answer."""

    name = "ask_user"
    kind: ToolKind = "other"
    tool_metadata = ToolMetadata(is_repeatable=True)
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        about = "Ask the user one question, or to act on the page at url."
        return schema_of(self.name, about, Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Understand a call; it touches nothing."""
        del workspace
        url = escape_invisible(arguments.url or "")
        if url and not url.lower().startswith(("https://", "http://")):
            raise BadRequest(
                f"The url {url[:80]!r} is no web page.", hint="It must begin with https:// or http://."
            )
        choices = tuple(dict.fromkeys(choice for choice in arguments.choices or () if choice.strip()))
        question = Question(arguments.question, choices, url=url)

        async def ask(progress: Progress) -> Result:
            return _result(await progress.inquire(question))

        return Proposal(f"Ask: {escape_invisible(arguments.question)}", self.kind, ask)


def _result(reply: Reply | None) -> Result:
    match reply:
        case None:
            return Result(NOBODY, is_error=True)
        case Reply(outcome="answered"):
            return Result(f"The user answered: {reply.text}")
        case Reply(outcome="opened"):
            return Result(OPENED)
        case Reply(outcome="declined"):
            return Result(DECLINED)
        case _:
            return Result(DISMISSED)


TOOL = AskUser()
