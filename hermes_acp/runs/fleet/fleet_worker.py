"""Take runs from Temporal, for one profile or for several that share a pool, and have them driven."""

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
from hermes_acp.runs.fleet.run_workflow import DRIVE, Rest, RunWorkflow, Ticket

DRAIN_LOOK_S: Final = 1.0
MAX_DRAIN: Final = timedelta(days=30)
"""Who stops a worker decides how long it drains; Temporal's library never ends a drive by itself."""


class FleetWorker:
    """Drives what Temporal hands to this process."""

    def __init__(
        self, client: Client, pool: str, members: Mapping[str, FleetMember], settings: EngineSettings
    ) -> None:
        """Prepare; `members` are this process's parts of the profiles, by tenant, and are open."""
        self._client = client
        self._pool = pool
        self._members = members
        self._settings = settings
        self._seats = anyio.Semaphore(0)

    async def run(self, scope: WorkScope) -> None:
        """Drive runs until it is cancelled, which returns them to the queue, or has drained."""
        self._seats = anyio.Semaphore(scope.seats)
        workers = [self._worker(place, scope.seats) for place in scope.places]
        async with anyio.create_task_group() as tasks:
            for worker in workers:
                tasks.start_soon(self._serve, worker)
            try:
                while not scope.is_draining():
                    await anyio.sleep(DRAIN_LOOK_S)
                await self._shut_down(workers)
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True):
                    for member in self._members.values():
                        member.release()
                    await self._shut_down(workers)
                raise

    def _worker(self, place: str, seats: int) -> Worker:
        return Worker(
            self._client,
            task_queue=queue_of(self._pool, place),
            workflows=[RunWorkflow],
            activities=[self._drive],
            workflow_runner=UnsandboxedWorkflowRunner(),
            max_cached_workflows=0,  # another worker can go on with each of them at once
            max_concurrent_activities=seats,
            # One after the other, the runs reach the seats in the order of their priorities.
            max_concurrent_workflow_tasks=1,
            max_concurrent_workflow_task_polls=1,
            graceful_shutdown_timeout=MAX_DRAIN,
            max_heartbeat_throttle_interval=timedelta(seconds=self._settings.heartbeat_s),
            default_heartbeat_throttle_interval=timedelta(seconds=self._settings.heartbeat_s),
            identity=f"{os.getpid()}@{socket.gethostname()}",
        )

    @staticmethod
    async def _serve(worker: Worker) -> None:
        with anyio.CancelScope(shield=True):  # it ends when it is shut down
            await worker.run()

    @staticmethod
    async def _shut_down(workers: list[Worker]) -> None:
        async with anyio.create_task_group() as ending:
            for worker in workers:
                ending.start_soon(worker.shutdown)

    @activity.defn(name=DRIVE)
    async def _drive(self, ticket: Ticket) -> str:
        """Drive a run to its rest, on a seat of this process."""
        member = self._members.get(ticket.tenant)
        if member is None:
            raise ApplicationError(f"This worker drives no runs of {ticket.tenant!r}.")
        heartbeat = partial(copy_context().run, activity.heartbeat)
        await self._take_seat(heartbeat)
        try:
            return await self._drive_on(member, ticket.run_id, heartbeat)
        finally:
            self._seats.release()

    async def _take_seat(self, heartbeat: Callable[[], None]) -> None:
        """Wait for a seat, which drives of the process's other places may have."""
        while True:
            with anyio.move_on_after(self._settings.heartbeat_s):
                await self._seats.acquire()
                return
            heartbeat()

    async def _drive_on(self, member: FleetMember, run_id: str, heartbeat: Callable[[], None]) -> Rest:
        """Drive a run. If Temporal gives the work up, it goes on: the claim in Postgres decides."""
        rests: list[Rest] = []
        ended = anyio.Event()

        async def drive() -> None:
            try:
                rests.append(await member.drive_run(run_id, heartbeat))
            except StorageError:
                rests.append("held")  # it is dispatched again
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
