"""The bundled Python client without a process: answers to the agent, turns, updates in order."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import anyio
import anyio.lowlevel
import msgspec
import pytest
from hermes_acp_client.answers import TERMINAL_METHODS, capabilities_of, option_of, outcome_of, refuse
from hermes_acp_client.asking import Chosen, Permission, answer_permission, option_named
from hermes_acp_client.errors import (
    AgentError,
    AgentGone,
    AgentRefused,
    AgentSilent,
    NoSuchThing,
    NotOffered,
    SignInNeeded,
    refusal,
)
from hermes_acp_client.files import serve_files
from hermes_acp_client.session import Session, UpdateQueue
from msgspec import Raw

from hermes_protocol import v1
from hermes_protocol.errors import PeerError

T = TypeVar("T")
REQUEST: dict[str, Any] = {
    "options": [
        {"optionId": "a", "name": "Allow", "kind": "allow_once"},
        {"optionId": "r", "name": "Reject", "kind": "reject_once"},
    ]
}


class Script:
    """A connection that answers the prompt when told to."""

    def __init__(self, outcome: v1.StopReason | AgentError = "end_turn") -> None:
        self.outcome: v1.StopReason | AgentError = outcome
        self.answer_now = anyio.Event()
        self.called: list[str] = []
        self.notified: list[str] = []

    async def call(self, method: str, params: object, result: type[T], timeout_s: float | None = None) -> T:
        self.called.append(method)
        await self.answer_now.wait()
        if isinstance(self.outcome, AgentError):
            raise self.outcome
        return cast("T", v1.PromptResponse(stop_reason=self.outcome))

    def notify(self, method: str, params: object) -> None:
        self.notified.append(method)
        self.outcome = "cancelled" if not isinstance(self.outcome, AgentError) else self.outcome
        self.answer_now.set()


def chunk(text: str) -> v1.AgentMessageChunk:
    return v1.AgentMessageChunk(content=v1.TextContent(text=text))


def texts(updates: Sequence[v1.SessionUpdate]) -> list[str]:
    found = [update.content for update in updates if isinstance(update, v1.AgentMessageChunk)]
    return [content.text for content in found if isinstance(content, v1.TextContent)]


async def read_turn(session: Session) -> None:
    async with session.prompt("go") as turn:
        async for _ in turn:
            pass


def open_session(script: Script) -> tuple[Session, UpdateQueue]:
    queue = UpdateQueue()
    return Session(script, "s", queue, None), queue


def test_a_terminal_needs_all_of_its_methods() -> None:
    assert capabilities_of(TERMINAL_METHODS)["terminal"] is True
    assert capabilities_of(list(TERMINAL_METHODS)[:4])["terminal"] is False


def test_file_access_is_announced_as_it_is_served() -> None:
    assert capabilities_of(["fs/read_text_file"])["fs"] == {"readTextFile": True, "writeTextFile": False}


def test_a_chosen_option_is_selected() -> None:
    assert outcome_of(REQUEST, "a") == {"outcome": {"outcome": "selected", "optionId": "a"}}


@pytest.mark.parametrize("chosen", [None, "made-up"])
def test_an_option_that_was_not_offered_is_not_an_approval(chosen: str | None) -> None:
    assert outcome_of(REQUEST, chosen) == {"outcome": {"outcome": "cancelled"}}


def test_without_anybody_to_ask_the_request_is_rejected() -> None:
    assert refuse(REQUEST) == "r"
    assert refuse({"options": [REQUEST["options"][0]]}) is None
    assert option_of(REQUEST, "allow_always") is None


@pytest.mark.anyio
async def test_a_turn_yields_its_updates_in_order_and_then_its_stop_reason() -> None:
    script = Script()
    session, queue = open_session(script)
    queue.put(chunk("one"))
    seen: list[v1.SessionUpdate] = []
    with anyio.fail_after(60):
        async with session.prompt("go") as turn:
            async for update in turn:
                seen.append(update)
                if len(seen) == 1:
                    queue.put(chunk("two"))
                    queue.put(chunk("three"))
                    script.answer_now.set()
    assert texts(seen) == ["one", "two", "three"]
    assert turn.stop_reason == "end_turn"
    assert script.called == ["session/prompt"]


@pytest.mark.anyio
async def test_a_stop_reason_does_not_exist_before_the_end() -> None:
    script = Script()
    session, _ = open_session(script)
    with anyio.fail_after(60):
        async with session.prompt("go") as turn:
            with pytest.raises(RuntimeError):
                _ = turn.stop_reason


@pytest.mark.anyio
async def test_leaving_a_turn_cancels_it_and_waits_for_its_end() -> None:
    script = Script()
    session, _ = open_session(script)
    with anyio.fail_after(60):
        async with session.prompt("go") as turn:
            await anyio.lowlevel.checkpoint()
    assert script.notified == ["session/cancel"]
    assert turn.stop_reason == "cancelled"


@pytest.mark.anyio
async def test_a_turn_left_at_once_sends_its_prompt_before_cancelling() -> None:
    script = Script()
    session, queue = open_session(script)
    queue.put(chunk("left over from before"))
    with anyio.fail_after(60):
        async with session.prompt("go") as turn:
            async for _ in turn:
                break
            assert script.called == ["session/prompt"]
    assert script.notified == ["session/cancel"]
    assert turn.stop_reason == "cancelled"


@pytest.mark.anyio
@pytest.mark.parametrize("error", [AgentRefused("session/prompt", -32000, "no model"), AgentGone("it ended")])
async def test_a_failed_prompt_raises_its_error(error: AgentError) -> None:
    script = Script(error)
    script.answer_now.set()
    session, _ = open_session(script)
    with anyio.fail_after(60), pytest.raises(type(error)) as raised:
        await read_turn(session)
    assert raised.value is error


@pytest.mark.anyio
async def test_a_turn_that_times_out_is_cancelled() -> None:
    script = Script(AgentSilent("session/prompt", 1))
    script.answer_now.set()
    session, _ = open_session(script)
    with anyio.fail_after(60), pytest.raises(AgentSilent):
        await read_turn(session)
    assert script.notified == ["session/cancel"]


@pytest.mark.anyio
async def test_an_exception_from_the_caller_is_raised_unchanged() -> None:
    session, _ = open_session(Script())
    with anyio.fail_after(60), pytest.raises(KeyError):
        async with session.prompt("go"):
            raise KeyError("mine")


def test_updates_outside_a_turn_wait_to_be_read() -> None:
    session, queue = open_session(Script())
    queue.put(chunk("replayed"))
    assert texts(session.take_updates()) == ["replayed"]
    assert session.take_updates() == []


@pytest.mark.parametrize(
    ("code", "kind"),
    [(-32000, SignInNeeded), (-32002, NoSuchThing), (-32601, NotOffered), (-1, AgentRefused)],
)
def test_a_refusal_is_named_by_its_code(code: int, kind: type[AgentRefused]) -> None:
    error = refusal("m", code, "no", {"code": "why"})
    assert type(error) is kind
    assert (error.message, error.reason) == ("no", "why")


def test_people_see_only_the_reason_and_developers_the_call_too() -> None:
    error = refusal("session/load", -32603, "The record is damaged.")
    assert error.sentence == "The record is damaged."
    assert str(error) == "session/load was refused: The record is damaged. (-32603)"
    assert AgentGone("The agent ended.").sentence == "The agent ended."


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("chosen", "reply"),
    [
        ("a", {"outcome": {"outcome": "selected", "optionId": "a"}}),
        ("made-up", {"outcome": {"outcome": "cancelled"}}),
        (None, {"outcome": {"outcome": "cancelled"}}),
        (
            Permission("r", comment="no", edits={"/f": "x"}, rejected={"/f": ("-y",)}),
            {
                "outcome": {"outcome": "selected", "optionId": "r"},
                "_meta": {
                    "hermes": {
                        "comment": "no",
                        "edits": [{"path": "/f", "newText": "x", "rejected": ["-y"]}],
                    }
                },
            },
        ),
    ],
)
async def test_an_answer_is_sent_in_the_agents_format(chosen: Chosen, reply: dict[str, Any]) -> None:
    async def ask(request: v1.RequestPermissionRequest) -> Chosen:
        assert option_named(request, "allow_once") == "a"
        return chosen

    params = Raw(msgspec.json.encode({**REQUEST, "sessionId": "s", "toolCall": {"toolCallId": "c"}}))
    answer = await answer_permission(params, ask)
    assert msgspec.to_builtins(answer) == reply


@pytest.mark.anyio
async def test_without_anybody_to_ask_the_answer_is_no() -> None:
    params = Raw(msgspec.json.encode({**REQUEST, "sessionId": "s", "toolCall": {"toolCallId": "c"}}))
    answer = await answer_permission(params, None)
    assert msgspec.to_builtins(answer) == {"outcome": {"outcome": "selected", "optionId": "r"}}


@pytest.mark.anyio
async def test_a_session_can_be_followed() -> None:
    session, queue = open_session(Script())
    queue.put(chunk("one"))
    seen: list[v1.SessionUpdate] = []
    with anyio.fail_after(60):
        async for update in session.follow():
            seen.append(update)
            if len(seen) == 2:
                break
            queue.put(chunk("two"))
    assert texts(seen) == ["one", "two"]


@pytest.mark.anyio
async def test_only_files_below_their_folder_are_served(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out.txt").write_text("secret")
    (tmp_path / "in" / "a.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "in" / "link.txt").symlink_to(tmp_path / "out.txt")
    served = serve_files(str(tmp_path / "in"))
    read, write = served["fs/read_text_file"], served["fs/write_text_file"]
    path = str(tmp_path / "in" / "a.txt")
    assert await read({"path": path, "line": 2, "limit": 1}) == {"content": "two\n"}
    await write({"path": path, "content": "new"})
    assert await read({"path": path}) == {"content": "new"}
    for outside in (tmp_path / "out.txt", tmp_path / "in" / "link.txt", tmp_path / "in" / ".." / "out.txt"):
        with pytest.raises(PeerError):
            await read({"path": str(outside)})
