"""A client for the Gemini CLI, with files, terminals and questions."""

import argparse
import os
import shutil
import sys
from typing import Any

import anyio
import anyio.to_thread
from client import shown
from hermes_acp_client.asking import option_named
from hermes_acp_client.errors import AgentError
from hermes_acp_client.files import Serve, serve_files
from hermes_acp_client.opening import open_agent
from hermes_acp_client.session import Session

from hermes_protocol import v1


async def ask(words: str) -> str:
    print(words, end="", flush=True)
    line = await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)
    return line.strip() if line else ":exit"


async def choose(request: v1.RequestPermissionRequest) -> str | None:
    print(f"\n🔐 Permission requested: {request.tool_call.title or '<permission>'}")
    for number, option in enumerate(request.options, 1):
        print(f"  {number}. {option.name} ({option.kind})")
    while request.options and (said := await ask("Select option: ")) != ":exit":
        if said.isdigit() and 0 < int(said) <= len(request.options):
            return request.options[int(said) - 1].option_id
        print("Invalid selection, try again.")
    return None


async def approve(request: v1.RequestPermissionRequest) -> str | None:
    return option_named(request, "allow_once") or option_named(request, "allow_always")


def terminal(name: str, answer: dict[str, Any]) -> Serve:
    async def serve(params: dict[str, Any]) -> dict[str, Any]:
        print(f"[Client] {name}: {params}")
        return answer

    return serve


TERMINALS = {
    "terminal/create": {"terminalId": "term-1"},
    "terminal/output": {"output": "", "truncated": False},
    "terminal/release": {},
    "terminal/wait_for_exit": {},
    "terminal/kill": {},
}


def show(update: v1.SessionUpdate) -> None:
    match update:
        case v1.AgentMessageChunk(content=content):
            print(shown(content))
        case v1.AgentThoughtChunk(content=content):
            print(f"\n[agent_thought]\n{shown(content)}")
        case v1.UserMessageChunk(content=content):
            print(f"\n[user_message]\n{shown(content)}")
        case v1.Plan(entries=entries):
            print("\n[plan]")
            for entry in entries:
                print(f" - {entry.status.upper():<10} {entry.content}")
        case v1.ToolCall(title=title, status=status):
            print(f"\n🔧 {title} ({status or 'pending'})")
        case v1.ToolCallUpdate(tool_call_id=call_id, status=status, content=content):
            print(f"\n🔧 Tool call `{call_id}` → {status or 'in_progress'}")
            for item in content or ():
                if isinstance(item, v1.Diff):
                    print(f"  diff: {item.path}")
                elif isinstance(item, v1.Terminal):
                    print(f"  terminal: {item.terminal_id}")
        case _:
            print(f"\n[session update] {update}")


async def converse(session: Session) -> None:
    print("Type a message and press Enter to send.\nCommands: :cancel, :exit")
    while (line := await ask("\n> ")) not in (":exit", ":quit"):
        if line == ":cancel":
            session.cancel()
        elif line:
            try:
                async with session.prompt(line) as turn:
                    async for update in turn:
                        show(update)
            except AgentError as error:
                print(f"prompt error: {error}", file=sys.stderr)


async def main() -> None:
    parser = argparse.ArgumentParser(description="Interact with the Gemini CLI over ACP.")
    parser.add_argument("--gemini", default=os.environ.get("ACP_GEMINI_BIN") or shutil.which("gemini"))
    parser.add_argument("--model", help="Model identifier to pass to Gemini")
    parser.add_argument("--sandbox", action="store_true", help="Enable Gemini sandbox mode")
    parser.add_argument("--debug", action="store_true", help="Pass --debug to Gemini")
    parser.add_argument("--yolo", action="store_true", help="Auto-approve permission prompts")
    options = parser.parse_args()
    if not options.gemini:
        sys.exit("Unable to locate `gemini` CLI, provide --gemini path")
    command = [options.gemini, "--experimental-acp"]
    command += ["--model", options.model] if options.model else []
    command += [f"--{flag}" for flag in ("sandbox", "debug") if getattr(options, flag)]
    serves = {
        **serve_files(os.path.abspath(".")),
        **{name: terminal(name, answer) for name, answer in TERMINALS.items()},
    }
    try:
        async with open_agent(
            command, on_permission=approve if options.yolo else choose, serves=serves
        ) as agent:
            print(f"✅ Connected to Gemini (protocol v{agent.greeting.protocol_version})")
            session = await agent.new_session(os.path.abspath("."))
            print(f"📝 Created session: {session.id}")
            await converse(session)
    except AgentError as error:
        sys.exit(f"Gemini: {error}")


if __name__ == "__main__":
    anyio.run(main)
