"""Work on the runs of several profiles that share a pool, in fair rotation."""

from collections.abc import Mapping
from contextlib import AsyncExitStack

import anyio

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.ports.run_ports import WorkScope
from hermes_acp.runs.fleet.fleet_member import FleetMember
from hermes_acp.runs.fleet.fleet_worker import FleetWorker


async def drive_pool(members: Mapping[str, FleetMember], scope: WorkScope) -> None:
    """Work on the runs of the members, given by tenant, until cancelled or drained.

    Raises ConfigError or StorageError.
    """
    pools = {member.access.pool for member in members.values()}
    servers = {(member.access.address, member.access.namespace) for member in members.values()}
    if len(pools) != 1 or len(servers) != 1:
        raise ConfigError(
            f"These profiles do not share a pool: {', '.join(sorted(members))}.",
            hint="Give them the same fleet.pool, fleet.address and fleet.namespace.",
        )
    first = next(iter(members.values()))
    async with AsyncExitStack() as stack:
        for member in members.values():
            stack.push_async_callback(_close, member)
            await member.open(scope.places)
        worker = FleetWorker(await first.client(), pools.pop(), members, first.settings)
        await stack.enter_async_context(background_tasks(*(member.keep for member in members.values())))
        await worker.run(scope)


async def _close(member: FleetMember) -> None:
    with anyio.CancelScope(shield=True):
        await member.close()
