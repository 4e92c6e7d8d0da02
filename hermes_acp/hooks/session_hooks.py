"""Run one session's hooks in order: the user's first, then those of a trusted workspace."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

import anyio
from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.config.workspace_settings import hook_digest
from hermes_acp.core.errors import HermesError, StorageError
from hermes_acp.core.events import Noticed
from hermes_acp.core.ports.runtime_ports import StartTask
from hermes_acp.core.ports.session_ports import EventSink, RecordedSession
from hermes_acp.hooks.hook_answers import HookAnswer, answer_of
from hermes_acp.hooks.hook_commands import HookCommands
from hermes_acp.hooks.hook_definitions import CallSubject, Hook
from hermes_acp.hooks.hook_requests import encode_request, mask_facts
from hermes_acp.hooks.hook_texts import CUT, HookText, HookTexts

if TYPE_CHECKING:
    from hermes_acp.config.sections.hook_settings import HookEvent

REFUSED: Final = "Refused by the {label}: {reason}"
FAILED: Final = "The {label} failed: {why}."
REQUIRED: Final = "it is required and failed ({why})"
CANNOT_REFUSE_PROMPTS: Final = "a project's hook cannot refuse your prompts"
CHANGED: Final = "it has changed since you trusted it; the next prompt asks again"

Clean = Callable[[str], str]
Whose = Literal["all", "user", "workspace"]


class Background(Struct, frozen=True):
    """How hooks run alongside turns: `start` starts a task; `is_attended` says whether a person is present."""

    start: StartTask
    is_attended: Callable[[], bool]


class HookTrigger(Struct, frozen=True):
    """An event in a session, with the facts for hooks and, if it is about a call, that call."""

    event: "HookEvent"
    facts: Mapping[str, object]
    subject: CallSubject | None = None


class Verdict(Struct, frozen=True):
    """The combined answers of an event's hooks: the reason for a refusal, if any, and texts for the model.

    `speakers` are the hooks whose text reaches the model and may come from outside the workspace. `has_run` means that
    at least one hook ran.
    """

    refusal: str = ""
    texts: tuple[str, ...] = ()
    speakers: tuple[Hook, ...] = ()
    has_run: bool = False


class SessionHooks:
    """The hooks of one session. Failures are shown to the user, each once per session."""

    def __init__(
        self,
        session: RecordedSession,
        hooks: Sequence[Hook],
        commands: HookCommands,
        texts: HookTexts,
        background: Background,
    ) -> None:
        """Store the arguments; nothing is run."""
        self._ledger: EventSink = session.ledger
        self._record = session.record
        self._own = tuple(hooks)
        self._shared: tuple[Hook, ...] = ()
        self._commands = commands
        self._texts = texts
        self._background = background
        self._reported: set[str] = set()
        self._failed: set[str] = set()
        self._scopes: dict[anyio.CancelScope, anyio.Event] = {}
        self._is_closed = False
        self.has_started = False
        """Whether the hooks for the start of the session have run."""

    def share(self, hooks: Sequence[Hook]) -> None:
        """Replace the workspace's hooks with those that are currently trusted."""
        self._shared = tuple(hooks)

    def listens(self, event: "HookEvent", whose: Whose = "all") -> bool:
        """Return whether any hook is configured for an event."""
        return bool(self._waiting_for(event, whose))

    async def run(self, occasion: HookTrigger, clean: Clean, whose: Whose = "all") -> Verdict:
        """Run an event's hooks one after another until one refuses.

        `clean` masks secrets, both in what they read and in what they write. `whose` limits them to those of the `user`
        or of the `workspace`.
        """
        texts: list[str] = []
        speakers: list[Hook] = []
        has_run = False
        facts: dict[str, object] = {}
        for hook in self._waiting_for(occasion.event, whose):
            facts = facts or await run_sync(mask_facts, occasion.facts, clean)
            answer = await self._ask(hook, facts, occasion.subject)
            if answer is None:
                continue
            has_run = True
            if answer.refusal:
                reason = await self._texts.reason(answer.refusal, clean)
                self._report_cut(hook, reason)
                return Verdict(REFUSED.format(label=hook.label, reason=reason.text), has_run=True)
            if answer.context:
                prepared = await self._texts.context(hook, answer.context, clean)
                self._report_cut(hook, prepared)
                texts.append(prepared.text)
                speakers += (hook,) if hook.has_network else ()
        return Verdict("", tuple(texts), tuple(speakers), has_run=has_run)

    async def notify(self, occasion: HookTrigger, clean: Clean) -> None:
        """Run an event's hooks; wait for them if nobody attends the session, because it is then about to end."""
        if self._background.is_attended():
            self.notify_soon(occasion, clean)
        else:
            await self._run_quietly(occasion, clean)

    def notify_soon(self, occasion: HookTrigger, clean: Clean) -> None:
        """Run an event's hooks in the background if a person attends the session; their output is ignored."""
        if self._background.is_attended():
            self._background.start(partial(self._run_quietly, occasion, clean))

    async def _run_quietly(self, occasion: HookTrigger, clean: Clean) -> None:
        """Run an event's hooks unless the session is closed; closing the session stops them."""
        if self._is_closed:
            return
        with anyio.CancelScope() as scope:
            self._scopes[scope] = is_over = anyio.Event()
            try:
                facts = await run_sync(mask_facts, occasion.facts, clean)
                for hook in self._waiting_for(occasion.event, "all"):
                    await self._ask(hook, facts, occasion.subject)
            finally:
                del self._scopes[scope]
                is_over.set()

    async def close(self) -> None:
        """Stop background work, and kill processes that hooks have left running."""
        self._is_closed = True
        for scope, is_over in tuple(self._scopes.items()):
            scope.cancel()
            await is_over.wait()
        await self._commands.close()

    def report(self, sentence: str) -> None:
        """Show the user a sentence, at most once per session."""
        if sentence not in self._reported:
            self._reported.add(sentence)
            with suppress(StorageError):  # the turn itself reports a record that cannot be written
                self._ledger.emit(Noticed("warning", sentence))

    def _waiting_for(self, event: "HookEvent", whose: Whose) -> list[Hook]:
        own = self._own if whose != "workspace" else ()
        shared = self._shared if whose != "user" else ()
        return [hook for hook in (*own, *shared) if hook.event == event]

    async def _ask(
        self, hook: Hook, facts: Mapping[str, object], subject: CallSubject | None
    ) -> HookAnswer | None:
        """Run one hook, or return None if it does not apply.

        If the hook fails, the failure is reported and, if the hook is required, refuses the event.
        """
        try:
            if not hook.applies_to(subject, self._record.roots):
                return None
            if hook.entry and not await run_sync(_is_unchanged, hook, self._record.cwd):
                answer = HookAnswer(failure=CHANGED)
            else:
                request = encode_request(hook, self._record.session_id, self._record.cwd, facts)
                ended = await self._commands.run(hook, request)
                answer = answer_of(hook.event, ended, hook.timeout_s, hook.format)
        except StorageError:
            raise
        except HermesError as error:
            answer = HookAnswer(failure=error.message.rstrip("."))
        if answer.refusal and not hook.can_refuse:
            answer = HookAnswer(failure=CANNOT_REFUSE_PROMPTS)
        if not answer.failure:
            return answer
        self._report_failure(hook, answer.failure)
        is_refused = hook.is_required and hook.can_refuse
        return HookAnswer(refusal=REQUIRED.format(why=answer.failure)) if is_refused else HookAnswer()

    def _report_failure(self, hook: Hook, why: str) -> None:
        """Report a hook's first failure; later failures, which may have other reasons, are not shown."""
        if hook.label not in self._failed:
            self._failed.add(hook.label)
            self.report(FAILED.format(label=hook.label, why=why))

    def _report_cut(self, hook: Hook, text: HookText) -> None:
        if text.was_cut:
            self.report(CUT.format(label=hook.label))


def _is_unchanged(hook: Hook, cwd: str) -> bool:
    """Return whether a workspace's hook, including the files it depends on, is unchanged since it was trusted.

    Blocks.
    """
    entry = hook.entry
    return entry is None or hook_digest(cwd, entry.settings) == entry.item.digest
