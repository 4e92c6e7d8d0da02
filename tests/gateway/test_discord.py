"""Discord: discord.py against a scripted server."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec
import pytest

from hermes_acp.frontends.gateway.port.platform_port import (
    Attachment,
    Choice,
    OutgoingMessage,
    PlatformError,
    Press,
)
from hermes_acp.frontends.gateway.port.platform_port import Place as GatewayPlace
from tests.contract.platform_attacks import withstands_all
from tests.contract.platform_suite import check_all
from tests.gateway.discord_server import BOT_ID, DiscordWorld
from tests.gateway.scripted_server import PEOPLE, Place, line, scripted, until

pytestmark = pytest.mark.anyio
ROOM = GatewayPlace(DiscordWorld.room)
THREAD = GatewayPlace(DiscordWorld.room, DiscordWorld.thread)
IN_THREAD = Place(DiscordWorld.room, DiscordWorld.thread)
HELLO = OutgoingMessage("Hello", "k")


@pytest.mark.slow
async def test_discord_passes_the_platform_contract(tmp_path: Path) -> None:
    async with scripted(DiscordWorld()) as world:
        await check_all(world, tmp_path)


@pytest.mark.slow
async def test_attacks_rate_limits_and_kills(tmp_path: Path) -> None:
    async with scripted(DiscordWorld()) as world:
        await withstands_all(world, tmp_path)


async def test_messages_not_from_people_are_ignored() -> None:
    async with scripted(DiscordWorld()) as world, line(world) as there:
        room = Place(world.room)
        await world.deliver("anna", room, "a bot", author={**_anna(), "bot": True})
        await world.deliver("anna", room, "a webhook", webhook_id="5", author={**_anna(), "id": "5"})
        await world.deliver("anna", room, "joined", type=7)
        await world.deliver("mallory", IN_THREAD, f"<@!{BOT_ID}>, hello", mentions=[_agent()])
        answered = world.message(room, _agent(), "asked")
        reference = {"message_id": answered["id"], "channel_id": world.room, "guild_id": "700"}
        await world.deliver(
            "anna", room, "yes", type=19, message_reference=reference, referenced_message=answered
        )
        await world.deliver("anna", world.direct_place("anna"), "to you")
        mention, reply, direct = await there.messages(3)
        assert (mention.text, mention.is_addressed, mention.place) == ("hello", True, THREAD)
        assert mention.sender == str(PEOPLE["mallory"])
        assert (reply.is_addressed, direct.is_addressed) == (True, False)
        assert (reply.place.is_direct, direct.place.is_direct) == (False, True)


async def test_buttons_edits_threads_and_files() -> None:
    async with scripted(DiscordWorld()) as world, line(world) as there:
        choice = Choice("abcdef123456.AB2CD.yes", "Y" * 100)
        message_id = await there.platform.say(THREAD, OutgoingMessage("Sure?", "k", (choice,)))
        assert await there.platform.say(THREAD, OutgoingMessage("Sure?", "k", (choice,))) == message_id
        assert len(world.screen.posts) == 1
        post = world.screen.posts[-1]
        assert post.request["flags"] == 1 << 2  # Link previews are suppressed.
        await world.press("eve", post, "Y" * 80)
        await until(lambda: any(kind == "interaction" for kind, _ in world.requests))
        press = there.received.pop()
        assert isinstance(press, Press)
        assert (press.sender, press.message_id, press.place) == (str(PEOPLE["eve"]), message_id, THREAD)
        await there.platform.edit(THREAD, message_id, "Done.")
        assert (post.texts, post.buttons) == (["Sure?", "Done."], {})
        direct = GatewayPlace(world.direct_place("anna").room, is_direct=True)
        await there.platform.say(direct, OutgoingMessage("Sure?", "k2", (choice,)))
        await world.press("anna", world.screen.posts[-1], "Y" * 80)
        await until(lambda: len(there.received) == 1)
        assert there.received.pop().place == direct
        world.files["a"] = b"x" * 100
        file = {"id": "1", "filename": "a.txt", "size": 100, "url": f"{world.url}/files/a", "proxy_url": ""}
        await world.deliver("anna", Place(world.room), "Look", attachments=[file])
        found = (await there.messages(1))[0]
        assert await there.platform.fetch(found.attachments[0], 1_000) == b"x" * 100
        assert len(await there.platform.fetch(found.attachments[0], 10)) == 11
        for elsewhere in (
            "https://evil.test/a",
            "https://discordapp.com.evil.test/a",
            "http://cdn.discordapp.com/a",
        ):
            with pytest.raises(PlatformError, match="files of this type"):
                await there.platform.fetch(Attachment(elsewhere, "a"), 10)


@pytest.mark.slow  # The library waits five seconds before it starts another session.
async def test_messages_missed_by_a_lost_session_are_read_from_the_channels() -> None:
    async with scripted(DiscordWorld()) as world:
        async with line(world) as there:
            await world.deliver("anna", IN_THREAD, "One")
            await there.messages(1)
            await world.deliver("anna", IN_THREAD, "Two", is_missed=True)
            await world.drop()
            assert [each.text for each in await there.messages(2)] == ["One", "Two"]
            assert len(world.identified) == 2
            position = there.position
        known = msgspec.json.decode(position)
        gone = {**known, "404": {"place": {"room": "404"}, "last": 1}}
        await world.deliver("anna", IN_THREAD, "Three", is_missed=True)
        async with line(world, msgspec.json.encode(gone).decode()) as there:
            messages = await there.messages(1)
            assert [(each.text, each.place) for each in messages] == [("Three", THREAD)]
            await until(lambda: "404" not in there.position)


async def test_error_responses_are_distinguished() -> None:
    async with scripted(DiscordWorld()) as world:
        async with line(world) as there:
            with pytest.raises(PlatformError, match="Unknown Message") as refused:
                await there.platform.edit(ROOM, "1", "Hello")
            assert refused.value.is_permanent
            world.faults.refusals = 5  # After this many, the library gives up.
            with pytest.raises(PlatformError) as refused:
                await there.platform.say(ROOM, HELLO)
            assert (refused.value.retry_after_s, refused.value.is_permanent) == (0.05, False)
        world.close_with = 4014
        with pytest.raises(ExceptionGroup) as group:
            async with line(world):
                pass
        assert group.group_contains(PlatformError, match="Message Content Intent")


async def test_the_token_is_in_no_log_and_no_error(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with scripted(DiscordWorld()) as world:
        token = world.secrets["token"]
        async with line(world) as there:
            await there.platform.say(ROOM, HELLO)
        world.accepts = "another-token"
        with pytest.raises(PlatformError) as refused:
            async with line(world):
                pass
    assert "IDENTIFY" in caplog.text
    assert token not in caplog.text + refused.value.reason


def _anna() -> dict[str, object]:
    return {"id": str(PEOPLE["anna"]), "username": "anna", "discriminator": "0", "avatar": None}


def _agent() -> dict[str, object]:
    return {"id": str(BOT_ID), "username": "agent", "discriminator": "0", "avatar": None, "bot": True}
