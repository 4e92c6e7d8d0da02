"""Send a session's events to an editor as session updates."""

import time
from collections.abc import Iterable
from typing import Final

from msgspec import structs

from hermes_acp.core.events import (
    CallEnded,
    CallProgressed,
    CallProposed,
    ChildReported,
    CommandAnswered,
    CommandsChanged,
    Event,
    ModeChanged,
    OptionsChanged,
    PermissionAnswered,
    StepFailed,
    TextSaid,
    ThoughtSaid,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.extensions.edit_notifications import notify_edits
from hermes_acp.frontends.acp.extensions.meta_extensions import takes
from hermes_acp.frontends.acp.extensions.time_updates import PastTimes, TimeUpdates
from hermes_acp.frontends.acp.v1.options import config_options
from hermes_acp.frontends.acp.v1.subagents import changed_state, task_message
from hermes_acp.frontends.acp.v1.updates import UNSHOWN, UpdateView, to_updates, turn_end
from hermes_acp.sessions.session import Session
from hermes_protocol import v1
from hermes_protocol.envelope import encode_notification

UPDATE: Final = "session/update"


class EditorAudience:
    """Sends the updates of one session over one connection."""

    def __init__(
        self, client: ClientConnection, session: Session, past_times: PastTimes | None = None
    ) -> None:
        self._client = client
        self._session = session
        self._view = _view_of(client, is_replay=False)
        self._past_view = _view_of(client, is_replay=True)
        self._filled: set[tuple[str, str]] = set()
        self._rejected: dict[tuple[str, str], str] = {}
        self._said: dict[str, str] = {}
        self._form = f"{session.id} {self._view}"
        """Clients with the same value get the same frames for an event. It is a string, so that its hash is cached."""
        self._past_times = past_times
        self._times = TimeUpdates() if takes(client.capabilities, "times") else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EditorAudience) and (self._client, self._session) == (
            other._client,
            other._session,
        )

    def __hash__(self) -> int:
        return hash((id(self._client), id(self._session)))

    def show(self, event: Event) -> None:
        """Queue the updates for an event; if an option has changed, the whole list of options is sent."""
        times = self._times.take(event, time.time()) if self._times else ()
        is_prompt = isinstance(event, UserSaid)
        if not is_prompt:
            self._notify_all(times)
        if isinstance(event, TextSaid):  # by far the most frequent event
            self._said[self._session.id] = event.message_id
            self._send(event, self._view, self._session.id)
            return
        record, clients = self._session.record, self._session.clients
        is_from_elsewhere = (
            isinstance(event, UserSaid | CommandAnswered) and clients.author_of(event) is not self._client
        )
        self._show(event, self._past_view if is_from_elsewhere else self._view, self._session.id)
        if is_prompt:
            self._notify_all(times)
        if isinstance(event, PermissionAnswered) and self._is_answered_elsewhere(event):
            meta = {"hermes": {"answeredBy": event.by, "answer": event.answer}}
            answered = v1.SessionUpdateToolCallUpdate(tool_call_id=event.call_id, meta=meta)
            notify(self._client, self._session.id, answered)
        if is_from_elsewhere or isinstance(event, TurnStarted):
            self._report_start(event)
        elif isinstance(event, TurnEnded):
            self._report_end(event)
        if isinstance(event, ModeChanged | OptionsChanged):
            options = config_options(record, self._session.offers, self._client.capabilities)
            notify(self._client, self._session.id, v1.ConfigOptionUpdate(config_options=options))
        elif isinstance(event, CommandsChanged):
            notify(self._client, self._session.id, commands_update(self._session))

    def report_running_turn(self) -> None:
        """Notify the client of a running turn that it did not start itself: no response to a prompt will report its
        end.
        """
        turn_id = self._session.record.open_turn
        if turn_id and takes(self._client.capabilities, "turnStates"):
            self._client.turns_of_others[self._session.id] = turn_id
            began = v1.SessionInfoUpdate(meta={"hermes": {"turnBegan": {"turnId": turn_id}}})
            notify(self._client, self._session.id, began)

    def _report_start(self, event: Event) -> None:
        """Report a turn that another client started, or that continues without a prompt."""
        is_prompt = isinstance(event, UserSaid)
        is_continued = isinstance(event, TurnStarted) and event.goes_on
        is_own = is_continued and self._session.clients.is_prompting(self._client)
        is_told = self._client.turns_of_others.get(self._session.id) == self._session.record.open_turn
        if (is_prompt or is_continued) and not (is_own or is_told):
            self.report_running_turn()

    def _report_end(self, event: TurnEnded) -> None:
        if self._client.turns_of_others.get(self._session.id) == event.turn_id:
            del self._client.turns_of_others[self._session.id]
            notify(self._client, self._session.id, turn_end(event))

    def _is_answered_elsewhere(self, event: PermissionAnswered) -> bool:
        """Return whether another client answered a question that this one was asked too."""
        attached = self._session.clients.find(self._client)
        return bool(event.by and attached and attached.name != event.by)

    def replay_event(self, event: Event) -> None:
        """Queue the updates for a past event; the response that follows the replay has the current options."""
        times = self._past_times.of(event) if self._past_times else ()
        if not isinstance(event, UserSaid):
            self._notify_all(times)
        self._show(event, self._past_view, self._session.id)
        if isinstance(event, UserSaid):
            self._notify_all(times)

    def _notify_all(self, updates: Iterable[v1.SessionUpdate]) -> None:
        for update in updates:
            notify(self._client, self._session.id, update)

    def _show(self, event: Event, view: UpdateView, session_id: str) -> None:
        if not view.is_replay:
            notify_edits(self._client, session_id, self._session.record.reviews, event)
        if isinstance(event, UNSHOWN) and not (view.takes_turn_ends and isinstance(event, TurnEnded)):
            return
        if isinstance(event, ThoughtSaid) and not self._session.record.options.shows_thoughts:
            return
        if isinstance(event, ChildReported):
            if view.takes_subagents:
                self._show_child(event, view, session_id)
            return
        self._send(event, self._completed(event, view, session_id), session_id)

    def _send(self, event: Event, view: UpdateView, session_id: str) -> None:
        form = self._form if view is self._view and session_id == self._session.id else (view, session_id)
        frames = self._client.registry.frames
        shared = frames.find(event, form)
        if shared is None:
            shared = frames.keep(
                event, form, [_encoded(session_id, each) for each in to_updates(event, view)]
            )
        for frame in shared:
            self._client.connection.notify(UPDATE, None, frame=frame)

    def _completed(self, event: Event, view: UpdateView, session_id: str) -> UpdateView:
        """Track open cards and the last message, and complete the view for an event that ends a call or a step."""
        match event:
            case TextSaid():
                self._said[session_id] = event.message_id
            case StepFailed() if self._said.get(session_id) == event.message_id:
                return structs.replace(view, has_words=True)
            case CallProposed(diffs=(_, *_)) | CallProgressed():
                self._filled.add((session_id, event.call_id))
            case PermissionAnswered(answer="reject_once" | "reject_always"):
                self._rejected[session_id, event.call_id] = event.comment
            case CallEnded():
                call = (session_id, event.call_id)
                is_filled, rejection = call in self._filled, self._rejected.pop(call, None)
                self._filled.discard(call)
                has_diffs = self._client.asked_diffs.pop(call, None) == event.diffs != ()
                if is_filled or rejection is not None or has_diffs:
                    return structs.replace(
                        view, has_filled_card=is_filled, rejection=rejection, has_diffs=has_diffs
                    )
            case _:
                pass
        return view

    def _show_child(self, event: ChildReported, view: UpdateView, session_id: str) -> None:
        """Show a child agent's events in its own session, and its state in the parent session."""
        for update in changed_state(event):
            notify(self._client, session_id, update)
        if isinstance(event.event, UserSaid):
            notify(self._client, event.child_id, task_message(event.event, event.child_id, session_id))
        else:
            self._show(event.event, view, event.child_id)

    async def drained(self) -> None:
        """Wait until the editor has read enough of what was queued."""
        await self._client.connection.drained()


