"""Simulate 80, 8,000 and 800,000 agents: what saturates first, at what size, and what each remedy changes.

python -m bench.scale [--minutes 4] [--seed 1]
"""

import argparse
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from bench.scaling.fleet import Capacity, Fleet, Work

SLOTS: Final = 8
SIMULATED: Final = 4_000
"""Above this number of agents, only one of many equal parts is simulated."""
ONE_OF_EACH: Final = Capacity()
MANY_KEYS: Final = replace(ONE_OF_EACH, accounts=10_000)
"""Limits of a self-hosted model or a custom contract, which do not saturate."""
POLLED: Final = replace(MANY_KEYS, batch_every_s=1.0, is_polled=True)
LARGER: Final = replace(POLLED, stores=4, engine_writes_per_s=6_000, shards=4_096)
FLEETS: Final[Mapping[str, tuple[int, Capacity]]] = {
    "10 machines": (10, ONE_OF_EACH),
    "1,000 machines": (1_000, ONE_OF_EACH),
    "1,000 machines, model not limited": (1_000, MANY_KEYS),
    "1,000 machines, batches every second, followers read": (1_000, POLLED),
    "1,000 machines, besides 4 stores and a larger engine": (1_000, LARGER),
    "100,000 machines on the same": (100_000, LARGER),
    "100,000 machines in 100 cells of 1,000": (1_000, LARGER),
}


def thresholds(minutes: float, seed: int) -> None:
    """Print the number of agents that saturates each part, based on the load of a fleet without waits."""
    agents, span_s = 80, minutes * 60
    fleet = Fleet(agents, Work(), MANY_KEYS, seed)
    fleet.run(span_s)
    print("full at                        agents   machines of 8")
    full: list[tuple[float, str]] = []
    for part in fleet.shared.parts(span_s):
        load = part.load(span_s)
        if part.name.startswith("model"):
            load *= MANY_KEYS.accounts
        if part.name == "busiest history shard":
            load = sum(shard.load(span_s) for shard in fleet.shared.shards) / len(fleet.shared.shards)
        full.append((agents / load, part.name.replace("busiest", "every")))
    for at, name in sorted(full):
        print(f"  {name:24} {at:12,.0f} {at / SLOTS:12,.0f}")


def simulate(name: str, machines: int, has: Capacity, minutes: float, seed: int) -> None:
    """Print the loads and waits of one fleet."""
    agents, span_s = machines * SLOTS, minutes * 60
    share = max(1, agents // SIMULATED)
    fleet = Fleet(agents // share, Work(), has.part(share), seed)
    fleet.run(span_s)
    alone = Fleet(1, Work(), MANY_KEYS, seed)
    alone.run(span_s * 10)
    speed = fleet.steps_done / (agents // share) / (alone.steps_done / 10)
    settles = sorted(fleet.settles)
    p95_ms = settles[int(len(settles) * 0.95)] * 1000 if settles else 0.0
    print(
        f"\n{name}: {agents:,} agents, each at {speed:.0%} of its speed when alone; commit p95 {p95_ms:,.0f} ms"
    )
    parts = sorted(fleet.shared.parts(span_s), key=lambda part: -part.load(span_s))
    for part in parts[:4]:
        print(f"  {part.name:24} {part.load(span_s):7.0%}   wait p95 {part.waits.quantile(0.95):8.3f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    thresholds(options.minutes, options.seed)
    for name, (machines, has) in FLEETS.items():
        simulate(name, machines, has, options.minutes, options.seed)
