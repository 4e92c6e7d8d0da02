"""The rules for every frame of the draft of version 2, in any conversation."""

from tests.conversations.wire_laws import REPLAYING, Json, WireLaws

ENDED = ("completed", "failed", "cancelled")
OF_A_TURN = frozenset(
    {
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call_update",
        "tool_call_content_chunk",
        "plan_update",
    }
    | {"user_message", "agent_message", "agent_thought", "terminal_update", "terminal_output_chunk"}
)


class DraftLaws(WireLaws):
    """Checks both directions of one connection that agreed on version 2."""

    def __init__(self, schema: str = "v2") -> None:
        super().__init__(schema)
        self._states: dict[str, str] = {}
        self._terminals: dict[str, dict[str, bool]] = {}

    def watch_sent(self, frame: Json) -> None:
        """Process a frame that the editor sends; a replay may start again."""
        super().watch_sent(frame)
        if frame.get("method") == "session/resume" and frame["params"].get("replayFrom"):
            session_id = str(frame["params"].get("sessionId"))
            self._cards.pop(session_id, None)
            self._terminals.pop(session_id, None)

    def _watch_update(self, session_id: str, update: Json) -> None:
        kind = update["sessionUpdate"]
        running = {m for m, p in self._asked.values() if p.get("sessionId") == session_id}
        if session_id not in self._sessions and not running & REPLAYING:
            self._fault(f"{kind} for {session_id} before its session was answered")
        state = self._states.get(session_id, "idle")
        if kind in OF_A_TURN and state == "idle" and not running & REPLAYING:
            self._fault(f"{kind} for {session_id} while it is idle")
        if kind in ("tool_call_update", "tool_call_content_chunk"):
            self._watch_card(self._cards.setdefault(session_id, {}), kind, update)
        elif kind in ("terminal_update", "terminal_output_chunk"):
            self._watch_terminal(self._terminals.setdefault(session_id, {}), kind, update)
        elif kind == "state_update":
            self._states[session_id] = update["state"]
            if "error" in update:
                self._watch_error(update["error"])
            if update["state"] == "idle":
                self._check_cards(session_id)

    def _watch_card(self, cards: dict[str, str], kind: str, update: Json) -> None:
        card = update["toolCallId"]
        if card not in cards and not (kind == "tool_call_update" and update.get("title")):
            self._fault(f"an update of the card {card} that was never shown")
        if cards.get(card) in ENDED:
            self._fault(f"an update of the card {card} after its end")
        cards[card] = update.get("status") or cards.get(card, "pending")

    def _watch_terminal(self, terminals: dict[str, bool], kind: str, update: Json) -> None:
        terminal = update["terminalId"]
        if terminal not in terminals and not update.get("command"):
            self._fault(f"output of the terminal {terminal} that was never shown")
        if terminals.get(terminal):
            self._fault(f"an update of the terminal {terminal} after its end")
        terminals[terminal] = "exitStatus" in update

    def _check_cards(self, session_id: str) -> None:
        """Check that every card and every terminal is closed when a session becomes idle, or is answered as such."""
        if self._states.get(session_id, "idle") != "idle":
            return
        for fault in self._compactions.left_open(session_id):
            self._fault(fault)
        for card, status in self._cards.get(session_id, {}).items():
            if status not in ENDED:
                self._fault(f"the card {card} was left {status}")
        for terminal, has_ended in self._terminals.get(session_id, {}).items():
            if not has_ended:
                self._fault(f"the terminal {terminal} was left running")
