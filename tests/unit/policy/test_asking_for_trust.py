"""Trust in what a workspace contains: who is asked, how often, and what an answer covers."""

from pathlib import Path

import pytest

from hermes_acp.config.environment import environment_of
from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import AnyEvent, CallEnded, CallProposed, Event, Noticed
from hermes_acp.core.ports.gate_ports import PermissionScope
from hermes_acp.core.ports.record_ports import Audience
from hermes_acp.core.ports.trust_ports import TrustItem
from hermes_acp.core.proposals import Question, Reply
from hermes_acp.core.record.session_record import Record
from hermes_acp.ids import RandomIds
from hermes_acp.policy.workspace_trust import WorkspaceTrust

pytestmark = pytest.mark.anyio
SERVER = TrustItem("mcp_server", "notes", "digest-1", "run notes")
CHANGED = TrustItem("mcp_server", "notes", "digest-2", "run notes --all")


class Events:
    """Collects the events of a session."""

    def __init__(self) -> None:
        self.seen: list[Event] = []

    def clean(self, text: str) -> str:
        return text

    def emit(self, event: AnyEvent) -> AnyEvent:
        self.seen.append(event)
        return event

    def admit(self, audience: Audience) -> None:
        raise AssertionError(audience)

    async def drained(self) -> None:
        return


class WatchedSession:
    """A session as the trust service sees it."""

    def __init__(self) -> None:
        self.record = Record()
        self.ledger = Events()


class AnsweringGate:
    """A user who gives one answer to everything."""

    def __init__(self, answer: PermissionAnswer) -> None:
        self.answer: PermissionAnswer = answer
        self.asked: list[CallProposed] = []

    async def ask(self, call: CallProposed, *, permission_scope: PermissionScope) -> PermissionAnswer:
        assert permission_scope.workspace
        self.asked.append(call)
        return self.answer

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        raise AssertionError(question)


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path.resolve() / "project")


def trust_of(tmp_path: Path) -> WorkspaceTrust:
    return WorkspaceTrust(environment_of({"HERMES_HOME": str(tmp_path / "home")}), RandomIds())


async def test_an_answer_is_bound_to_the_content(tmp_path: Path, place: str) -> None:
    trust, session, gate = trust_of(tmp_path), WatchedSession(), AnsweringGate("allow_workspace")
    assert await trust.introduce(session, gate, place, [SERVER])
    assert trust.is_trusted(place, SERVER)
    assert not trust.is_trusted(place, CHANGED)
    assert trust_of(tmp_path).is_trusted(place, SERVER)
    assert not await trust.introduce(session, gate, place, [SERVER])
    assert await trust.introduce(session, gate, place, [CHANGED])
    assert ["notes" in call.title for call in gate.asked] == [True, True]


async def test_a_temporary_answer_ends_with_the_process(tmp_path: Path, place: str) -> None:
    trust = trust_of(tmp_path)
    await trust.introduce(WatchedSession(), AnsweringGate("allow_once"), place, [SERVER])
    assert trust.is_trusted(place, SERVER)
    assert not trust_of(tmp_path).is_trusted(place, SERVER)


async def test_each_session_is_asked_once_about_rejected_items(tmp_path: Path, place: str) -> None:
    trust, session, gate = trust_of(tmp_path), WatchedSession(), AnsweringGate("reject_once")
    await trust.introduce(session, gate, place, [SERVER])
    await trust.introduce(session, gate, place, [SERVER])
    assert len(gate.asked) == 1
    assert not trust.is_trusted(place, SERVER)
    (ended,) = (event for event in session.ledger.seen if isinstance(event, CallEnded))
    assert ended.status == "failed"
    await trust.introduce(WatchedSession(), gate, place, [SERVER])
    assert len(gate.asked) == 2


async def test_nobody_is_asked_if_the_editor_trusts_nothing(tmp_path: Path, place: str) -> None:
    trust, session, gate = trust_of(tmp_path), WatchedSession(), AnsweringGate("allow_workspace")
    trust.set_editor_trust(place, is_trusted=False)
    await trust.introduce(session, gate, place, [SERVER])
    assert not gate.asked
    (notice,) = session.ledger.seen
    assert isinstance(notice, Noticed)
    assert "notes" in notice.text
