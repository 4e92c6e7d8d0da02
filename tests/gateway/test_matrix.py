"""Matrix with a real Synapse: three accounts in one room and in direct conversations."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import anyio
import pytest

from hermes_acp.frontends.gateway.platforms.matrix import PLATFORM
from hermes_acp.frontends.gateway.port.platform_port import PlatformContext
from tests.contract.platform_notices import a_person_is_asked_what_a_run_waits_for
from tests.contract.platform_suite import check_all
from tests.gateway.platform_recorder import Recorder
from tests.gateway.synapse_server import NIO, PYTHON, MatrixWorld, matrix_world, synapse

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON.exists(), reason="Synapse is not installed: tests/install.sh all"),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with synapse(tmp_path_factory.mktemp("synapse")) as address:
        yield address


class KeptCursor:
    """A position in memory, shared by several connections."""

    position = ""

    async def load(self) -> str:
        return self.position

    async def save(self, position: str) -> None:
        self.position = position


async def test_matrix_passes_the_platform_contract(address: str, tmp_path: Path) -> None:
    async with matrix_world(address) as world:
        await check_all(world, tmp_path)
        place = tmp_path / "reports"
        place.mkdir()
        await a_person_is_asked_what_a_run_waits_for(world, place)


async def test_an_invitation_from_before_the_room_was_configured_is_accepted(address: str) -> None:
    async with matrix_world(address) as world:
        cursor, recorder = KeptCursor(), Recorder()
        room = await world.invite("anna")

        def context(*rooms: str) -> PlatformContext:
            return PlatformContext(
                world.settings,
                world.secrets,
                recorder.receive,
                cursor,
                frozenset(rooms),
                recorder.report_rooms,
            )

        for _ in range(2):  # The first sync names the invitation, the second starts after it.
            async with PLATFORM.connect(context(world.room)):
                assert await _members(world, room) == {world.id_of("anna")}
        async with PLATFORM.connect(context(world.room, room)) as platform:
            assert await _members(world, room) == {world.id_of("anna"), world.id_of("agent")}
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(platform.run)
                await world.say_to(room, "anna", "Hello there")
                heard = await recorder.hear("Hello there")
                assert heard.place.room == room
                assert heard.is_addressed
                tasks.cancel_scope.cancel()


async def test_a_room_that_cannot_be_joined_is_reported(address: str) -> None:
    async with matrix_world(address) as world:
        recorder = Recorder()
        client = world.client_of("anna")
        closed = (await client.room_create()).room_id
        rooms = frozenset({world.room, closed})
        context = PlatformContext(
            world.settings, world.secrets, recorder.receive, KeptCursor(), rooms, recorder.report_rooms
        )
        async with PLATFORM.connect(context) as platform, anyio.create_task_group() as tasks:
            assert "M_FORBIDDEN" in (await recorder.see_rooms(closed))[closed]
            tasks.start_soon(platform.run)
            await client.room_invite(closed, world.id_of("agent"))
            await recorder.see_rooms()
            assert world.id_of("agent") in await _members(world, closed)
            agent = world.id_of("agent")
            for preset, is_direct in (
                (NIO.RoomPreset.private_chat, True),
                (NIO.RoomPreset.public_chat, False),
            ):
                made = await client.room_create(preset=preset, invite=[agent], is_direct=True)
                await world.say_to(made.room_id, "anna", f"Direct: {is_direct}")
                assert (await recorder.hear(f"Direct: {is_direct}")).place.is_direct is is_direct
            tasks.cancel_scope.cancel()


async def _members(world: MatrixWorld, room: str) -> set[str]:
    """Return who has joined a room, according to its owner's server."""
    answer = await world.client_of("anna").joined_members(room)
    assert isinstance(answer, NIO.JoinedMembersResponse), answer
    return {member.user_id for member in answer.members}
