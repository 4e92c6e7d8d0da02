"""Talk to the server as an editor does, with the synchronous client: `python examples/one_prompt.py FOLDER PROMPT…`."""

import os
import sys
from typing import Any

from hermes_acp_client.blocking import BlockingAgent
from hermes_acp_client.errors import AgentError


def main() -> int:
    """Show the answer as it arrives; return 0 if the turn completed."""
    if len(sys.argv) < 3:
        print("usage: one_prompt.py FOLDER PROMPT…", file=sys.stderr)
        return 2
    folder, prompt = os.path.abspath(sys.argv[1]), " ".join(sys.argv[2:])
    try:
        with BlockingAgent(["hermes-acp"], on_update=show, on_permission=ask) as agent:
            session_id = agent.new_session(folder)
            stop_reason = agent.prompt(session_id, prompt)
    except AgentError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"\n[{stop_reason}]")
    return 0 if stop_reason == "end_turn" else 1


def show(session_id: str, update: dict[str, Any]) -> None:
    """Print the answer and the titles of tool calls."""
    del session_id
    match update:
        case {"sessionUpdate": "agent_message_chunk", "content": {"text": text}}:
            print(text, end="", flush=True)
        case {"sessionUpdate": "tool_call", "title": title}:
            print(f"\n[{title}]")
        case _:
            pass


def ask(request: dict[str, Any]) -> str | None:
    """Ask at the terminal; any input except a listed number means no."""
    print(f"\n{request['toolCall']['title']}?")
    for number, option in enumerate(request["options"], 1):
        print(f"  {number}. {option['name']}")
    answer = sys.stdin.readline().strip()
    options = {str(number): option["optionId"] for number, option in enumerate(request["options"], 1)}
    return options.get(answer)


if __name__ == "__main__":
    sys.exit(main())
