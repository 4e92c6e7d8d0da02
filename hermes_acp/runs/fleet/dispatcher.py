"""Dispatch due runs to Temporal, which finds a worker for each."""

from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import anyio
from msgspec import structs

from hermes_acp.core.errors import StorageError
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.fleet.dispatches import DueRun, forget_dispatch, take_due
from hermes_acp.runs.fleet.fleet_access import FleetAccess
from hermes_acp.runs.fleet.workspaces.workspace_table import preferred_machine
from hermes_acp.runs.tables.table_connection import TableConnection, TableDatabase

if TYPE_CHECKING:
    from temporalio.client import Client

RPC_TIMEOUT_S: Final = 3.0
BACKOFF_S: Final = 2.0
"""Seconds that dispatching pauses after Temporal did not respond, so that many runs incur that wait only once."""

MIN_RESEND_S: Final = 10.0
CONNECT_ATTEMPTS: Final = 3
CONNECT_WAIT_S: Final = 0.3
"""Seconds to wait before a second attempt: a server that has just opened its port may not answer yet."""


def queue_of(pool: str, place: str, machine: str = "") -> str:
    """Return the name of the task queue for a place in a pool, or for one of its machines."""
    queue = f"hermes/{pool}/{place}" if place else f"hermes/{pool}"
    return f"{queue}@{machine}" if machine else queue


class Dispatcher:
    """Dispatches the due runs of one profile."""

    def __init__(
        self, database: TableDatabase, access: FleetAccess, clock: Clock, settings: EngineSettings
    ) -> None:
        """Store the arguments; nothing is connected until first use."""
        self.access = access
        self._database = database
        self._clock = clock
        self._settings = settings
        self._client: Client | None = None
        self._silent_since_s = -BACKOFF_S

    async def client(self) -> "Client":
        """Return the connection to Temporal. Raises StorageError."""
        from temporalio.client import Client

        access = self.access
        for attempt in range(CONNECT_ATTEMPTS):
            if self._client:
                break
            try:
                with anyio.fail_after(RPC_TIMEOUT_S):
                    self._client = await Client.connect(
                        access.address,
                        namespace=access.namespace,
                        api_key=access.api_key or None,
                        tls=access.uses_tls or bool(access.api_key),
                    )
            except (RuntimeError, TimeoutError) as error:
                if attempt + 1 == CONNECT_ATTEMPTS:
                    raise StorageError(
                        f"The Temporal server at {access.address} cannot be reached: {error}.",
                        hint="Check that it is running, and check fleet.address and fleet.namespace in the settings.",
                    ) from error
                await anyio.sleep(CONNECT_WAIT_S * 2**attempt)
        assert self._client
        return self._client

    async def send(self) -> None:
        """Dispatch the due runs. Failed dispatches are retried later."""
        while self._clock.monotonic() - self._silent_since_s >= BACKOFF_S:
            now = self._clock.now()
            resend_s = max(MIN_RESEND_S, 2 * self._settings.lease_s)
            due = await self._database.write(
                lambda connection, now=now, resend_s=resend_s: take_due(
                    connection, now, max_running=self.access.max_running, resend_s=resend_s
                )
            )
            if self.access.workspaces:
                due = await self._with_machines(due)
            for number, run in enumerate(due):
                if not await self._hand_over(run):
                    self._silent_since_s = self._clock.monotonic()
                    await self._take_back([each.id for each in due[number:]])
                    return
            if not due:
                return

    async def _with_machines(self, due: list[DueRun]) -> list[DueRun]:
        """Return each run with the machine that has its folder."""
        within_s = self._settings.lease_s + self._settings.heartbeat_s + self._settings.poll_s

        def look(connection: TableConnection) -> list[DueRun]:
            return [
                structs.replace(run, machine=preferred_machine(connection, run.id, within_s)) for run in due
            ]

        return await self._database.read(look)

    async def _hand_over(self, run: DueRun) -> bool:
        """Start a run's workflow, or signal the waiting one; return False if Temporal cannot be reached."""
        from temporalio.common import Priority, WorkflowIDConflictPolicy
        from temporalio.service import RPCError

        from hermes_acp.runs.fleet.run_workflow import GO_ON, RunWorkflow, Ticket

        tenant, pool, lease_s = self.access.tenant, self.access.pool, self._settings.lease_s
        nearest = queue_of(pool, run.place, run.machine) if run.machine else ""
        try:
            client = await self.client()
            await client.start_workflow(
                RunWorkflow.run,
                Ticket(tenant, run.id, run.priority, lease_s, self.access.move_after_s),
                id=f"{tenant}/{run.id}",
                task_queue=queue_of(pool, run.place),
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                start_signal=GO_ON,
                start_signal_args=[nearest],
                task_timeout=timedelta(seconds=min(10.0, max(1.0, lease_s))),
                priority=Priority(priority_key=run.priority, fairness_key=tenant),
                rpc_timeout=timedelta(seconds=RPC_TIMEOUT_S),
            )
        except (RPCError, StorageError):
            return False
        return True

    async def _take_back(self, run_ids: list[str]) -> None:
        def forget(connection: TableConnection) -> None:
            for run_id in run_ids:
                forget_dispatch(connection, run_id)

        with suppress(StorageError):
            await self._database.write(forget)
