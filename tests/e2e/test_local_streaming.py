"""A whole turn with the embedded model: its text reaches the editor while it is still generating."""

import sys
from pathlib import Path

import anyio
import pytest

from examples.demo.local_model import (
    LocalModelFiles,
    find_local_model,
    list_missing_packages,
    local_model_server,
)
from tests.e2e.agent_process import agent_environment, configure
from tests.e2e.raw_editor import editor

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="the command is POSIX"),
]

MAX_TURN_S = 120


@pytest.fixture
def local_model(require_all: bool) -> LocalModelFiles:
    """Return the installed model's files; if there are none, skip the test, or fail it if nothing may be skipped."""
    if files := find_local_model():
        return files
    complaint = f"the local model is not installed: {', '.join(list_missing_packages()) or 'no GGUF file'}"
    if require_all:
        pytest.fail(complaint)
    pytest.skip(complaint)


async def test_an_answer_streams(local_model: LocalModelFiles, tmp_path: Path) -> None:
    configure(tmp_path, "max_output_tokens: 48\n")
    with anyio.fail_after(MAX_TURN_S):
        async with local_model_server(local_model) as model:
            environment = agent_environment(
                tmp_path,
                OPENAI_BASE_URL=model.base_url,
                OPENAI_API_KEY=model.api_key,
                HERMES_MODEL=model.model_id,
            )
            async with editor(environment, tmp_path) as one:
                session_id = await one.open_session(tmp_path)
                reply = await one.prompt(session_id, "Write one long sentence about a river.")
                assert reply.get("result", {}).get("stopReason") in ("end_turn", "max_tokens"), reply
                chunks = one.updates("agent_message_chunk")
                assert len(chunks) >= 5, chunks
                assert len({chunk["messageId"] for chunk in chunks}) == 1
                assert one.said().strip()
                assert await one.leave() == 0
                assert one.errors == ""
