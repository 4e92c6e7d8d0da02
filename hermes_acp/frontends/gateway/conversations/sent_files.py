"""Send the workspace files that an answer shows: find them in its text, fetch them from the agent, and store them.

The model shows a file with `![name](path)`. The agent only provides files that it may read without asking.
"""

import re
from base64 import b64decode
from collections.abc import Sequence
from os.path import basename
from typing import Final, Protocol
from urllib.parse import unquote, urlsplit

from anyio import to_thread
from hermes_acp_client.agent import Agent
from hermes_acp_client.errors import AgentError, AgentGone
from hermes_acp_client.session import Session

from hermes_acp.core.untrusted_text import plain
from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.conversations.gateway_parts import ConversationPlace, GatewayParts
from hermes_acp.storage.gateway.outbox import OutgoingPart
from hermes_acp.storage.gateway.outgoing_files import PREFIX, StoredFile
from hermes_protocol import own

MAX_FILES: Final = 5
MAX_NAME: Final = 120
MAX_LOSSES: Final = 5
"""The number of times that the agent may exit while a file is being fetched."""
ABILITY: Final = "fileFetching"
_CODE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1|\Z)|(`+)(?!`).*?\2", re.MULTILINE | re.DOTALL)
_SHOWN: Final = re.compile(
    r"!\[[^\]\n]{0,300}\]\(\s*(?:<([^>\n]{1,2000})>|([^()\s]{1,2000}))[^()\n]{0,300}\)"
)
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")


class OpenConversation(Protocol):
    """The conversation that an answer belongs to."""

    where: ConversationPlace

    @property
    def session(self) -> Session | None:
        """The open session, or None."""
        ...

    async def open(self) -> None:
        """Open the session if it is not open. Raises AgentError or StorageError."""
        ...


def shown_files(text: str) -> list[str]:
    """Return the paths of the files that an answer shows, each once, ignoring URLs and code."""
    found: dict[str, None] = {}
    for shown in _SHOWN.finditer(_CODE.sub("", text)):
        if path := _path(shown[1] or shown[2]):
            found[path] = None
    return [*found][:MAX_FILES]


async def files_of(
    conversation: OpenConversation, parts: GatewayParts, text: str, key: str
) -> Sequence[OutgoingPart]:
    """Store the files that an answer shows; return messages that send them or say why a file is not sent.

    The messages have no place yet. Raises StorageError.
    """
    where, paths = conversation.where, shown_files(text)
    if not paths:
        return ()
    if not parts.limits[where.platform].max_file_bytes:
        named = [parts.redactor.clean(plain(path, MAX_NAME)) for path in paths]
        told = messages.files_cannot_be_sent(named, parts.settings.web_page or "")
        return (OutgoingPart(f"no-{PREFIX}{key}", where.platform, where.key, "", told),)
    for _ in range(MAX_LOSSES):
        try:
            await conversation.open()
            agent = await parts.link(where.profile).agent()
            if conversation.session is None or not agent.additions.get(ABILITY):
                break
            wanted = [own.FilesFetchParams(session_id=conversation.session.id, path=path) for path in paths]
            return [
                await _file(agent, each, _part(where, f"{key}:{number}"), parts)
                for number, each in enumerate(wanted)
            ]
        except AgentError:
            continue  # the agent has just ended
    return ()


def _part(where: ConversationPlace, number: str) -> OutgoingPart:
    return OutgoingPart(f"{PREFIX}{number}", where.platform, where.key, "", "")


async def _file(
    agent: Agent, wanted: own.FilesFetchParams, part: OutgoingPart, parts: GatewayParts
) -> OutgoingPart:
    """Return a message that sends a file or says why it is not sent. Raises AgentGone or StorageError."""
    name = plain(basename(wanted.path), MAX_NAME)
    reason = messages.TOO_LARGE
    try:
        file = await agent.call("_hermes/files/fetch", wanted, own.FilesFetchResult)
        content = b64decode(file.data)
        if len(content) <= parts.limits[part.platform].max_file_bytes:
            await to_thread.run_sync(parts.stores.files.keep, part.id, content)
            text = StoredFile(name, file.mime_type).text()
            return OutgoingPart(part.id, part.platform, part.conversation, part.place, text)
    except AgentGone:
        raise
    except AgentError as error:
        reason = plain(error.sentence, 300)
    text = messages.file_not_sent(name, parts.redactor.clean(reason))
    return OutgoingPart(f"no-{part.id}", part.platform, part.conversation, part.place, text)


def _path(target: str) -> str:
    """Return the path that a link refers to, or an empty string for a URL."""
    if target.lower().startswith("file://"):
        return unquote(urlsplit(target).path)
    return "" if _SCHEME.match(target) or target.startswith(("#", "//")) else unquote(target)
