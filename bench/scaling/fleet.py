"""Simulate the agents of a fleet, step by step, and the load of each step on the shared parts.

A step is a model request, whose events are stored in batches while it streams, and a tool call, before which the
record must be committed. A run is a number of steps; the engine stores its state changes and the heartbeats of its
worker.
"""

import heapq
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bench.scaling.stations import Account, SharedPart, Station, most_loaded


@dataclass(frozen=True)
class Work:
    """The work of one agent. Times are in seconds; `spread` is the standard deviation of their logarithm."""

    steps_a_run: int = 40
    output_tokens: int = 300
    new_input_tokens: int = 2_000
    tokens_per_s: float = 60.0
    first_token_s: float = 1.5
    tool_s: float = 2.0
    spread: float = 0.6
    followed_share: float = 0.1
    """The share of sessions that are followed from another machine."""


@dataclass(frozen=True)
class Capacity:
    """The capacity of the shared parts. The sources of the figures are in docs/scale.md."""

    account_requests: float = 4_000
    account_input: float = 2_000_000
    account_output: float = 400_000
    accounts: int = 1
    commits_per_s: float = 3_000
    stores: int = 1
    store_servers: int = 8
    notifies_per_s: float = 400
    notify_every_s: float = 0.05
    is_polled: bool = False
    """Whether followers poll for new events every `notify_every_s` instead of being notified."""
    read_cost: float = 0.05
    """The cost of such a read relative to a commit."""
    batch_every_s: float = 0.25
    engine_writes_per_s: float = 1_500
    shards: int = 512
    shard_write_s: float = 0.005
    heartbeat_s: float = 8.0
    writes_a_run: int = 12

    def part(self, share: int) -> "Capacity":
        """Return the capacity of one of `count` equal parts, which serves the same share of the agents."""
        return replace(
            self,
            account_requests=self.account_requests / share,
            account_input=self.account_input / share,
            account_output=self.account_output / share,
            commits_per_s=self.commits_per_s / share,
            notifies_per_s=self.notifies_per_s / share,
            engine_writes_per_s=self.engine_writes_per_s / share,
            shards=max(1, self.shards // share),
        )


@dataclass
class Shared:
    """The shared parts of a fleet."""

    requests: Account
    input: Account
    output: Account
    stores: Sequence[Station]
    notifies: Sequence[Station]
    engine: Station
    shards: Sequence[Station]

    @classmethod
    def build(cls, has: Capacity) -> "Shared":
        """Create the shared parts with the given capacity."""
        per_server = has.store_servers / has.commits_per_s
        return cls(
            Account("model requests", has.account_requests * has.accounts),
            Account("model input tokens", has.account_input * has.accounts),
            Account("model output tokens", has.account_output * has.accounts),
            [Station("Postgres commits", has.store_servers, per_server) for _ in range(has.stores)],
            [Station("NOTIFY", 1, 1 / has.notifies_per_s) for _ in range(has.stores)],
            Station("engine database", 1, 1 / has.engine_writes_per_s),
            [Station("busiest history shard", 1, has.shard_write_s) for _ in range(has.shards)],
        )

    def parts(self, span_s: float) -> list[SharedPart]:
        """Return the most loaded part of each kind."""
        return [
            self.requests,
            self.input,
            self.output,
            most_loaded(self.stores, span_s),
            most_loaded(self.notifies, span_s),
            self.engine,
            most_loaded(self.shards, span_s),
        ]


@dataclass(order=True)
class Moment:
    """The time at which an agent's next action is due."""

    at: float
    agent: int
    phase: str = field(compare=False)
    left: int = field(compare=False, default=0)


class Fleet:
    """A fleet of agents that always have work."""

    def __init__(self, agents: int, work: Work, has: Capacity, seed: int = 1) -> None:
        self._agents = agents
        self._work = work
        self._has = has
        self._random = random.Random(seed)
        self._steps = [self._random.randrange(work.steps_a_run) for _ in range(agents)]
        self._is_followed = [self._random.random() < work.followed_share for _ in range(agents)]
        self.shared = Shared.build(has)
        self.settles: list[float] = []
        self.steps_done = 0

    def run(self, span_s: float) -> None:
        """Simulate the fleet's work for a while; every agent starts at a random moment of a step."""
        begin = [Moment(self._random.uniform(0, 20), agent, "ask") for agent in range(self._agents)]
        beats = [
            Moment(self._random.uniform(0, self._has.heartbeat_s), agent, "beat")
            for agent in range(self._agents)
        ]
        due = [*begin, *beats]
        heapq.heapify(due)
        while due and due[0].at < span_s:
            for following in self._pass(heapq.heappop(due)):
                heapq.heappush(due, following)

    def _pass(self, now: Moment) -> list[Moment]:
        match now.phase:
            case "beat":
                self._write_engine(now, 1)
                return [Moment(now.at + self._has.heartbeat_s, now.agent, "beat")]
            case "ask":
                return [Moment(self._granted(now.at), now.agent, "stream", self._batches())]
            case "stream":
                return [self._stream(now)]
            case _:
                return [self._call(now)]

    def _granted(self, now: float) -> float:
        work, shared = self._work, self.shared
        return max(
            shared.requests.take(now, 1),
            shared.input.take(now, work.new_input_tokens),
            shared.output.take(now, work.output_tokens),
        )

    def _batches(self) -> int:
        streams_s = self._varied(self._work.output_tokens / self._work.tokens_per_s)
        return max(1, math.ceil(streams_s / self._has.batch_every_s))

    def _stream(self, now: Moment) -> Moment:
        """Store a batch of events without waiting for it."""
        self._store(now).serve(now.at)
        self._notify(now)
        following = now.at + self._has.batch_every_s
        if now.left > 1:
            return Moment(following, now.agent, "stream", now.left - 1)
        return Moment(following, now.agent, "call")

    def _call(self, now: Moment) -> Moment:
        """Commit the record, run the tool, and commit its outcome with the next request."""
        work = self._work
        committed = self._store(now).serve(now.at)
        self.settles.append(committed - now.at)
        self.steps_done += 1
        self._steps[now.agent] += 1
        if self._steps[now.agent] % work.steps_a_run == 0:
            self._write_engine(now, self._has.writes_a_run)
        thinks_s = self._varied(work.tool_s) + self._varied(work.first_token_s)
        return Moment(committed + thinks_s, now.agent, "ask")

    def _store(self, now: Moment) -> Station:
        return self.shared.stores[now.agent % len(self.shared.stores)]

    def _notify(self, now: Moment) -> None:
        """Notify the followers of a session about the batch."""
        if not self._is_followed[now.agent]:
            return
        times = self._has.batch_every_s / self._has.notify_every_s
        if self._has.is_polled:
            self._store(now).serve(now.at, times * self._has.read_cost)
        else:
            self.shared.notifies[now.agent % len(self.shared.notifies)].serve(now.at, min(1.0, times))

    def _write_engine(self, now: Moment, writes: int) -> None:
        self.shared.engine.serve(now.at, writes)
        self.shared.shards[now.agent % len(self.shared.shards)].serve(now.at, writes)

    def _varied(self, median: float) -> float:
        return self._random.lognormvariate(math.log(median), self._work.spread)
