"""Stream 8,000 deltas to an editor that stops reading for 5 s; nothing may be lost, and memory must stay flat.

Run: python -m bench.slow_reader [STALL_S] [DELTAS]
There are three streams: short words at full speed, the same words at a pace that outlasts the stall, and 1 kB per
delta, which exceeds the agent's buffer for an editor, so the model has to wait. Growth is the additional memory since
the start; after the stall, it includes the conversation itself, which is kept.
"""

import sys
import time

from bench.agents import FLOOR, OURS, Agent, model_server, prepare, surroundings

STALL_S, DELTAS = 5, 8000
PACE_S = 0.0005
WARM_TURNS = 3


def main(stall_s: int, deltas: int) -> None:
    prepare()
    short = [f"word{number} " for number in range(deltas)]
    streams = {
        "fast": (short, 0.0),
        "paced": (short, PACE_S),
        "long": ([f"{number:06} ".ljust(1024, "x") for number in range(deltas)], 0.0),
    }
    rules = [
        {"when": name, "replies": [{"text": words, "delay_s": pace_s}], "pick": "cycle"}
        for name, (words, pace_s) in streams.items()
    ]
    script = {"rules": rules, "default": [{"text": "Hello."}], "pick": "cycle"}
    print(
        f"the editor reads nothing for {stall_s} s while {deltas:,} deltas stream; the whole text was verified"
    )
    with model_server(script) as base_url:
        variables = {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "sk-bench", "HERMES_MODEL": "m"}
        for name, (words, _) in streams.items():
            for label, command in (("floor", FLOOR), ("ours", OURS)):
                with surroundings(**variables) as (environment, cwd):
                    print(f"{name:6} {label:6} {_measure(command, environment, cwd, (name, words), stall_s)}")


def _measure(
    command: tuple[str, ...],
    environment: dict[str, str],
    cwd: str,
    stream: tuple[str, list[str]],
    stall_s: int,
) -> str:
    name, words = stream
    agent = Agent(command, environment)
    session_id = agent.open_session(cwd)
    for _ in range(WARM_TURNS):
        agent.prompt(session_id, "hello")
    before_mib = agent.memory_mib()
    agent.updates.clear()
    call_id = agent.begin_prompt(session_id, name)
    cpu_s = agent.exact_cpu_s()
    time.sleep(stall_s)
    stalled_mib, stalled_cpu_s = agent.memory_mib(), agent.exact_cpu_s() - cpu_s
    read_at_s = time.perf_counter()
    agent.read_until(call_id)
    rest_s = time.perf_counter() - read_at_s
    chunks = [u["content"]["text"] for _, u in agent.updates if u["sessionUpdate"] == "agent_message_chunk"]
    after_mib, peak_mib = agent.memory_mib(), agent.peak_mib()
    if "".join(chunks) != "".join(words):
        raise RuntimeError("the text arrived altered")
    if agent.prompt(session_id, "hello") != "Hello.":
        raise RuntimeError("the session is no longer alive")
    agent.close()
    return (
        f"{len(''.join(words)) / 1e6:4.1f} MB in {len(chunks):5} updates; MiB before {before_mib:5.1f}, "
        f"growth in the stall {stalled_mib - before_mib:+5.1f}, afterwards {after_mib - before_mib:+5.1f}, "
        f"at the peak {peak_mib - before_mib:+5.1f}; CPU in the stall {stalled_cpu_s:4.2f} s; "
        f"the rest in {rest_s:4.2f} s"
    )


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    main(numbers[0] if numbers else STALL_S, numbers[1] if len(numbers) > 1 else DELTAS)
