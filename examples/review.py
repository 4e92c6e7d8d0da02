"""Let the agent review a folder, and decide on its edits here: `python examples/review.py FOLDER [PROMPT…]`."""

import os
import sys
from typing import Final

import anyio
import anyio.to_thread
from hermes_acp_client.asking import Permission, option_named
from hermes_acp_client.errors import AgentError, SignInNeeded
from hermes_acp_client.opening import open_agent

from hermes_protocol import v1

PROMPT: Final = "Look for a mistake in this folder and correct it."


async def main() -> int:
    """Run one turn; return 0 if it completed."""
    if len(sys.argv) < 2:
        print("usage: review.py FOLDER [PROMPT…]", file=sys.stderr)
        return 2
    folder, prompt = os.path.abspath(sys.argv[1]), " ".join(sys.argv[2:]) or PROMPT
    try:
        async with open_agent(["hermes-acp"], on_permission=ask) as agent:
            session = await agent.new_session(folder)
            async with session.prompt(prompt) as turn:
                async for update in turn:
                    show(update)
    except SignInNeeded as error:
        print(error.message, file=sys.stderr)  # it says what to set up
        return 2
    except AgentError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"\n[{turn.stop_reason}]")
    return 0 if turn.stop_reason == "end_turn" else 1


def show(update: v1.SessionUpdate) -> None:
    """Print the answer and the outcomes of calls."""
    match update:
        case v1.AgentMessageChunk(content=v1.TextContent(text=text)):
            print(text, end="", flush=True)
        case v1.ToolCall(title=title):
            print(f"\n[{title}]")
        case _:
            pass


async def ask(request: v1.RequestPermissionRequest) -> Permission:
    """Ask at the terminal: y allows; any other text rejects and is passed on as the reason."""
    print(f"\n{request.tool_call.title}? (y, or why not) ", end="", flush=True)
    answer = (await anyio.to_thread.run_sync(sys.stdin.readline)).strip()
    if answer == "y":
        return Permission(option_named(request, "allow_once"))
    return Permission(option_named(request, "reject_once"), comment=answer)


if __name__ == "__main__":
    sys.exit(anyio.run(main))
