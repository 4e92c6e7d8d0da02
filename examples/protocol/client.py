"""A client that sends lines to an agent: python client.py AGENT_PROGRAM [ARGUMENTS...]."""

import logging
import os
import sys

import anyio
import anyio.to_thread
from hermes_acp_client.errors import AgentError
from hermes_acp_client.opening import open_agent
from hermes_acp_client.session import Session

from hermes_protocol import v1


def shown(content: v1.ContentBlock) -> str:
    match content:
        case v1.TextContent(text=text):
            return text
        case v1.ResourceLink(uri=uri):
            return uri
        case v1.ImageContent():
            return "<image>"
        case v1.AudioContent():
            return "<audio>"
        case _:
            return "<resource>"


async def converse(session: Session) -> None:
    while True:
        print("> ", end="", flush=True)
        line = await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)
        if not line:
            return
        try:
            async with session.prompt(line.strip()) as turn:
                async for update in turn:
                    if isinstance(update, v1.AgentMessageChunk):
                        print(f"| Agent: {shown(update.content)}")
        except AgentError as error:
            logging.error("Prompt failed: %s", error)


async def main(command: list[str]) -> None:
    if not os.access(command[0], os.X_OK):
        command = [sys.executable, *command]
    async with open_agent(command) as agent:
        await converse(await agent.new_session(os.path.abspath(".")))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    anyio.run(main, sys.argv[1:])
