"""Run toy tasks with verifiers, in its own environment: `verifiers_rollouts.py URL COMMAND`; prints JSON."""

import json
import sys
from importlib import import_module
from typing import Any

import anyio

vf: Any = import_module("verifiers.v1")
tasks_of: Any = import_module("hermes_acp_tasks")
AT_ONCE = 3


def agent_in(mode: str, url: str, command: str) -> Any:
    return vf.make_agent(
        vf.AgentConfig.model_validate(
            {
                "harness": {"id": "hermes-acp-agent", "command": command, "mode": mode},
                "runtime": {"type": "subprocess"},
                "model": "scripted-large",
                "client": {"type": "eval", "base_url": url, "api_key_var": "TEST_MODEL_SECRET"},
            }
        )
    )


def told(trace: Any) -> dict[str, Any]:
    return {
        "id": trace.id,
        "ok": trace.ok,
        "errors": [each.message for each in trace.errors],
        "passed": trace.rewards["passed"].score,
        "metrics": trace.metrics,
        "roles": [node.message.role for node in trace.nodes],
        "said": [each.content for each in trace.branches[-1].messages if each.role == "user"],
    }


async def main(url: str, command: str) -> None:
    tasks = [*tasks_of.ToyTasks(tasks_of.ToyConfig(id="hermes-acp-tasks"))]
    seats = anyio.CapacityLimiter(AT_ONCE)
    traces: list[Any] = []
    async with agent_in("auto", url, command) as agent:

        async def roll_out(task: Any) -> None:
            async with seats:
                traces.append(await agent.run(task))

        async with anyio.create_task_group() as rollouts:
            for task in tasks:
                rollouts.start_soon(roll_out, task)
        async with agent.interaction(tasks[0]) as talk:
            await talk.turn()
            await talk.turn("Thank you.")
            continued = await talk.close()
    async with agent_in("ask", url, command) as agent:
        asked = await agent.run(tasks[0])
    print(json.dumps({"all": [*map(told, traces)], "continued": told(continued), "asked": told(asked)}))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2])
