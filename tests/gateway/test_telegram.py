"""Telegram: python-telegram-bot against a scripted server."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.frontends.gateway.formatting import SLACK, TELEGRAM, to_markup
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
from tests.gateway.scripted_server import BOT, PEOPLE, Place, line, scripted, until
from tests.gateway.telegram_server import NAME, TelegramWorld, visible

pytestmark = pytest.mark.anyio
ROOM = GatewayPlace(TelegramWorld.room)
ANNA = GatewayPlace(str(PEOPLE["anna"]), is_direct=True)
STYLED = (
    "# Title\n**bold** `a<b` [a](https://x.test/?a=1&b=2) <script>\n\n- one\n- two\n\n```\nx = 1 < 2\n```"
)


@pytest.mark.slow
async def test_telegram_passes_the_platform_contract(tmp_path: Path) -> None:
    async with scripted(TelegramWorld()) as world:
        await check_all(world, tmp_path)


@pytest.mark.slow
async def test_attacks_rate_limits_and_kills(tmp_path: Path) -> None:
    async with scripted(TelegramWorld()) as world:
        await withstands_all(world, tmp_path)


async def test_a_group_whose_id_changes_stays_the_configured_room() -> None:
    async with scripted(TelegramWorld()) as world:
        async with line(world) as there:
            await world.deliver("anna", Place(world.room), "One")
            world.moved[world.room] = "-100900"
            with pytest.raises(PlatformError) as refused:
                await there.platform.say(ROOM, OutgoingMessage("Hello", "k"))
            assert not refused.value.is_permanent
            assert refused.value.retry_after_s > 0
            await there.platform.say(ROOM, OutgoingMessage("Hello", "k"))
            assert world.screen.posts[-1].place.room == "-100900"
            await world.deliver("anna", Place("-100900"), "Two")
            assert [each.place for each in await there.messages(2)] == [ROOM, ROOM]
            position = there.position
        async with line(
            world, position, frozenset({"-100900"})
        ) as there:  # The operator has named the other one.
            await world.deliver("anna", Place("-100900"), "Three")
            assert (await there.messages(1))[0].place.room == "-100900"
        async with line(world, "") as there:
            await world.deliver("anna", Place(world.room), "", migrate_to_chat_id=-100900)
            await world.deliver("anna", Place("-100900"), "Four")
            assert (await there.messages(1))[0].place == ROOM


async def test_an_update_is_confirmed_only_after_it_is_stored() -> None:
    async with scripted(TelegramWorld()) as world:
        async with line(world) as there:
            await world.joined()
            there.is_refusing = True
            await world.deliver("anna", Place("11"), "Hello")
            await until(lambda: bool(there.ended))
            assert len(world.updates) == 1
            position = there.position
        async with line(world, position) as there:
            assert (await there.messages(1))[0].text == "Hello"
            await until(lambda: not world.updates)


async def test_messages_not_from_people_are_ignored() -> None:
    async with scripted(TelegramWorld()) as world, line(world) as there:
        await world.joined()
        room = Place(world.room)
        await world.deliver("anna", room, "as the group", sender_chat={"id": -100500, "type": "supergroup"})
        await world.deliver(
            "anna", room, "a bot", **{"from": {"id": 5, "is_bot": True, "first_name": "anna"}}
        )
        await world.deliver("anna", room, "no sender", **{"from": None})
        world.put("message", {"text": "not a message"})
        world.put("edited_message", {"message_id": 1})
        await world.deliver(
            "anna", Place(world.room, "7"), "/stop@agent_bot now", entities=_command("/stop@agent_bot")
        )
        await world.deliver(
            "mallory", room, "😀 hi @AGENT_bot", entities=[_entity("mention", 6, len(NAME) + 1)]
        )
        await world.deliver("anna", room, "yes", reply_to_message={"from": {"id": BOT}})
        named = [{**_entity("text_mention", 0, 2), "user": {"id": PEOPLE["bert"]}}]
        await world.deliver("anna", room, "to bert", entities=named)
        command, mention, reply, other = await there.messages(4)
        assert (command.text, command.is_addressed, command.place.thread) == ("/stop now", True, "7")
        assert (mention.sender, mention.is_addressed) == (str(PEOPLE["mallory"]), True)
        assert (reply.is_addressed, other.is_addressed) == (True, False)


async def test_buttons_edits_threads_and_files() -> None:
    async with scripted(TelegramWorld()) as world, line(world) as there:
        await world.joined()
        place = GatewayPlace(world.room, "42")
        message = OutgoingMessage("Sure?", "k", (Choice("abcdef123456.AB2CD.yes", "Yes"),))
        message_id = await there.platform.say(place, message)
        post = world.screen.posts[-1]
        assert post.place == Place(world.room, "42")
        assert post.request["link_preview_options"] == {"is_disabled": True}
        await world.press("eve", post, "Yes")
        press = (await there.messages(1)) or there.received[0]
        assert isinstance(press, Press)
        assert (press.sender, press.message_id, press.place) == (str(PEOPLE["eve"]), message_id, place)
        await until(lambda: any(method == "answercallbackquery" for method, _ in world.requests))
        await there.platform.edit(place, message_id, "Done.")
        await there.platform.edit(place, message_id, "Done.")  # "message is not modified"
        assert post.texts == ["Sure?", "Done."]
        assert not post.buttons
        world.files["voice-1"] = b"x" * 100
        voice = {"file_id": "voice-1", "mime_type": "audio/ogg", "file_size": 100}
        photos = [{"file_id": size, "file_size": 1} for size in ("small", "large")]
        await world.deliver("anna", Place("11"), "", caption="Listen", voice=voice)
        await world.deliver("anna", Place("11"), "", photo=photos)
        heard, seen = await there.messages(3)
        assert (heard.text, heard.attachments[0].mime_type) == ("Listen", "audio/ogg")
        assert seen.attachments[0].reference == "large"
        assert await there.platform.fetch(heard.attachments[0], 1_000) == b"x" * 100
        with pytest.raises(PlatformError, match="too large"):
            await there.platform.fetch(Attachment("voice-1", "x"), 10)


async def test_texts_are_styled_and_never_rejected() -> None:
    async with scripted(TelegramWorld()) as world, line(world) as there:
        await there.platform.say(ANNA, OutgoingMessage(STYLED, "k"))
        assert world.screen.posts[-1].texts[-1] == "Title\n\nbold a<b a <script>\n\n• one\n• two\n\nx = 1 < 2"
        await there.platform.say(ANNA, OutgoingMessage("[](https://x.test)", "k"))
        await there.platform.say(
            ANNA, OutgoingMessage(">a\n" * 1_365, "k")
        )  # Longer with styles than without.
        assert len(world.screen.posts[-1].texts[-1]) == 4_095
        world.cannot_parse = True
        await there.platform.say(ANNA, OutgoingMessage("**bold**", "k"))
        assert world.screen.posts[-1].texts[-1] == "**bold**"
        with pytest.raises(PlatformError) as refused:
            await there.platform.edit(ANNA, "11:999", "Hello")
        assert refused.value.is_permanent


async def test_the_token_is_in_no_log_and_no_error(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with scripted(TelegramWorld()) as world:
        token = world.secrets["token"]
        async with line(world) as there:
            await there.platform.say(ANNA, OutgoingMessage("Hello", "k"))
            world.files["f"] = b"x"
            await there.platform.fetch(Attachment("f", "f"), 10)
        world.is_token_valid = False
        with pytest.raises(PlatformError, match="rejected") as refused:
            async with line(world):
                pass
    assert "sendMessage" in caplog.text
    assert token not in caplog.text + refused.value.reason
    assert token.partition(":")[2] not in caplog.text + refused.value.reason


@given(text=st.text(st.sampled_from("ab \n*_`~[]()<>&!#-+1.|é😀>\"'"), max_size=300))
def test_a_styled_text_is_well_formed_and_mentions_nobody(text: str) -> None:
    visible(to_markup(text, TELEGRAM))
    shown = to_markup(text, SLACK)
    assert "<!" not in shown
    assert "<@" not in shown


def _entity(kind: str, offset: int, size: int) -> dict[str, object]:
    return {"type": kind, "offset": offset, "length": size}


def _command(text: str) -> list[dict[str, object]]:
    return [_entity("bot_command", 0, len(text))]
