"""A real backend receives the traces of real sessions, and returns them through its own API."""

import json
import random
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.agent_process import agent_environment, run_command, run_headless
from tests.e2e.phoenix_server import COMMAND, PROJECT, Phoenix, StoredSpan, phoenix
from tests.model_server import Fault, ModelServer, Reply, Rule, Script, ToolCall, serve
from tests.unit.telemetry.secret_samples import tokens

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

EDITOR = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE, EDITOR_SPAN = EDITOR.split("-")[1:3]
DELEGATE = ToolCall(
    "delegate", {"tasks": [{"title": "Look", "instructions": "look at it", "context": ""}]}, id="d"
)
INPUT, OUTPUT = "llm.input_messages", "llm.output_messages"


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory, require_all: bool) -> Generator[Phoenix]:
    if not COMMAND.is_file():
        assert not require_all, "Arize Phoenix is not installed: tests/install.sh all"
        pytest.skip("needs Arize Phoenix: run tests/install.sh all")
    with phoenix(tmp_path_factory.mktemp("phoenix")) as running:
        yield running


def exporting(home: Path, server: ModelServer, backend: Phoenix, project: str, **more: str) -> dict[str, str]:
    return agent_environment(
        home, server, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=backend.endpoint, OTEL_METRICS_EXPORTER="none",
        OTEL_RESOURCE_ATTRIBUTES=f"{PROJECT}={project}", **more,
    )  # fmt: skip


async def export_again(home: Path, environment: dict[str, str], cwd: Path) -> None:
    """Send what the process had no time to send before it ended; what arrived already must not appear twice."""
    for record in (home / ".hermes" / "sessions").glob("ses_????????????????.jsonl"):
        done = await run_command("sessions", "export-traces", record.stem, environment=environment, cwd=cwd)
        assert done.code == 0, done.errors


def texts(span: StoredSpan, which: str) -> list[str]:
    """Return the texts of messages that Phoenix found in a span, in their order."""
    numbers = range(sum(name.startswith(which) and name.endswith("message.role") for name in span.attributes))
    return [span.attributes.get(f"{which}.{number}.message.content", "") for number in numbers]


def one(spans: list[StoredSpan], **wanted: Any) -> StoredSpan:
    found = [span for span in spans if all(getattr(span, name) == value for name, value in wanted.items())]
    assert len(found) == 1, found
    return found[0]


async def test_a_trace_is_stored_as_it_was_sent_and_without_contents(
    backend: Phoenix, home: Path, workspace: Path
) -> None:
    looks = (ToolCall("read_file", {"path": "a.py"}), ToolCall("read_file", {"path": "pineapple.py"}))
    rules = (
        Rule("look at it", (Reply("A walnut.", tool_calls=looks), Reply("Seen.")), "step"),
        Rule("delegate", (Reply("", tool_calls=(DELEGATE,)), Reply("A cherry.")), "step"),
    )
    async with serve(Script(rules=rules)) as server:
        environment = exporting(home, server, backend, "quiet")
        done = await run_headless(
            "-p", "delegate an apricot", environment=environment | {"TRACEPARENT": EDITOR}, cwd=workspace
        )
        assert (done.code, done.output) == (0, "A cherry.\n"), done.errors
        await export_again(home, environment, workspace)
    spans = await backend.spans_once("quiet", 9)
    assert Counter((span.name, span.kind) for span in spans) == {
        ("invoke_agent hermes-acp", "AGENT"): 2,
        ("chat scripted-large", "LLM"): 4,
        ("execute_tool delegate", "TOOL"): 1,
        ("execute_tool read_file", "TOOL"): 2,
    }
    outer = one(spans, name="invoke_agent hermes-acp", parent_id=EDITOR_SPAN)
    delegated = one(spans, name="execute_tool delegate", parent_id=outer.span_id)
    inner = one(spans, name="invoke_agent hermes-acp", parent_id=delegated.span_id)
    parents = Counter(span.parent_id for span in spans)
    assert parents == {EDITOR_SPAN: 1, outer.span_id: 3, delegated.span_id: 1, inner.span_id: 4}
    read, failed = (span for span in spans if span.name == "execute_tool read_file")
    assert (read.status, failed.status, outer.status) == ("UNSET", "ERROR", "UNSET")
    assert failed.attributes["error.type"] == "failed"
    assert read.attributes["tool.name"] == "read_file"
    chats = [span for span in spans if span.kind == "LLM"]
    assert {span.attributes["llm.model_name"] for span in chats} == {"scripted-large"}
    (trace,) = backend.listed("quiet", "traces")
    assert trace["trace_id"] == TRACE
    assert (trace["token_count_prompt"], trace["token_count_completion"]) == (
        sum(span.attributes["llm.token_count.prompt"] for span in chats),
        sum(span.attributes["llm.token_count.completion"] for span in chats),
    )
    assert trace["token_count_prompt"] > 0
    stored = json.dumps([span.attributes for span in spans]).encode() + backend.stored()
    assert b"scripted-large" in stored
    assert not [word for word in (b"apricot", b"walnut", b"pineapple", b"cherry", b"a.py") if word in stored]


