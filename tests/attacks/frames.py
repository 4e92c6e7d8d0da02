"""Frames that several attacks send or wait for."""

from __future__ import annotations

import json

from tests.e2e.raw_editor import Message, RawEditor


def cancel_frame(session_id: object) -> bytes:
    """Return a cancel notification for this session ID, whatever it is."""
    frame = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session_id}}
    return json.dumps(frame).encode() + b"\n"


def is_question(message: Message) -> bool:
    """Return whether the agent has requested permission."""
    return message.get("method") == "session/request_permission"


async def reply_to(agent: RawEditor, call_id: object) -> Message:
    """Wait for the reply to a request that was sent."""
    return await agent.wait_for(lambda m: "method" not in m and m.get("id") == call_id)
