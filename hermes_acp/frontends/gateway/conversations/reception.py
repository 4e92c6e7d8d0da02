"""Receive messages, button presses and typed answers: identify the sender, then reply or pass the message on.

People who are not admitted get a pairing code in a direct message, and no reply in rooms.
"""

import re
from collections import deque
from collections.abc import Callable
from typing import Final

import msgspec
from anyio import to_thread

from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.conversations.chat_commands import ChatCommands
from hermes_acp.frontends.gateway.conversations.conversation import Conversation
from hermes_acp.frontends.gateway.conversations.gateway_parts import (
    ConversationPlace,
    GatewayParts,
    StoredMessage,
)
from hermes_acp.frontends.gateway.conversations.question_book import Verdict
from hermes_acp.frontends.gateway.conversations.room_rules import RoomRules
from hermes_acp.frontends.gateway.port.platform_port import Incoming, IncomingMessage, Press
from hermes_acp.storage.gateway.outbox import OutgoingPart
from hermes_acp.storage.gateway.people import ALPHABET, Person

MAX_TEXT: Final = 100_000
MAX_EARLIER: Final = 30
MAX_EARLIER_TEXT: Final = 1_000
_ANSWER: Final = re.compile(
    rf"\s*[/!]?(yes|no|always|answer|[1-9])[\s:]+([{ALPHABET}{ALPHABET.lower()}]{{5}})(?:\s+(.*))?\s*",
    re.DOTALL | re.IGNORECASE,
)
_BARE: Final = re.compile(r"\s*[/!]?(yes|no|always|y|n|ok)\W*", re.IGNORECASE)
_COMMAND: Final = re.compile(r"\s*[/!]([a-z_]+)(?:\s+(.*))?\s*", re.DOTALL | re.IGNORECASE)


