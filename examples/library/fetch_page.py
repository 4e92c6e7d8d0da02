"""An agent with a custom tool."""

import sys
import urllib.request

from hermes_acp import Agent, Tool


def fetch_url(url: str) -> str:
    """Return the text of a web page."""
    with urllib.request.urlopen(url, timeout=20) as page:
        return page.read().decode()


agent = Agent(name="reader", builtin_tools=[])
agent.register_tool(
    Tool(name="fetch_url", function=fetch_url, description="Fetch a web page", capabilities=["network"])
)

print(agent.run(f"What does {sys.argv[1]} say?"))
for call in agent.state.tool_history:
    print(call["tool"], call["input"], f"{call['duration']:.2f} s", call["error"] or "ok")
