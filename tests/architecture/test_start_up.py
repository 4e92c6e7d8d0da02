"""Imports at start-up: what may be imported before `initialize` is answered, and what the protocol needs."""

import subprocess
import sys

import pytest

from tests.architecture.sources import ROOT

HEAVY = (
    "pydantic", "openai", "anthropic", "mcp", "pygls", "git", "httpx2", "yaml", "sqlite3", "watchfiles", "anyio",
    "asyncio", "ssl", "logging", "dataclasses", "hashlib",
)  # fmt: skip
GREETING = """
import sys
import hermes_acp.__main__
import hermes_acp.frontends.acp.stdio_server
import hermes_acp.frontends.acp.fast_handshake
print(" ".join(sorted(sys.modules)))
"""


CONVERSATION = """
import sys, tempfile
from pathlib import Path
import anyio
from tests.conversations.app_scene import Scene
from tests.conversations.scripted_provider import step
async def converse():
    with tempfile.TemporaryDirectory() as place:
        scene = Scene(Path(place).resolve())
        scene.provider.plays(step("Hello."))
        async with scene.editor() as editor:
            session = await editor.new_session(scene.project)
            assert await editor.prompt(session) == "end_turn"
anyio.run(converse)
print(" ".join(sorted(sys.modules)))
"""


UNWRITTEN = """
import tempfile
from hermes_acp.config.environment import environment_of
from hermes_acp.config.settings_section import Section
from hermes_acp.config.settings import load_settings
with tempfile.TemporaryDirectory() as home:
    load_settings(environment_of({"HERMES_HOME": home}))
print(" ".join(section.__name__ for section in Section.__subclasses__() if section.__pydantic_complete__))
"""


CHAT = """
import sys
import hermes_acp.__main__
import hermes_acp.frontends.chat.chat_command
import hermes_acp.frontends.chat.agent.agent_launch
print(" ".join(sorted(sys.modules)))
"""


def loaded_by(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("name", HEAVY)
def test_nothing_heavy_is_imported_before_initialize(name: str) -> None:
    assert name not in loaded_by(GREETING)


def test_without_a_fleet_nothing_of_it_is_imported() -> None:
    assert not loaded_by(CONVERSATION) & {"psycopg", "temporalio", "hermes_acp.runs.fleet.postgres_database"}


def test_opentelemetry_is_imported_only_for_an_export() -> None:
    loaded = loaded_by(CONVERSATION)
    assert not {name for name in loaded if name.partition(".")[0] == "opentelemetry"}
    assert not loaded & {"hermes_acp.telemetry.traces.otel_export", "requests", "google.protobuf"}


def test_a_chat_starts_its_agent_before_importing_its_user_interface() -> None:
    assert not loaded_by(CHAT) & {
        "rich",
        "prompt_toolkit",
        "textual",
        "anyio",
        "asyncio",
        "logging",
        "hermes_acp.frontends.chat.chat_loop",
    }


def test_a_conversation_imports_nothing_unneeded() -> None:
    loaded = loaded_by(CONVERSATION)
    assert not [name for name in loaded if name.startswith("hermes_acp.frontends.library")]
    assert not loaded & {"mcp", "mcp_types", "hermes_acp.mcp.server_pool"}
    assert not loaded & {
        "injection_scanner.engine",
        "hermes_acp.recall.hybrid_search",
        "hermes_acp.hooks.session_hooks",
        "hermes_acp.agent.stages.hook_stages",
    }


def test_unset_settings_build_no_validators() -> None:
    assert not loaded_by(UNWRITTEN)


def test_a_session_starts_without_importing_the_parts_of_a_turn() -> None:
    loaded = loaded_by("""
import sys
import hermes_acp.frontends.acp.fast_handshake
from hermes_acp.frontends.acp.v1 import mcp_servers, options, session_modes
from hermes_acp.frontends.acp.extensions import editor_trust
from hermes_acp.sessions import session_creation
print(" ".join(sorted(sys.modules)))
""")
    assert not loaded & {
        "anyio",
        "asyncio",
        "pydantic",
        "hermes_acp.agent.turn.turn",
        "hermes_acp.sessions.session",
    }


def test_the_lsp_frontend_answers_before_the_app_exists() -> None:
    loaded = loaded_by("""
import sys
import hermes_acp.frontends.lsp.lsp_process
from hermes_acp.core.plugins import PluginFolder
features = PluginFolder("hermes_acp.frontends.lsp.features", "FEATURE")
assert all(features.open(name) for name in features)
print(" ".join(sorted(sys.modules)))
""")
    assert not loaded & {
        *("pydantic", "mcp", "git", "httpx2", "yaml", "sqlite3", "watchfiles", "tree_sitter"),
        *("hermes_acp.app.app", "hermes_acp.sessions.session_manager", "hermes_acp.agent.turn.turn"),
    }


def test_the_protocol_package_imports_nothing_of_the_agent() -> None:
    code = """
import sys
sys.path[:] = ["protocol", *[p for p in sys.path if p]]
import hermes_protocol.connection, hermes_protocol.transport, hermes_protocol.v1, hermes_protocol.methods
import hermes_protocol.salvage, hermes_protocol.descriptors
print(" ".join(sorted(name.partition(".")[0] for name in sys.modules)))
"""
    loaded = loaded_by(code)
    assert "hermes_acp" not in loaded
    assert not loaded & {"pydantic", "httpx2", "yaml"}


def test_garbage_collection_is_enabled_after_start_up() -> None:
    code = """
import gc
import hermes_acp.__main__
print(gc.isenabled())
from hermes_acp.garbage_collection import enable_garbage_collection
enable_garbage_collection()
print(gc.isenabled(), gc.get_freeze_count() > 0)
"""
    assert loaded_by(code) == {"False", "True"}
