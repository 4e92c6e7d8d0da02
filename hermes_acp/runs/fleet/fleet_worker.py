"""Take runs from Temporal and work on them, for one profile or for several that share a pool."""

import os
import socket
from collections.abc import Callable, Mapping
from contextvars import copy_context
from datetime import timedelta
from functools import partial
from typing import Final

import anyio
from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from hermes_acp.core.errors import StorageError
from hermes_acp.core.ports.run_ports import WorkScope
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.fleet.dispatcher import queue_of
from hermes_acp.runs.fleet.fleet_member import FleetMember
from hermes_acp.runs.fleet.run_workflow import DRIVE, DriveEnd, RunWorkflow, Ticket

DRAIN_POLL_INTERVAL_S: Final = 1.0
MAX_DRAIN: Final = timedelta(days=30)
"""The caller decides how long a worker drains; Temporal's library must never end an attempt on its own."""


class FleetWorker:
    """Works on the runs that Temporal assigns to this process."""

    def __init__(
        self, client: Client, pool: str, members: Mapping[str, FleetMember], settings: EngineSettings
    ) -> None:
        """Store the open `members` of this process, by tenant."""
        self._client = client
        self._pool = pool
        self._members = members
        self._settings = settings
        self._seats = anyio.Semaphore(0)

    async def run(self, scope: WorkScope) -> None:
        """Work on runs until cancelled or drained; cancellation returns them to the queue."""
        self._seats = anyio.Semaphore(scope.seats)
        machines = {member.machine for member in self._members.values() if member.access.workspaces}
        workers = [
            *(self._worker(queue_of(self._pool, place), scope.seats) for place in scope.places),
            *(
                self._worker(queue_of(self._pool, place, machine), scope.seats, is_for_runs=False)
                for place in scope.places
                for machine in machines
            ),
        ]
        async with anyio.create_task_group() as tasks:
            for worker in workers:
                tasks.start_soon(self._serve, worker)
            try:
                while not scope.is_draining():
                    await anyio.sleep(DRAIN_POLL_INTERVAL_S)
                await self._shut_down(workers)
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True):
                    for member in self._members.values():
                        member.release()
                    await self._shut_down(workers)
                raise

    def _worker(self, queue: str, seats: int, *, is_for_runs: bool = True) -> Worker:
        """Return the Temporal worker for a queue. A machine's own queue contains only attempts at runs."""
        return Worker(
            self._client,
            task_queue=queue,
            workflows=[RunWorkflow] if is_for_runs else [],
            activities=[self._drive],
            workflow_runner=UnsandboxedWorkflowRunner(),
            max_cached_workflows=0,  # another worker can then continue each of them at once
            max_concurrent_activities=seats,
            # Polling for one at a time makes the runs take the seats in order of priority.
            max_concurrent_workflow_tasks=1,
            max_concurrent_workflow_task_polls=1,
            graceful_shutdown_timeout=MAX_DRAIN,
            max_heartbeat_throttle_interval=timedelta(seconds=self._settings.heartbeat_s),
            default_heartbeat_throttle_interval=timedelta(seconds=self._settings.heartbeat_s),
            identity=f"{os.getpid()}@{socket.gethostname()}",
        )

    @staticmethod
    async def _serve(worker: Worker) -> None:
        with anyio.CancelScope(shield=True):  # ends when it is shut down
            await worker.run()

    @staticmethod
    async def _shut_down(workers: list[Worker]) -> None:
        async with anyio.create_task_group() as ending:
            for worker in workers:
                ending.start_soon(worker.shutdown)

    @activity.defn(name=DRIVE)
    async def _drive(self, ticket: Ticket) -> str:
        """Work on a run until it ends or waits, on one of this process's seats."""
        member = self._members.get(ticket.tenant)
        if member is None:
            raise ApplicationError(f"This worker does not serve {ticket.tenant!r}.")
        heartbeat = partial(copy_context().run, activity.heartbeat)
        is_nearest = bool(member.machine) and activity.info().task_queue.endswith(f"@{member.machine}")
        if not await self._take_seat(heartbeat, ticket.move_after_s if is_nearest else ticket.lease_s):
            return "full" if is_nearest else "held"
        try:
            return await self._drive_on(member, ticket.run_id, heartbeat)
        finally:
            self._seats.release()

    async def _take_seat(self, heartbeat: Callable[[], None], wait_s: float) -> bool:
        """Wait for a free seat, of which all queues share the same number; return whether one became free in time."""
        with anyio.move_on_after(wait_s):
            while True:
                with anyio.move_on_after(self._settings.heartbeat_s):
                    await self._seats.acquire()
                    return True
                heartbeat()
        return False

    async def _drive_on(self, member: FleetMember, run_id: str, heartbeat: Callable[[], None]) -> DriveEnd:
        """Work on a run, even if Temporal gives up on it, because the claim in Postgres decides."""
        rests: list[DriveEnd] = []
        ended = anyio.Event()

        async def drive() -> None:
            try:
                rests.append(await member.drive_run(run_id, heartbeat))
            except StorageError:
                rests.append("held")  # the run is dispatched again
            finally:
                ended.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(drive)
            while not ended.is_set():
                try:
                    await ended.wait()
                except anyio.get_cancelled_exc_class():
                    if activity.is_cancelled():
                        continue
                    raise
        return rests[0]
