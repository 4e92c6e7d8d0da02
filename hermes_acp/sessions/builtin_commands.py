"""The slash commands available in every session: their plugin types, the services they use, and their order."""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from hermes_acp.agent.setup.configuration import Configuration
from hermes_acp.context.context_approvals import ContextApprovals
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.boards.board_ports import Boards
from hermes_acp.core.record.session_record import Record
from hermes_acp.mcp.sign_in.oauth_coordinator import OAuthCoordinator
from hermes_acp.policy.workspace_trust import WorkspaceTrust
from hermes_acp.sessions.checkpoint_service import CheckpointService
from hermes_acp.sessions.session_commands import ActingCommand, SlashCommand, SlashCommands, TurnCommand
from hermes_acp.skills.skill_learning import SkillLearning
from hermes_acp.skills.skill_service import SkillService

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn
    from hermes_acp.agent.turn.turn_endings import Ending
    from hermes_acp.skills.suggestions.lexical_similarity import SkillSimilarityMeasure

ORDER: Final = (
    *(
        "status",
        "cost",
        "config",
        "context",
        "skills",
        "compact",
        "undo",
        "redo",
        "trust",
        "permissions",
        "memory",
        "mcp",
    ),
    *("board", "take", "answer", "park"),
    *("export", "digest", "init", "shell"),
)
"""The order in which commands are listed; commands not named here come last, by name."""


class CommandServices(Struct, frozen=True):
    """The services that commands use.

    `elsewhere` returns the name of the backend that holds a session's files if they are not on this machine.
    `similarity` returns the similarity measure for skills. `home` is the user's home folder. `transcript` returns the
    path of a session's transcript.
    """

    configuration: Configuration
    workspace_trust: WorkspaceTrust
    context: ContextApprovals
    skill_service: SkillService
    learning: SkillLearning
    oauth_coordinator: OAuthCoordinator
    checkpoint_service: CheckpointService
    elsewhere: Callable[[Record], str]
    similarity: "Callable[[], SkillSimilarityMeasure]"
    home: Path
    transcript: Callable[[str], Path]
    boards: Callable[[], Boards]


class RecordCommand(Struct, frozen=True):
    """A command that is answered from the session's record. A plugin in `sessions/commands`."""

    description: str
    answer: Callable[[CommandServices, Record], Awaitable[str]]


class PromptCommand(Struct, frozen=True):
    """A command that runs as a turn, like a prompt, and can be stopped. A plugin in `sessions/commands`.

    `run` receives the words after the name, which `hint` describes. A command that `needs_servers` is listed only in
    sessions with MCP servers.
    """

    description: str
    hint: str
    run: "Callable[[CommandServices, Turn, str], Awaitable[str]]"
    needs_servers: bool = False


class ActionCommand(Struct, frozen=True):
    """A command that is a turn of the conversation, like a prompt. A plugin in `sessions/commands`.

    `act` receives the words after the name, which `hint` describes.
    """

    description: str
    hint: str
    act: "Callable[[CommandServices, Turn, str], Awaitable[Ending]]"


def builtin_commands(services: CommandServices) -> SlashCommands:
    """Return the commands in the order in which they are listed."""
    folder: PluginFolder[RecordCommand | PromptCommand | ActionCommand] = PluginFolder(
        "hermes_acp.sessions.commands", "COMMAND"
    )
    answered: list[SlashCommand] = []
    in_turns: list[TurnCommand] = []
    acting: list[ActingCommand] = []
    for name in (*ORDER, *(name for name in folder if name not in ORDER)):
        match folder.open(name):
            case RecordCommand(description, answer):
                answered.append(SlashCommand(name, description, partial(answer, services)))
            case PromptCommand(description, hint, run, needs_servers):
                command = TurnCommand(name, description, hint, partial(run, services), needs_servers)
                in_turns.append(command)
            case ActionCommand(description, hint, act):
                acting.append(ActingCommand(name, description, hint, partial(act, services)))
    return SlashCommands(tuple(answered), tuple(in_turns), tuple(acting))
