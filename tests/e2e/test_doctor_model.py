"""Findings of `hermes-acp doctor` about the model, for a user whose first prompt failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.agent_process import agent_environment, configure, run_command
from tests.model_server import Fault, Reply, serve

pytestmark = pytest.mark.anyio


async def test_a_missing_model_is_named_with_the_next_step(tmp_path: Path) -> None:
    done = await run_command("doctor", environment=agent_environment(tmp_path), cwd=tmp_path)
    assert done.code == 0, done.errors
    assert "note     No model is set up" in done.output
    assert "`hermes-acp setup`" in done.output


async def test_a_model_is_named_and_nothing_is_contacted_unless_requested(tmp_path: Path) -> None:
    async with serve([]) as server:
        done = await run_command("doctor", environment=agent_environment(tmp_path, server), cwd=tmp_path)
        assert server.requests == []
    assert done.code == 0
    assert f"ok       The model is scripted-large at {server.openai_base_url}." in done.output
    assert "`hermes-acp doctor --online` tries it." in done.output
    assert "sk-test" not in done.output + done.errors


async def test_online_makes_one_call(tmp_path: Path) -> None:
    async with serve([Reply("OK.")]) as server:
        environment = agent_environment(tmp_path, server)
        done = await run_command("doctor", "--online", environment=environment, cwd=tmp_path)
        assert len(server.requests) == 1
    assert done.code == 0, done.output
    assert f"scripted-large at {server.openai_base_url} answered in " in done.output


async def test_online_names_a_dead_endpoint(tmp_path: Path) -> None:
    async with serve([]) as server:
        address = server.openai_base_url
    configure(
        tmp_path,
        f"provider: openai_compatible\nmodel: gone\nproviders: {{openai_compatible: {{base_url: '{address}'}}}}\n",
    )
    done = await run_command("doctor", "--online", environment=agent_environment(tmp_path), cwd=tmp_path)
    assert done.code == 4
    assert "PROBLEM  A call to gone failed: " in done.output
    assert "127.0.0.1" in done.output


async def test_online_names_an_unknown_model_and_the_available_ones(tmp_path: Path) -> None:
    unknown = Reply(fault=Fault(status=404, message="The model scripted-lrage does not exist."))
    async with serve([unknown]) as server:
        environment = agent_environment(tmp_path, server, HERMES_MODEL="scripted-lrage")
        done = await run_command("doctor", "--online", environment=environment, cwd=tmp_path)
    assert done.code == 4
    assert f"{server.openai_base_url} does not list the model scripted-lrage" in done.output
    assert "It lists scripted-large" in done.output
    assert "does not exist." in done.output


async def test_online_names_a_rejected_key(tmp_path: Path) -> None:
    async with serve([Reply(fault=Fault(status=401, message="This key was revoked."))]) as server:
        environment = agent_environment(tmp_path, server)
        done = await run_command("doctor", "--online", environment=environment, cwd=tmp_path)
    assert done.code == 4
    assert "A call to scripted-large failed: " in done.output
    assert "This key was revoked." in done.output
