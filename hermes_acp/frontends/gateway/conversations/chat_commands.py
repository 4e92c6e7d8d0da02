"""Run the commands that people can type in conversations: /stop, /status, /model, /new, /help."""

from hermes_acp_client.errors import AgentError

from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.conversations.conversation import Conversation
from hermes_acp.frontends.gateway.conversations.gateway_parts import GatewayParts
from hermes_acp.storage.gateway.people import Person
from hermes_protocol import v1

MODEL = "model"


class ChatCommands:
    """Runs commands and returns the replies."""

    def __init__(self, parts: GatewayParts) -> None:
        self._parts = parts

    async def run(self, name: str, argument: str, conversation: Conversation, person: Person) -> str:
        """Run a command and return the reply. Raises StorageError."""
        match name:
            case "stop":
                return messages.STOPPED if conversation.stop() else messages.NOTHING_TO_STOP
            case "status":
                return self._status(conversation)
            case "new":
                conversation.stop()
                await conversation.forget_session()
                return messages.NEW_SESSION
            case "model":
                return await self._model(argument, conversation, person)
            case "help":
                return messages.HELP
            case _:
                return messages.unknown_command(f"/{name}")

    def _status(self, conversation: Conversation) -> str:
        where, session = conversation.where, conversation.session
        questions = len(self._parts.questions.of_session(session.id)) if session else 0
        doing = messages.doing(
            is_running=conversation.is_running, queued=conversation.queued, questions=questions
        )
        current, _ = _models(conversation)
        return messages.status(
            where.profile,
            where.folder,
            session.id if session else "",
            model=current,
            mode=conversation.mode,
            doing=doing,
        )

    async def _model(self, argument: str, conversation: Conversation, person: Person) -> str:
        try:
            await conversation.open()
        except AgentError as error:
            return messages.failed(error.sentence)
        current, values = _models(conversation)
        if not argument:
            return messages.models(current, values)
        if conversation.where.room is not None and not person.is_approver:
            return messages.MODEL_NEEDS_APPROVER
        if argument not in values or conversation.session is None:
            return messages.no_such_model(argument)
        try:
            await conversation.session.set_option(MODEL, argument)
        except AgentError as error:
            return messages.failed(error.sentence)
        return messages.model_changed(argument)


def _models(conversation: Conversation) -> tuple[str, list[str]]:
    """Return the current model and the available ones."""
    for option in conversation.session.options if conversation.session else ():
        if isinstance(option, v1.SessionConfigOptionSelect) and option.id == MODEL:
            values: list[str] = []
            for each in option.options:
                if isinstance(each, v1.SessionConfigSelectGroup):
                    values += [inner.value for inner in each.options]
                else:
                    values.append(each.value)
            return option.current_value, values
    return "", []
