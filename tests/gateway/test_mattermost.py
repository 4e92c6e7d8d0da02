"""Mattermost: its REST API and its WebSocket against a scripted server."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec
import pytest

from hermes_acp.frontends.gateway.port.platform_port import OutgoingMessage, PlatformError
from hermes_acp.frontends.gateway.port.platform_port import Place as GatewayPlace
from tests.contract.platform_attacks import withstands_all
from tests.contract.platform_suite import check_all
from tests.gateway.mattermost_server import BOT_USER, MattermostWorld
from tests.gateway.scripted_server import Place, line, scripted, until

pytestmark = pytest.mark.anyio
ROOM = GatewayPlace(MattermostWorld.room)
HELLO = OutgoingMessage("Hello", "k")


@pytest.mark.slow
async def test_mattermost_passes_the_platform_contract(tmp_path: Path) -> None:
    async with scripted(MattermostWorld()) as world:
        await check_all(world, tmp_path)


@pytest.mark.slow
async def test_attacks_rate_limits_and_kills(tmp_path: Path) -> None:
    async with scripted(MattermostWorld()) as world:
        await withstands_all(world, tmp_path)


async def test_messages_not_from_people_are_ignored() -> None:
    async with scripted(MattermostWorld()) as world, line(world) as there:
        room = Place(world.room)
        await world.deliver("anna", room, "a webhook", props={"from_webhook": "true"})
        await world.deliver("anna", room, "another's name", props={"override_username": "anna"})
        await world.deliver("anna", room, "joined", type="system_join_channel")
        await world.deliver("anna", room, "an own post", user_id=BOT_USER)
        await world.send("posted", {"post": "no post"})
        await world.send("typing", {"user_id": "user11"})
        await world.deliver("mallory", Place(world.room, "root1"), "@Agent, hello")
        await world.deliver("anna", room, "to @agent2 and agent@agent", props={"from_bot": "false"})
        await world.deliver("anna", room, "in a thread that it follows", mentions=[BOT_USER])
        await world.deliver("anna", world.direct_place("anna"), "to you", props=None)
        named, other, followed, direct = await there.messages(4)
        assert (named.text, named.sender, named.place.thread) == ("hello", world.id_of("mallory"), "root1")
        assert (named.is_addressed, other.is_addressed, followed.is_addressed) == (True, False, True)
        assert (other.place.is_direct, direct.place.is_direct) == (False, True)


async def test_missed_messages_are_read_from_the_channels() -> None:
    async with scripted(MattermostWorld()) as world:
        async with line(world) as there:
            await world.deliver("anna", Place(world.room), "One")
            await there.messages(1)
            await until(lambda: bool(there.position))
            position = msgspec.json.decode(there.position)
        await world.deliver("anna", Place(world.room, "root1"), "Two", is_missed=True)
        await world.deliver("anna", Place(world.room), "taken back", is_missed=True, delete_at=5)
        gone = {**position, "gone": {"last": 1, "post_id": "x", "is_direct": False}}
        async with line(world, msgspec.json.encode(gone).decode()) as there:
            missed = await there.messages(1)
            assert [(each.text, each.place.thread) for each in missed] == [("Two", "root1")]
            await until(lambda: "gone" not in there.position)
            assert world.socket is not None
            await world.socket.close()
            await until(lambda: bool(there.ended))


async def test_texts_files_and_error_responses() -> None:
    async with scripted(MattermostWorld()) as world, line(world) as there:
        text = "@all see ![x](https://evil.test/?secret) and `@here ![y]`\n```\nvec![1] @channel\n```"
        first = await there.platform.say(ROOM, OutgoingMessage(text, "k"))
        shown = world.screen.posts[-1].texts[-1]
        assert shown.replace("\u200b", "") == text
        assert shown.startswith("@\u200ball see !\u200b[x]")
        assert shown.endswith("`@here ![y]`\n```\nvec![1] @channel\n```")
        assert await there.platform.say(ROOM, OutgoingMessage(text, "k")) == first
        assert len(world.screen.posts) == 1
        await there.platform.edit(ROOM, first, "Done.")
        assert world.screen.posts[-1].texts[-1] == "Done."
        world.files["f1"] = b"x" * 100
        files = {"files": [{"id": "f1", "name": "a.txt", "mime_type": "text/plain", "size": 100}]}
        await world.deliver("anna", Place(world.room), "Look", metadata=files)
        found = (await there.messages(1))[0]
        assert await there.platform.fetch(found.attachments[0], 1_000) == b"x" * 100
        assert len(await there.platform.fetch(found.attachments[0], 10)) == 11
        with pytest.raises(PlatformError, match=r"HTTP 404 app\.post") as refused:
            await there.platform.edit(ROOM, "post999", "Hello")
        assert refused.value.is_permanent
        world.faults.refusals = 1
        with pytest.raises(PlatformError, match="HTTP 429") as refused:
            await there.platform.say(ROOM, HELLO)
        assert (refused.value.retry_after_s, refused.value.is_permanent) == (0.05, False)


async def test_the_token_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with scripted(MattermostWorld()) as world:
        async with line(world) as there:
            await there.platform.say(ROOM, HELLO)
        world.accepts = "another-token"
        with pytest.raises(PlatformError, match="does not accept the token"):
            async with line(world):
                pass
        assert world.secrets["token"] not in caplog.text