class Reception:
    """Handles all incoming events of all platforms."""

    def __init__(
        self,
        parts: GatewayParts,
        rules: RoomRules,
        find: Callable[[ConversationPlace], Conversation],
        profile: str,
    ) -> None:
        """Prepare without receiving anything.

        `find` returns the conversation of a place, creating it if necessary; `profile` is the gateway's own.
        """
        self._parts = parts
        self._rules = rules
        self._find = find
        self._profile = profile
        self._commands = ChatCommands(parts)
        self._earlier: dict[str, deque[tuple[str, str]]] = {}

    async def receive(self, platform: str, incoming: Incoming) -> None:
        """Handle an incoming event; on return, it is stored or needs no answer. Raises StorageError."""
        person = await self._person(platform, incoming)
        if person is None:
            await self._stranger(platform, incoming)
            return
        where = await self._rules.place_of(platform, incoming.place, person)
        if where is None:
            return
        if isinstance(incoming, Press):
            await self._press(incoming, where, person)
        else:
            await self._message(incoming, where, person)

    async def _person(self, platform: str, incoming: Incoming) -> Person | None:
        if isinstance(incoming, IncomingMessage) and not incoming.has_proof:
            return None
        return await to_thread.run_sync(self._parts.stores.people.find, platform, incoming.sender)

    async def _stranger(self, platform: str, incoming: Incoming) -> None:
        """Send a pairing code to a person who is not admitted, but only in a direct conversation."""
        if isinstance(incoming, Press) or not (incoming.place.is_direct and incoming.has_proof):
            return
        stores, now = self._parts.stores, self._parts.clock.now()
        if not await to_thread.run_sync(stores.inbox.is_new, platform, incoming.id, now):
            return
        code = await to_thread.run_sync(stores.people.new_code, platform, incoming.sender, now)
        if code:
            key = f"pair:{stores.database.hash(platform, incoming.id)}"
            text = messages.pairing_code(code, self._profile)
            place = msgspec.json.encode(incoming.place).decode()
            conversation = self._rules.key_of(platform, incoming.place)
            part = OutgoingPart(key, platform, conversation, place, text)
            await to_thread.run_sync(stores.outbox.put, part, now)
            self._parts.wake(platform)

    async def _press(self, press: Press, where: ConversationPlace, person: Person) -> None:
        stores, now = self._parts.stores, self._parts.clock.now()
        if await to_thread.run_sync(stores.inbox.is_new, where.platform, press.id, now):
            verdict = self._parts.questions.press(person, where.key, press.message_id, press.token)
            await self._reply(press.id, where, _reply_to(verdict, messages.UNKNOWN_PRESS))

    async def _message(self, message: IncomingMessage, where: ConversationPlace, person: Person) -> None:
        text = message.text[:MAX_TEXT].replace("\x00", "")
        is_for_agent = (
            where.room is None
            or message.is_addressed
            or where.room.listens == "all"
            or self._is_answer(text, where)
            or self._is_late(text, where)
        )
        if not is_for_agent:
            self._overhear(where, person, text)
            return
        if self._is_late(text, where):
            if await self._is_new(message, where):
                await self._reply(message.id, where, messages.UNKNOWN_PRESS)
            return
        if self._is_here(where) and (answer := _ANSWER.fullmatch(text)):
            if await self._is_new(message, where):
                verdict = self._parts.questions.typed(
                    person, where.key, answer[1], answer[2], (answer[3] or "").strip()
                )
                await self._reply(message.id, where, _reply_to(verdict, messages.UNKNOWN_CODE))
            return
        if codes := self._open_codes(where) if _BARE.fullmatch(text) else ():
            if await self._is_new(message, where):
                await self._reply(message.id, where, messages.code_needed(codes))
            return
        if command := _COMMAND.fullmatch(text):
            if await self._is_new(message, where):
                reply = await self._commands.run(
                    command[1].lower(), (command[2] or "").strip(), self._find(where), person
                )
                await self._reply(message.id, where, reply)
            return
        await self._prompt(message, text, where, person)

    async def _prompt(
        self, message: IncomingMessage, text: str, where: ConversationPlace, person: Person
    ) -> None:
        """Put a message into the inbox, then into its conversation."""
        if not text.strip() and not message.attachments:
            return
        if not where.folder:
            if await self._is_new(message, where):
                await self._reply(message.id, where, messages.NO_FOLDER)
            return
        if where.room is not None and await self._rules.has_sandbox_off(where.profile):
            if await self._is_new(message, where):
                await self._reply(message.id, where, messages.SANDBOX_OFF)
            return
        others = tuple(self._earlier.pop(where.key, ())) if where.room else ()
        stored = StoredMessage(message.place, person.name, text, others, message.attachments)
        raw = msgspec.json.encode(stored).decode()
        now, inbox = self._parts.clock.now(), self._parts.stores.inbox
        entry = await to_thread.run_sync(inbox.add, where.platform, message.id, where.key, raw, now)
        if entry is not None:
            self._find(where).put(entry)

    def _overhear(self, where: ConversationPlace, person: Person, text: str) -> None:
        """Store a message of an admitted member of a room as context for the next message to the agent."""
        earlier = self._earlier.setdefault(where.key, deque(maxlen=MAX_EARLIER))
        earlier.append((person.name, text[:MAX_EARLIER_TEXT]))

    def _is_here(self, where: ConversationPlace) -> bool:
        return bool(self._open_codes(where))

    def _is_answer(self, text: str, where: ConversationPlace) -> bool:
        return self._is_here(where) and _ANSWER.fullmatch(text) is not None

    def _is_late(self, text: str, where: ConversationPlace) -> bool:
        """Return whether a text answers a question that was open here until a short time ago."""
        answer = _ANSWER.fullmatch(text)
        return answer is not None and self._parts.questions.is_closed(where.key, answer[2])

    def _open_codes(self, where: ConversationPlace) -> tuple[str, ...]:
        return self._parts.questions.codes_in(where.key)

    async def _is_new(self, message: IncomingMessage, where: ConversationPlace) -> bool:
        now = self._parts.clock.now()
        return await to_thread.run_sync(self._parts.stores.inbox.is_new, where.platform, message.id, now)

    async def _reply(self, message_id: str, where: ConversationPlace, text: str) -> None:
        """Send a reply from the gateway itself, once for each message."""
        if text:
            key = f"reply:{self._parts.stores.database.hash(where.platform, message_id)}"
            await self._find(where).say(key, self._parts.redactor.clean(text))


def _reply_to(verdict: Verdict, unknown: str) -> str:
    """Return the reply to an attempt to answer; empty if the answer was accepted, which the question itself shows."""
    match verdict.outcome:
        case "answered":
            return ""
        case "noted":
            names = [name or messages.NO_APPROVER for name in verdict.missing]
            return messages.waits_for(names)
        case "not_allowed":
            return messages.NOT_ALLOWED
        case "expired":
            return messages.EXPIRED
        case "unknown":
            return unknown
