"""Spans and metrics as a real collector receives them from real processes."""

import json
import random
import socket
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.to_thread import run_sync

from tests.e2e.agent_process import (
    COMMAND,
    agent_environment,
    configure,
    headless_running,
    run_command,
    run_headless,
)
from tests.model_server import Fault, Reply, Rule, Script, ToolCall, serve
from tests.otlp_collector import Collector, Span, collecting
from tests.unit.telemetry.secret_samples import tokens

pytestmark = pytest.mark.anyio

EDITOR = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE, EDITOR_SPAN = EDITOR.split("-")[1:3]
CLOCK_DIFFERENCE_S = 0.005
MAX_EXIT_S = 3.0
"""A second, plus a margin for a busy machine."""
MCP_SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message:
        continue
    result = {}
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "traced", "version": "1"}}
    elif method == "tools/list":
        schema = {"type": "object", "properties": {}}
        result = {"tools": [{"name": "look", "description": "Look.", "inputSchema": schema}]}
    elif method == "tools/call":
        text = (params.get("_meta") or {}).get("traceparent", "none")
        result = {"content": [{"type": "text", "text": f"parent {text}"}]}
    elif method == "server/discover":
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"],
                          "error": {"code": -32601, "message": "Method not found"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
DELEGATE = ToolCall(
    "delegate", {"tasks": [{"title": "Look", "instructions": "look at it", "context": ""}]}, id="d"
)
LOOK = ToolCall("mcp__traced__look", {})


def exporting(home: Path, server: Any, collector: Collector, **more: str) -> dict[str, str]:
    return agent_environment(home, server, OTEL_EXPORTER_OTLP_ENDPOINT=collector.endpoint, **more)


def traced_server(home: Path) -> None:
    script = home / "traced.py"
    script.write_text(MCP_SERVER)
    configure(
        home,
        f"mcp_servers:\n  traced:\n    command: {sys.executable}\n    args: [{json.dumps(str(script))}]\n",
    )


def one(spans: list[Span]) -> Span:
    assert len(spans) == 1, [span.name for span in spans]
    return spans[0]


async def test_a_trace_covers_the_caller_turn_call_child_and_server(home: Path, workspace: Path) -> None:
    traced_server(home)
    rules = (
        Rule("look at it", (Reply("", tool_calls=(LOOK,), first_delay_s=0.05), Reply("Seen.")), "step"),
        Rule("delegate", (Reply("", tool_calls=(DELEGATE,)), Reply("All done.", first_delay_s=0.03)), "step"),
    )
    with collecting() as collector:
        async with serve(Script(rules=rules)) as server:
            done = await run_headless(
                "--allow", "mcp__traced__look", "-p", "delegate this",
                environment=exporting(home, server, collector, TRACEPARENT=EDITOR), cwd=workspace,
            )  # fmt: skip
        assert (done.code, done.output) == (0, "All done.\n"), done
        spans = collector.spans
    assert {span.trace_id for span in spans} == {TRACE}
    assert {span.service for span in spans} == {"hermes-acp"}
    outer, inner = collector.named("invoke_agent hermes-acp")
    delegated = one(collector.named("execute_tool delegate"))
    looked = one(collector.named("execute_tool mcp__traced__look"))
    assert [span.parent_id for span in (outer, delegated, inner, looked)] == [
        EDITOR_SPAN,
        outer.span_id,
        delegated.span_id,
        inner.span_id,
    ]
    assert looked.attributes["mcp.method.name"] == "tools/call"
    assert f"parent 00-{TRACE}-{looked.span_id}-01" in json.dumps([each.body for each in server.requests])
    chats = collector.named("chat scripted-large")
    assert [chat.parent_id for chat in chats] == [outer.span_id, inner.span_id, inner.span_id, outer.span_id]
    assert inner.attributes["gen_ai.conversation.id"].startswith(outer.attributes["gen_ai.conversation.id"])
    assert chats[0].attributes["gen_ai.provider.name"] == "openai"
    count = {
        name: sum(getattr(point, "count", 0) for point in found) for name, found in collector.metrics.items()
    }
    assert count["gen_ai.client.inference.duration"] == 4
    assert count["gen_ai.client.inference.time_to_first_chunk"] == 4
    assert count["gen_ai.invoke_agent.duration"] == 2
    assert count["gen_ai.execute_tool.duration"] == 2
    assert (
        sum(point.as_int for point in collector.metrics["gen_ai.client.inference.usage.input_tokens"]) == 44
    )


@pytest.mark.slow
async def test_the_model_servers_own_clock_agrees(home: Path, workspace: Path) -> None:
    """Each span encloses its request; the shortest difference shows the overhead, since others share the machine."""
    steps = [
        Reply("", tool_calls=(ToolCall("read_file", {"path": "a.py", "limit": n + 1}),)) for n in range(12)
    ]
    with collecting() as collector:
        async with serve([*steps, Reply("Done.", deltas=3, delay_s=0.02)]) as server:
            environment = exporting(home, server, collector)
            done = await run_headless("-p", "hi", environment=environment, cwd=workspace)
            served = sorted(server.served, key=lambda each: each.received_at)
    assert done.output == "Done.\n", done.errors
    chats = collector.named("chat")
    before = [each.received_at - chat.started_at for chat, each in zip(chats, served, strict=True)]
    more = [
        chat.took_s - (each.ended_at - each.received_at) for chat, each in zip(chats, served, strict=True)
    ]
    assert min(before) > -CLOCK_DIFFERENCE_S
    assert min(max(early, abs(long)) for early, long in zip(before, more, strict=True)) < CLOCK_DIFFERENCE_S


async def test_a_worker_continues_the_trace_of_the_runs_creator(home: Path, workspace: Path) -> None:
    with collecting() as collector:
        async with serve([Reply("It is 42.")]) as server:
            environment = exporting(home, server, collector, OTEL_METRICS_EXPORTER="none")
            words = ("runs", "start", "-p", "What is it?", "--id", "asked")
            started = await run_command(
                *words, environment=environment | {"TRACEPARENT": EDITOR}, cwd=workspace
            )
            assert started.code == 0, started.errors
            async with await anyio.open_process(
                [COMMAND, "worker"], env=environment, cwd=workspace
            ) as worker:
                try:
                    await run_sync(collector.wait_for, "invoke_workflow")
                finally:
                    worker.terminate()
        run, turn = one(collector.named("invoke_workflow run")), one(collector.named("invoke_agent"))
    assert (run.trace_id, run.parent_id, turn.parent_id) == (TRACE, EDITOR_SPAN, run.span_id)
    assert run.attributes["hermes.run.id"] == turn.attributes["hermes.run.id"] == "asked"
    assert not collector.metrics


async def test_two_hundred_secrets_are_in_no_export(home: Path, workspace: Path) -> None:
    """In prompts, in what tools read and return, in answers, in names, and in headers for the collector."""
    dice = random.Random(20)
    planted = list({secret for _ in range(20) for _, secret in tokens(dice)})[:198]
    own, header = f"own-{dice.getrandbits(80):x}", f"header-{dice.getrandbits(80):x}"
    (workspace / "notes.txt").write_text("\n".join(f"here {secret} there" for secret in planted[:66]))
    said = " ".join(planted[66:132])
    read = ToolCall("read_file", {"path": "notes.txt"})
    writes = ToolCall(
        "write_file", {"path": "copy.txt", "content": f"{' '.join(planted[132:])} {own} {header}"}
    )
    odd = ToolCall(planted[140], {"a": planted[141]})
    answers = (
        Reply("I look.", tool_calls=(read, writes, odd)),
        Reply(f"It says {planted[0]}, {own} and {header}."),
        Reply("", fault=Fault(status=401, message=f"Wrong key {own}, or {planted[5]}")),
    )
    assert len(planted) == 198
    with collecting() as collector:
        async with serve(answers) as server:
            environment = exporting(
                home, server, collector, EXAMPLE_API_KEY=own,
                OTEL_EXPORTER_OTLP_HEADERS=f"x-key={header},x-team=blue",
                OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="true",
            )  # fmt: skip
            for words in (f"{said} {own} {header}", "and now?"):
                await run_headless(
                    "--mode", "bypass", "--allow-bypass", "-p", words, environment=environment, cwd=workspace
                )
    exported = b"".join(collector.bodies).decode("utf-8", "replace")
    for words in ("It says", "here [secret", "I look."):
        assert words in exported
    assert [secret for secret in (*planted, own, header) if secret in exported] == []
    assert collector.headers[0]["x-key"] == header
    failed = [chat for chat in collector.named("chat") if "error.type" in chat.attributes]
    assert one(failed).attributes["error.type"] == "model_auth_failed"


async def test_contents_are_not_exported_unless_enabled(home: Path, workspace: Path) -> None:
    words = ToolCall("write_file", {"path": "a.py", "content": "pineapple"})
    with collecting() as collector:
        async with serve([Reply("A walnut.", tool_calls=(words,)), Reply("A cherry.")]) as server:
            environment = exporting(home, server, collector)
            done = await run_headless(
                "--allow", "write", "-p", "An apricot?", environment=environment, cwd=workspace
            )
    assert done.code == 0, done.errors
    assert collector.named("execute_tool write_file")
    exported = b"".join(collector.bodies).decode("utf-8", "replace")
    assert not [word for word in ("apricot", "walnut", "pineapple", "cherry", "a.py") if word in exported]


async def test_a_collector_that_never_answers_delays_nothing(home: Path, workspace: Path) -> None:
    """The library itself would wait half a minute for it."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as deaf:
        endpoint = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        async with serve([Reply("Done.")]) as server:
            environment = agent_environment(home, server, OTEL_EXPORTER_OTLP_ENDPOINT=endpoint)
            async with headless_running("-p", "hi", environment=environment, cwd=workspace) as running:
                await running.wait_for_output(b"Done.")
                answered_at = time.monotonic()
                finished = await running.finish()
                took_s = time.monotonic() - answered_at
    assert (finished.code, finished.output) == (0, "Done.\n"), finished.errors
    assert took_s < MAX_EXIT_S


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, ""),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "not a url"}, ""),
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "Telemetry: OTEL_TRACES_EXPORTER names 'zipkin'"),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "Telemetry: OTEL_EXPORTER_OTLP_PROTOCOL is 'grpc'.",
        ),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_BSP_MAX_QUEUE_SIZE": "-1"}, "Telemetry is off: "),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"}, ""),
    ],
)  # fmt: skip
async def test_invalid_variables_are_reported_and_affect_no_turn(
    home: Path, workspace: Path, variables: dict[str, str], told: str
) -> None:
    async with serve([Reply("One.", first_delay_s=1.5 if told.endswith("off: ") else 0.0)]) as server:
        environment = agent_environment(home, server, **variables)
        done = await run_headless("-p", "hi", environment=environment, cwd=workspace)
    assert (done.code, done.output) == (0, "One.\n")
    assert told in done.errors
    assert "Traceback" not in done.errors


@pytest.mark.slow
async def test_a_past_session_is_exported_from_its_record_like_a_live_one(
    home: Path, workspace: Path
) -> None:
    rules = (
        Rule("look at it", (Reply("Seen."),), "step"),
        Rule("delegate", (Reply("", tool_calls=(DELEGATE,)), Reply("All done.")), "step"),
    )
    with collecting() as collector:
        async with serve(Script(rules=rules)) as server:
            silent = agent_environment(home, server)
            await run_headless("-p", "delegate this", environment=silent, cwd=workspace)
            environment = exporting(home, server, collector)
            await run_headless(
                "--continue", "-p", "delegate this too", environment=environment, cwd=workspace
            )
            live = {span.span_id: (span.name, span.trace_id, span.parent_id) for span in collector.spans}
            collector.spans.clear()
            (record,) = (home / ".hermes" / "sessions").glob("*.jsonl")
            words = ("sessions", "export-traces", record.stem)
            done = await run_command(*words, environment=environment, cwd=workspace)
            unreachable = environment | {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
            unsent = await run_command(
                *words, environment=unreachable | {"OTEL_EXPORTER_OTLP_TIMEOUT": "1"}, cwd=workspace
            )
            unset = await run_command(*words, environment=silent, cwd=workspace)
    assert (done.code, done.output) == (0, f"{record.stem}: 12 spans sent.\n"), done.errors
    again = {span.span_id: (span.name, span.trace_id, span.parent_id) for span in collector.spans}
    assert len(live) == 6
    assert {span_id: again[span_id] for span_id in live} == live
    assert len({trace for _, trace, _ in again.values()}) == 2
    assert sorted(name for name, _, parent in again.values() if not parent) == 2 * ["invoke_agent hermes-acp"]
    assert unsent.code == unset.code == 2
    assert "The collector did not accept the spans: " in unsent.errors
    assert "Set OTEL_EXPORTER_OTLP_ENDPOINT" in unset.errors