def _view_of(client: ClientConnection, *, is_replay: bool) -> UpdateView:
    """Return the view for this client: the kinds of updates that it accepts."""
    session = client.capabilities.session
    return UpdateView(
        is_replay=is_replay,
        takes_turn_ends=is_replay and takes(client.capabilities, "turnEnds"),
        takes_turn_marks=takes(client.capabilities, "turnMarks"),
        takes_hunks=takes(client.capabilities, "diffHunks"),
        takes_notices=bool(session and session.notices),
        takes_plan_updates=client.takes_plan_updates,
        takes_subagents=client.takes_subagents,
        takes_compactions=bool(session and session.compaction),
    )


def commands_update(session: Session) -> v1.AvailableCommandsUpdate:
    """List the session's slash commands."""
    commands = [
        v1.AvailableCommand(
            name=offer.name,
            description=offer.description,
            input=v1.UnstructuredCommandInput(hint=offer.hint) if offer.hint else v1.UNSET,
        )
        for offer in session.commands.offered
    ]
    return v1.AvailableCommandsUpdate(available_commands=commands)


def notify(client: ClientConnection, session_id: str, update: v1.SessionUpdate) -> None:
    """Send one session update."""
    client.connection.notify(UPDATE, v1.SessionNotification(session_id=session_id, update=update))


def _encoded(session_id: str, update: v1.SessionUpdate) -> bytes:
    return encode_notification(UPDATE, v1.SessionNotification(session_id=session_id, update=update))
