"""Slack: slack-sdk and Socket Mode against a scripted server."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from hermes_acp.frontends.gateway.delivery.text_splitting import split_text
from hermes_acp.frontends.gateway.platforms.slack import LIMITS
from hermes_acp.frontends.gateway.port.platform_port import (
    Attachment,
    Choice,
    IncomingMessage,
    OutgoingMessage,
    PlatformError,
    Press,
)
from hermes_acp.frontends.gateway.port.platform_port import Place as GatewayPlace
from tests.contract.platform_attacks import withstands_all
from tests.contract.platform_suite import check_all
from tests.gateway.scripted_server import Place, line, scripted, until
from tests.gateway.slack_server import BOT_USER, SlackWorld

pytestmark = pytest.mark.anyio
ROOM = GatewayPlace(SlackWorld.room)


@pytest.mark.slow
async def test_slack_passes_the_platform_contract(tmp_path: Path) -> None:
    async with scripted(SlackWorld()) as world:
        await check_all(world, tmp_path)


@pytest.mark.slow
async def test_attacks_rate_limits_and_kills(tmp_path: Path) -> None:
    async with scripted(SlackWorld()) as world:
        await withstands_all(world, tmp_path)


async def test_an_envelope_is_acknowledged_only_after_it_is_stored() -> None:
    async with scripted(SlackWorld()) as world:
        async with line(world) as there:
            await world.joined()
            there.is_refusing = True
            await world.deliver("anna", Place(world.room), "Hello")
            await until(lambda: bool(there.ended))
        assert not world.acknowledged
        async with line(world) as there:  # It is delivered again.
            assert [each.text for each in await there.messages(1)] == ["Hello"]
            await until(lambda: len(world.acknowledged) == 1)


async def test_reconnecting_the_websocket_loses_nothing() -> None:
    async with scripted(SlackWorld()) as world, line(world) as there:
        await world.joined()
        await world.deliver("anna", Place(world.room), "One")
        await world.ask_to_reconnect()
        await world.deliver("anna", Place(world.room), "Two")
        await until(
            lambda: len({each.text for each in there.received if isinstance(each, IncomingMessage)}) == 2
        )
        assert world.connections == 2
        assert not there.ended


async def test_messages_not_from_people_are_ignored() -> None:
    async with scripted(SlackWorld()) as world, line(world) as there:
        await world.joined()
        room = Place(world.room)
        await world.deliver("anna", room, "a program", bot_id="B7")
        await world.deliver("anna", room, "an own message", user=BOT_USER)
        await world.deliver("anna", room, "changed", subtype="message_changed")
        await world.put("events_api", {"type": "event_callback", "event": {"type": "reaction_added"}})
        await world.put("slash_commands", {"command": "/x"})
        await world.deliver(
            "mallory", Place(world.room, "1.5"), f"<@{BOT_USER}>, a &lt; b <https://x.test|x>", team=None
        )
        await world.deliver(
            "anna", room, "from elsewhere", user_team="T9", parent_user_id=BOT_USER, thread_ts=None
        )
        await world.deliver("anna", room, "to bert <@U12>", files=[{"id": "F1", "name": None}], bot_id=None)
        first, second, third = await there.messages(3)
        assert (first.text, first.sender, first.place.thread) == (
            "a < b x (https://x.test)",
            world.id_of("mallory"),
            "1.5",
        )
        assert (first.is_addressed, second.is_addressed, third.is_addressed) == (True, True, False)
        assert (second.sender, third.text, third.attachments) == ("T9:U11", "to bert <@U12>", ())
        await until(lambda: len(world.acknowledged) == 8)


async def test_buttons_edits_threads_and_files() -> None:
    async with scripted(SlackWorld()) as world, line(world) as there:
        await world.joined()
        place = GatewayPlace(world.room, "1690000000.000001")
        message = OutgoingMessage("Sure?", "k", (Choice("abcdef123456.AB2CD.yes", "Y" * 100),))
        message_id = await there.platform.say(place, message)
        post = world.screen.posts[-1]
        assert post.place == Place(world.room, "1690000000.000001")
        assert (post.request["unfurl_links"], post.request["unfurl_media"]) in (
            (False, False),
            ("false", "false"),
        )
        await world.press("eve", post, "Y" * 75)
        await until(lambda: bool(there.received))
        press = there.received.pop()
        assert isinstance(press, Press)
        assert (press.sender, press.message_id, press.place) == (world.id_of("eve"), message_id, place)
        await there.platform.edit(place, message_id, "Done.")
        assert (post.texts, post.buttons) == (["Sure?", "Done."], {})
        world.files["a"] = b"x" * 100
        file = {
            "id": "F1",
            "name": "a.txt",
            "mimetype": "text/plain",
            "size": 100,
            "url_private": f"{world.url}/files/a",
        }
        await world.deliver("anna", Place("D11"), "Look", subtype="file_share", files=[file])
        found = (await there.messages(1))[0]
        assert (found.text, found.place.is_direct) == ("Look", True)
        assert await there.platform.fetch(found.attachments[0], 1_000) == b"x" * 100
        assert len(await there.platform.fetch(found.attachments[0], 10)) == 11
        for elsewhere in ("https://evil.test/a", "https://slack.com.evil.test/a", "http://files.slack.com/a"):
            with pytest.raises(PlatformError, match="files of this type"):
                await there.platform.fetch(Attachment(elsewhere, "a"), 10)


async def test_texts_fit_the_limit_after_escaping() -> None:
    async with scripted(SlackWorld()) as world, line(world) as there:
        for text in (
            "```\n" + "<&>" * 200 + "\n```",
            ">a\n" * 480,
            "<!channel> <@U12>",
            "[x](https://x.test) **b** _i_",
        ):
            assert split_text(text, LIMITS) == [text.strip()]
            message_id = await there.platform.say(ROOM, OutgoingMessage(text, "k", (Choice("t", "Yes"),)))
            await there.platform.edit(ROOM, message_id, text)
        assert world.screen.posts[-1].texts[-1] == "x b i"
        await there.platform.say(ROOM, OutgoingMessage("<" * 4_000, "k", (Choice("t", "Yes"),)))


async def test_error_responses_are_distinguished() -> None:
    async with scripted(SlackWorld()) as world, line(world) as there:
        with pytest.raises(PlatformError, match="message_not_found") as refused:
            await there.platform.edit(ROOM, "1.1", "Hello")
        assert refused.value.is_permanent
        world.faults.refusals = 1
        with pytest.raises(PlatformError, match="ratelimited") as refused:
            await there.platform.say(ROOM, OutgoingMessage("Hello", "k"))
        assert (refused.value.retry_after_s, refused.value.is_permanent) == (0.05, False)
        world.breaks = True
        with pytest.raises(PlatformError) as refused:
            await there.platform.say(ROOM, OutgoingMessage("Hello", "k"))
        assert (refused.value.may_have_arrived, refused.value.is_permanent) == (True, False)


async def test_the_tokens_are_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with scripted(SlackWorld()) as world:
        async with line(world) as there:
            await world.joined()
            await there.platform.say(ROOM, OutgoingMessage("Hello", "k"))
        assert "chat.postMessage" in caplog.text
        assert not [token for token in world.secrets.values() if token in caplog.text]
