"""Attacks on the wire itself: bytes, numbers, IDs and names that no valid editor sends."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.attack_checks import AttackedAgent, attacked_agent
from tests.e2e.agent_process import agent_environment
from tests.e2e.raw_editor import Message, editor, prompt_params
from tests.model_server import serve

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX")]

WRONG_FRAME = (-32700, -32600)


def is_error(message: Message) -> bool:
    return "error" in message


async def refused(siege: AttackedAgent, frame: bytes) -> Message:
    """Send a line that must get an error; return the error once the next line has been answered too."""
    seen = len(siege.agent.messages)
    await siege.agent.send_bytes(frame + b"\n")
    error = await siege.agent.wait_for(is_error, behind=seen)
    reply = await siege.agent.call("session/list", {})
    assert "result" in reply, frame[:80]
    return error


def listing(call_id: str = "1", more: str = "") -> bytes:
    """Return a valid request; `more` is added to its parameters."""
    return f'{{"jsonrpc":"2.0","id":{call_id},"method":"session/list","params":{{{more}}}}}'.encode()


async def test_e01_every_method_before_initialize(tmp_path: Path) -> None:
    methods = (
        "session/prompt",
        "session/load",
        "session/list",
        "session/set_mode",
        "session/close",
        "authenticate",
    )
    async with (
        serve([]) as server,
        editor(agent_environment(tmp_path, server), tmp_path, greeting=None) as one,
    ):
        for method in methods:
            reply = await one.call(method, prompt_params("ses_x", "hi"))
            assert reply["error"]["code"] == -32600, (method, reply)
        await one.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "ses_x"}})
        reply = await one.call("initialize", {"protocolVersion": 1})
        assert reply["result"]["protocolVersion"] == 1
        assert await one.open_session(tmp_path)
        assert await one.leave() == 0
        assert one.errors == ""


async def test_e02_e03_lines_that_are_neither_text_nor_a_message(tmp_path: Path) -> None:
    frames = [
        *(
            b'""',
            b"true",
            b"NaN",
            b"{]",
            b"{'a':1}",
            b'{"jsonrpc":"2.0"',
            b"\0",
            b"\0" * 5000,
            b"\xc0\xaf\xed\xa0\x80",
        ),
        b'{"jsonrpc":2.0,"id":1,"method":"session/list","params":{}}',
        b'{"id":1,"method":"session/list","params":{}}',
        b'{"jsonrpc":"2.0","id":1,"method":7,"params":{}}',
        b'{"jsonrpc":"2.0","id":1,"method":"session/list","params":"x"}',
        b'{"jsonrpc":"2.0","id":1}',
        listing().replace(b"{}", b'{"a":"\xff"}'),
        listing().decode().encode("utf-16"),
        listing().decode().encode("utf-16-le"),
        listing()[:-1],
        listing() + b"}",
        listing() + listing(),
        b"Content-Length: 20",
    ]
    async with attacked_agent(tmp_path) as siege:
        for frame in frames:
            error = await refused(siege, frame)
            assert error["error"]["code"] in WRONG_FRAME, (frame[:80], error)


async def test_e03_unusual_text_that_is_valid(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        texts = (r"\ud800", r"a\udc00b", "\u2028\u2029", r"\u0000", r"\ufeff", "\u202e\u200b", r"\r\n\r")
        for number, text in enumerate(texts):
            params = json.dumps(prompt_params(session_id, "@@")).replace("@@", f"odd {text} text")
            frame = f'{{"jsonrpc":"2.0","id":"odd-{number}","method":"session/prompt","params":{params}}}\r\n'
            await siege.agent.send_bytes(frame.encode())
            reply = await siege.agent.wait_for(lambda m, n=number: m.get("id") == f"odd-{n}")
            assert reply.get("result") == {"stopReason": "end_turn"}, (text, reply)
        await siege.agent.send_bytes(b"\xef\xbb\xbf" + listing('"marked"') + b"\n")
        reply = await siege.agent.wait_for(lambda m: m.get("id") == "marked" or is_error(m))
        assert "result" in reply or reply["error"]["code"] in WRONG_FRAME
        # A carriage return alone does not end a line: both halves are one frame, up to the newline after it.
        error = await refused(siege, listing('"first"') + b"\r" + listing('"second"'))
        assert error["error"]["code"] in WRONG_FRAME


async def test_e05_endless_depth_breadth_and_numbers(tmp_path: Path) -> None:
    deep_in_known_place = '"_meta":' + '{"a":' * 1_000 + "1" + "}" * 1_000
    keys = '"_meta":{' + ",".join(f'"k{number}":0' for number in range(300_000)) + "}"
    cases = {
        "deep": deep_in_known_place,
        "broad": keys,
        "twice": '"cursor":null,"cursor":null,"_meta":{},"_meta":{}',
        "long": '"_meta":{"a":1' + "0" * 5_000 + "}",
        "huge": '"_meta":{"a":1e999999}',
        "tiny": '"_meta":{"a":-1e-999999}',
        "long_key": '"_meta":{"' + "k" * 1_000_000 + '":0}',
    }
    async with attacked_agent(tmp_path) as siege:
        for name, more in cases.items():
            seen = len(siege.agent.messages)
            await siege.agent.send_bytes(listing(f'"{name}"', more) + b"\n")
            reply = await siege.agent.wait_for(lambda m, n=name: m.get("id") == n or is_error(m), behind=seen)
            assert "result" in reply or reply["error"]["code"] in (*WRONG_FRAME, -32602), (name, reply)
        for number in ("NaN", "Infinity", "-", "01", "1.", "0x10"):
            error = await refused(siege, listing('"n"', f'"_meta":{{"a":{number}}}'))
            assert error["error"]["code"] == -32700, number
        for number in ("1" + "0" * 400, "1e999999", "-1", "2.5", "9223372036854775808", '"1"', "null"):
            params = f'{{"protocolVersion":{number}}}'
            frame = f'{{"jsonrpc":"2.0","id":"v","method":"initialize","params":{params}}}'
            error = await refused(siege, frame.encode())
            assert error["error"]["code"] in (*WRONG_FRAME, -32602), number


async def test_e06_ids_of_every_kind(tmp_path: Path) -> None:
    echoed = (
        0,
        -1,
        7,
        2**53 + 1,
        -(2**63),
        "",
        " ",
        "a\nb",
        "\u2028",
        "ß" * 3,
        "x" * 1_000_000,
        "1",
        1,
        10**400,
    )
    async with attacked_agent(tmp_path) as siege:
        for call_id in echoed:
            seen = len(siege.agent.messages)
            await siege.agent.send({"jsonrpc": "2.0", "id": call_id, "method": "session/list", "params": {}})
            reply = await siege.agent.wait_for(lambda m: "method" not in m, behind=seen)
            assert "result" in reply
            assert (type(reply["id"]), reply["id"]) == (type(call_id), call_id)
        for call_id in ("null", "1.5", "true", "{}", "[1]", "1e2", "1" + "0" * 5_000):
            error = await refused(siege, listing(call_id))
            assert error["error"]["code"] == -32600, call_id


async def test_e06_replies_nobody_waits_for(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        agent = siege.agent
        seen = len(agent.messages)
        for call_id in (1, 999_999, "nobody", -5, None):
            await agent.send(
                {"jsonrpc": "2.0", "id": call_id, "result": {"outcome": {"outcome": "cancelled"}}}
            )
            await agent.send({"jsonrpc": "2.0", "id": call_id, "error": {"code": -1, "message": "no"}})
        await agent.call("session/list", {})
        assert not [message for message in agent.messages[seen:] if "error" in message]
        error = await refused(siege, b'{"jsonrpc":"2.0","id":4,"result":{},"error":{"code":1,"message":"x"}}')
        assert error["error"]["code"] == -32600
        error = await refused(siege, b"[" + listing("1") + b"," + listing("2") + b"]")
        assert (error["error"]["code"], error["id"]) == (-32600, None)


async def test_e06_one_id_twice_in_flight(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path, answers={}) as siege:
        agent = siege.agent
        session_id = await agent.open_session(siege.workspace)
        await agent.begin("session/prompt", prompt_params(session_id, "first"), "twin")
        await agent.begin("session/prompt", prompt_params(session_id, "second"), "twin")
        first = await agent.wait_for(lambda m: m.get("id") == "twin" and "result" in m)
        assert first["result"] == {"stopReason": "end_turn"}
        # Its answer has arrived by now: either may come first, but both are answered.
        replies = [message for message in agent.messages if message.get("id") == "twin"]
        assert len(replies) == 2
        (error,) = [reply for reply in replies if "error" in reply]
        assert error["error"]["code"] == -32600


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "..",
        "a/b",
        "/etc/passwd",
        "a\0b",
        "ses_\n",
        "s\u0435s",
        "%2e%2e%2fx",
        "x" * 200,
        "~",
        "CON",
        "*",
    ],
)
def test_e13_no_id_in_this_list_is_a_session_id(name: str) -> None:
    from hermes_acp.storage.session_store import SESSION_ID

    assert name == "CON" or not SESSION_ID.fullmatch(name)


async def test_e13_ids_that_are_paths_and_folders_with_unusual_names(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        agent = siege.agent
        sound = await agent.open_session(siege.workspace)
        await siege.check_prompt(sound)
        planted = tmp_path / ".hermes" / "planted.jsonl"
        planted.write_bytes((tmp_path / ".hermes" / "sessions" / f"{sound}.jsonl").read_bytes())
        names = (
            *("../planted", f"./{sound}", f"sub/../{sound}", f"{sound}/", f"{sound}\0", f"{sound}\n"),
            *(str(planted)[:-6], "..", f"{sound}.jsonl", f"{sound[:-1]}*", "x" * 100_000, "\ud800"),
        )
        here: dict[str, Any] = {"cwd": str(siege.workspace), "mcpServers": []}
        for name in names:
            for method in (
                "session/load",
                "session/resume",
                "session/close",
                "session/prompt",
                "session/delete",
            ):
                params = {"sessionId": name, "prompt": [{"type": "text", "text": "x"}], **here}
                reply = await agent.call(method, params)
                if method == "session/delete":  # An unknown one is not an error.
                    continue
                assert reply.get("error", {}).get("code") == -32002, (method, name[:80], reply)
        assert planted.is_file()
        for name in ("Grüße 日本", "a b 'c' \"d\" $(touch x)", "\u202etxt", "line\nbreak", "-rf", "ﬁ\u0301"):
            folder = siege.workspace / name
            folder.mkdir()
            session_id = await agent.open_session(folder)
            end = await siege.call("terminal", {"command": "pwd; touch here"}, session_id)
            assert end["status"] == "completed", end
            assert (folder / "here").exists()
            listed = (await agent.call("session/list", {"cwd": str(folder)}))["result"]["sessions"]
            assert [each["sessionId"] for each in listed] == [session_id]