async def test_contents_are_exported_only_if_enabled_and_never_with_secrets(
    backend: Phoenix, home: Path, workspace: Path
) -> None:
    planted = sorted({secret for _, secret in tokens(random.Random(20))})
    (workspace / "notes.txt").write_text(f"pear {planted[0]} end\n" + "\n".join(planted))
    looks = (ToolCall("read_file", {"path": "notes.txt"}), ToolCall("read_file", {"path": planted[1]}))
    answers = (
        Reply(f"I look for {planted[2]}.", tool_calls=looks),
        Reply(f"It says {planted[3]}."),
        Reply("", fault=Fault(status=401, message=f"Wrong key {planted[4]}")),
    )
    async with serve(answers) as server:
        environment = exporting(
            home, server, backend, "open", OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="true"
        )
        done = await run_headless(
            "-p", f"A plum: {' '.join(planted)}", environment=environment, cwd=workspace
        )
        assert done.code == 0, done.errors
        await run_headless("--continue", "-p", "And now?", environment=environment, cwd=workspace)
        await export_again(home, environment, workspace)
    spans = await backend.spans_once("open", 7)
    assert Counter(span.kind for span in spans) == {"AGENT": 2, "LLM": 3, "TOOL": 2}
    first, failed_turn = (span for span in spans if span.kind == "AGENT")
    asked, answered, refused = (span for span in spans if span.kind == "LLM")
    assert texts(asked, INPUT)[0].startswith("A plum: ")
    assert texts(asked, OUTPUT)[0].startswith("I look for ")
    assert asked.attributes[f"{OUTPUT}.0.message.tool_calls.0.tool_call.function.name"] == "read_file"
    assert texts(answered, INPUT)[0] == texts(asked, INPUT)[0]
    assert any("pear" in text for text in texts(answered, INPUT))
    assert texts(answered, OUTPUT) == texts(first, OUTPUT)
    assert texts(first, INPUT)[1].startswith("A plum: ")
    assert texts(refused, INPUT)[-1] == "And now?"
    assert (refused.status, refused.attributes["error.type"]) == ("ERROR", "model_auth_failed")
    assert failed_turn.status == "ERROR"
    read = one(spans, kind="TOOL", status="UNSET")
    assert read.attributes["tool.parameters.path"] == "notes.txt"
    assert "pear" in read.attributes["output.value"]
    (session,) = backend.listed("open", "sessions")
    assert len(session["traces"]) == 2
    stored = json.dumps([span.attributes for span in spans]).encode() + backend.stored()
    assert b"A plum" in stored
    assert [secret for secret in planted if secret.encode() in stored] == []
