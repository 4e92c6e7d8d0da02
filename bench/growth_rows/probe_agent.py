"""Measure a running agent at one size; print the results as JSON.

Run by `bench.growth_rows.sessions`: probe_agent.py WHAT SIZE
"""

import json
import sys
from collections.abc import Callable, Mapping

from bench.agents import model_server
from bench.folders import SCRIPT
from bench.folders import measure as measure_folders
from bench.serve_load import (
    DELTAS_PER_S,
    SETTLE_S,
    Load,
    measure_idle,
    measure_streaming,
    model,
    relay,
    server,
)
from bench.steps import measure as measure_step
from hermes_acp.storage.descriptor_limit import raise_limit

SECONDS = 5.0


def step(size_bytes: int) -> dict[str, object]:
    """Measure one model step after a history of this size; the floor sends a request of the same size."""
    ours_s, floor_s = measure_step(size_bytes / 1e6)
    return {"ours": ours_s * 1000, "floor": floor_s * 1000}


def folders(count: int) -> dict[str, object]:
    """Measure prompts in sessions with many folders; the floor is one folder."""
    with model_server(SCRIPT) as url:
        floor, _, _ = measure_folders(url, 1)
        ours, _, notes = measure_folders(url, count)
    return {"ours": ours, "floor": floor, "notes": notes}


def idle(sessions: int) -> dict[str, object]:
    """Measure the memory of connected sessions; the floor is the server without them."""
    with model(1) as speaker, server(speaker.port, None) as watched:
        floor = watched.rss_mib()
        mib, share = measure_idle(watched, sessions, SECONDS, "ours")
    notes = f"{(mib - floor) * 1024 / sessions:.0f} KiB a session, {share:.1%} of a core"
    return {"ours": mib, "floor": floor, "notes": notes}


def stream(sessions: int) -> dict[str, object]:
    """Measure the CPU time per delta while all sessions stream; the floor is a bare relay."""
    deltas = round((SECONDS + SETTLE_S + 4) * DELTAS_PER_S)
    load = Load(sessions, deltas, SECONDS, 0)
    with model(deltas) as speaker:
        with relay(speaker.port) as watched:
            floor_s = measure_streaming(watched, speaker, load, "floor")
        with server(speaker.port, None) as watched:
            ours_s = measure_streaming(watched, speaker, load, "ours")
    share = ours_s * sessions * DELTAS_PER_S
    return {
        "ours": ours_s * 1e6,
        "floor": floor_s * 1e6,
        "notes": f"{share:.0%} of a core if all arrive (goal 70%)",
    }


WHAT: Mapping[str, Callable[[int], dict[str, object]]] = {
    "step": step,
    "folders": folders,
    "idle": idle,
    "stream": stream,
}

if __name__ == "__main__":
    raise_limit()
    print(json.dumps(WHAT[sys.argv[1]](int(sys.argv[2]))))
