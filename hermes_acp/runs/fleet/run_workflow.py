"""The workflow that has one run driven: Temporal keeps it until the run rests, whatever happens to workers.

It knows no more than the run's ID and how to reach it: the run itself is in Postgres, which decides who may drive it.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from temporalio import workflow
from temporalio.common import Priority, RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

DRIVE: Final = "drive"
GO_ON: Final = "go_on"
MAX_WAIT: Final = timedelta(days=30)
MAX_DRIVE: Final = timedelta(days=30)
Rest = Literal["over", "waits", "held"]
"""How a drive ended: `waits`: for a person's answer; `held`: others have the run, or it is not due."""


@dataclass(frozen=True)
class Ticket:
    """The right of a worker to try to claim a run. `lease_s` is in seconds; priorities are 1 (first) to 5."""

    tenant: str
    run_id: str
    priority: int
    lease_s: float


@workflow.defn(name="run")
class RunWorkflow:
    """Has a run driven now, and again whenever it goes on."""

    def __init__(self) -> None:
        """Begin without signals."""
        self._is_wanted = False

    @workflow.signal(name=GO_ON)
    def go_on(self) -> None:
        """Note that the run is due, for the first time or again."""
        self._is_wanted = True

    @workflow.run
    async def run(self, ticket: Ticket) -> Rest:
        """Have the run driven until it is over, or until it has waited for an answer as long as it may.

        A run that waits longer stays in Postgres; its answer starts a new workflow.
        """
        while True:
            self._is_wanted = False
            rest = await self._drive(ticket)
            if rest == "waits":
                try:
                    await workflow.wait_condition(lambda: self._is_wanted, timeout=MAX_WAIT)
                except TimeoutError:
                    return rest
            elif rest and not self._is_wanted:
                return rest

    async def _drive(self, ticket: Ticket) -> Rest | None:
        """Have one worker drive the run up to its next rest; None if that worker was lost.

        A worker that does not serve the tenant refuses; the dispatch is repeated later, perhaps to another one.
        """
        try:
            rest: Rest = await workflow.execute_activity(
                DRIVE,
                ticket,
                heartbeat_timeout=timedelta(seconds=ticket.lease_s),
                start_to_close_timeout=MAX_DRIVE,
                retry_policy=RetryPolicy(maximum_attempts=1),
                priority=Priority(priority_key=ticket.priority, fairness_key=ticket.tenant),
            )
        except ActivityError as error:
            return "held" if isinstance(error.cause, ApplicationError) else None
        return rest
