"""The Temporal workflow for one run: it has workers work on the run until it ends or waits, whatever happens to them.

It contains only the run's ID and how to reach the run. The run itself is in Postgres, which decides who may work on it.
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
DriveEnd = Literal["over", "waits", "held", "full"]
"""How an attempt ended. `over`: the run ended. `waits`: it waits for a person's answer.

`held`: another worker has the run, it is not due, or no seat became free. `full`: no seat became free on the machine
that has the run's folder, so another machine may work on it.
"""


@dataclass(frozen=True)
class Ticket:
    """Permission for a worker to try to claim a run. `lease_s` is in seconds; priorities range from 1 (first) to 5.

    For `move_after_s` seconds, the run waits for a worker on the machine that has its folder.
    """

    tenant: str
    run_id: str
    priority: int
    lease_s: float
    move_after_s: float = 60.0


@workflow.defn(name="run")
class RunWorkflow:
    """Has workers work on a run now, and again whenever it continues."""

    def __init__(self) -> None:
        """Start without any signals received."""
        self._is_wanted = False
        self._nearest = ""

    @workflow.signal(name=GO_ON)
    def go_on(self, nearest: str = "") -> None:
        """Record that the run is due, for the first time or again.

        `nearest` is the task queue of the machine that has its folder; empty if any machine will do.
        """
        self._is_wanted = True
        self._nearest = nearest

    @workflow.run
    async def run(self, ticket: Ticket) -> DriveEnd:
        """Have workers work on the run until it ends or has waited too long for an answer.

        A run that waits longer stays in Postgres, and its answer starts a new workflow.
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

    async def _drive(self, ticket: Ticket) -> DriveEnd | None:
        """Let one worker work on the run until it ends or waits.

        Returns None if that worker was lost or none was available. A worker that does not serve the tenant refuses; the
        dispatch is then repeated later, perhaps to another worker.
        """
        nearest, self._nearest = self._nearest, ""
        try:
            rest: DriveEnd = await workflow.execute_activity(
                DRIVE,
                ticket,
                task_queue=nearest or None,
                schedule_to_start_timeout=timedelta(seconds=ticket.move_after_s) if nearest else None,
                heartbeat_timeout=timedelta(seconds=ticket.lease_s),
                start_to_close_timeout=MAX_DRIVE,
                retry_policy=RetryPolicy(maximum_attempts=1),
                priority=Priority(priority_key=ticket.priority, fairness_key=ticket.tenant),
            )
        except ActivityError as error:
            return "held" if isinstance(error.cause, ApplicationError) else None
        return None if rest == "full" else rest
