"""The page of slash commands: the chat's, and those that an agent announces when a session is opened."""

import os
import sys
import tempfile
from pathlib import Path
from typing import Final

import anyio
from hermes_acp_client.opening import open_agent

from hermes_acp.core.plugins import PluginFolder
from hermes_acp.frontends.chat.chat_context import ChatCommand
from hermes_protocol import v1

from .markdown import code, page, sentence, table

CHAT: Final = PluginFolder[ChatCommand]("hermes_acp.frontends.chat.commands", "COMMAND")
INTRO: Final = """\
Type a slash command as a prompt. [Skills](../skills.md) are slash commands too, and so are the
[prompts of MCP servers](../configuration.md#mcp-servers)."""
SETTINGS: Final = """\
provider: openai_compatible
model: none
titles: first_line
providers: {openai_compatible: {base_url: "http://127.0.0.1:9/v1"}}
mcp_servers: {example: {command: "true"}}
"""
"""A model that is never called, and a server so that `/mcp` is offered."""
LATE: Final = frozenset({"mcp", "write-a-skill"})
"""Commands that an agent offers only after it has looked for servers and skills."""
TIMEOUT_S: Final = 60


def render() -> str:
    """Return the page."""
    agents = [
        (code(f"/{each.name}{_hint(each)}"), sentence(each.description)) for each in anyio.run(_announced)
    ]
    chats = [(code(f"/{name}"), sentence(CHAT.open(name).description)) for name in CHAT]
    head = ("command", "meaning")
    return page(
        "Slash commands",
        INTRO,
        f"## In every editor\n\n{table(head, agents)}",
        f"## In `hermes-acp chat`\n\nThe chat has these as well.\n\n{table(head, chats)}",
    )


def _hint(command: v1.AvailableCommand) -> str:
    match command.input:
        case v1.UnstructuredCommandInput(hint=hint) if hint:
            return f" [{hint}]"
        case _:
            return ""


async def _announced() -> list[v1.AvailableCommand]:
    """Open a session of a real agent in a separate home; return the commands it offers."""
    with tempfile.TemporaryDirectory() as folder:
        home, cwd = Path(folder, "home"), Path(folder, "project")
        home.mkdir()
        cwd.mkdir()
        (home / "config.yaml").write_text(SETTINGS, encoding="utf-8")
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "HERMES_HOME": str(home)}
        command = [sys.executable, "-m", "hermes_acp"]
        with anyio.fail_after(TIMEOUT_S):
            async with open_agent(command, env=environment) as agent:
                session = await agent.new_session(str(cwd))
                async for update in session.follow():
                    if isinstance(update, v1.AvailableCommandsUpdate):
                        commands = update.available_commands
                        if {each.name for each in commands} >= LATE:
                            return list(commands)
    raise ValueError(f"the agent did not offer {', '.join(sorted(LATE))}")
