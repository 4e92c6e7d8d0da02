"""Teams: the Bot Framework's webhook and connector against a scripted server, and forged requests."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from hermes_acp.frontends.gateway.platforms.teams import TeamsPlugin
from hermes_acp.frontends.gateway.port.platform_port import (
    Attachment,
    Choice,
    FilePlatform,
    OutgoingFile,
    OutgoingMessage,
    PlatformError,
    Press,
)
from hermes_acp.frontends.gateway.port.platform_port import Place as GatewayPlace
from hermes_acp.frontends.gateway.teams_files import FileOffers
from tests.contract.platform_attacks import withstands_all
from tests.contract.platform_suite import check_all, file_mark
from tests.gateway.scripted_server import Place, line, scripted, until
from tests.gateway.teams_server import TENANT, TeamsWorld

RSA: Any = import_module("cryptography.hazmat.primitives.asymmetric.rsa")
pytestmark = pytest.mark.anyio
ROOM = GatewayPlace(TeamsWorld.room)
HELLO = OutgoingMessage("Hello", "k")


@pytest.mark.slow
async def test_teams_passes_the_platform_contract(tmp_path: Path) -> None:
    async with scripted(TeamsWorld()) as world:
        world.plugin = TeamsPlugin((world.url,))
        await check_all(world, tmp_path)


@pytest.mark.slow
async def test_attacks_rate_limits_and_kills(tmp_path: Path) -> None:
    async with scripted(TeamsWorld()) as world:
        await withstands_all(world, tmp_path)


async def test_only_requests_signed_by_microsoft_for_this_bot_count() -> None:
    async with scripted(TeamsWorld()) as world, line(world) as there:
        said = world.activity("anna", Place(world.room), text="forged")
        own = RSA.generate_private_key(65_537, 2_048)
        await world.call(said, key=own)
        await world.call(said, key="a-shared-secret-that-is-long-enough-for-it", algorithm="HS256")
        await world.call(said, key="", algorithm="none")
        await world.call(said, kid="another-key")
        await world.call(said, aud="00000000-0000-0000-0000-00000000000b")
        await world.call(said, iss="https://evil.test")
        await world.call(said, exp=time.time() - 3_600)
        await world.call(said, exp=None)
        await world.call(said, serviceurl="https://evil.test/")
        await world.call(said, serviceurl=None)
        await world.call({**said, "channelId": "webchat"})
        for header in ("", "Bearer", "Bearer x", "Basic YTpi"):
            await world.call_with(said, header)
        assert set(world.answers) == {403}
        await world.call_with({"type": "message"}, "")
        assert world.answers[-1] == 400
        assert world.key_loads == 1  # Whatever keys requests name.
        assert not there.received
        await world.call({**said, "text": "real"})
        assert [each.text for each in await there.messages(1)] == ["real"]
        assert world.answers[-1] == 200


async def test_a_key_that_is_not_endorsed_for_teams_does_not_count() -> None:
    async with scripted(TeamsWorld()) as world, line(world) as there:
        world.endorsements = ["webchat"]
        await world.say("anna", "Hello")
        assert world.answers == [403]
        assert not there.received


async def test_messages_not_from_people_are_ignored() -> None:
    async with scripted(TeamsWorld()) as world, line(world) as there:
        room = Place(world.room)
        await world.deliver(
            "anna", room, "a bot", **{"from": {"id": "28:x", "aadObjectId": "x", "role": "bot"}}
        )
        await world.deliver("anna", room, "no account", **{"from": {"id": "29:x", "name": "anna"}})
        await world.deliver("anna", room, "joined", type="conversationUpdate")
        elsewhere = {"id": world.room, "conversationType": "channel", "tenantId": "another"}
        await world.deliver("anna", room, "another tenant", conversation=elsewhere)
        await world.deliver("mallory", Place(world.room, "17"), "a &lt; b", names_agent=True)
        await world.deliver("anna", room, "<at>bert</at> hello", entities=[{"type": "clientInfo"}])
        await world.say("anna", "to you")
        named, other, direct = await there.messages(3)
        assert set(world.answers) == {200}
        assert (named.text, named.sender) == ("a < b", f"{TENANT}:object-15")
        assert (named.place, named.is_addressed) == (GatewayPlace(world.room, "17"), True)
        assert (other.text, other.is_addressed, other.place.is_direct) == (
            "<at>bert</at> hello",
            False,
            False,
        )
        assert direct.place.is_direct


async def test_buttons_edits_threads_and_files() -> None:
    async with scripted(TeamsWorld()) as world:
        place = GatewayPlace(world.room, "17")
        async with line(world) as there:
            with pytest.raises(PlatformError, match="Nobody has written") as refused:
                await there.platform.say(place, HELLO)
            assert refused.value.is_permanent
            await world.deliver("anna", Place(world.room, "17"), "Hi")
            message = OutgoingMessage("Sure? ![x](https://evil.test/?s)", "k", (Choice("a.b.yes", "Yes"),))
            message_id = await there.platform.say(place, message)
            post = world.screen.posts[-1]
            assert post.place == Place(world.room, "17")
            assert "![" not in post.texts[-1]
            await world.press("eve", post, "Yes")
            await until(lambda: len(there.received) == 2)
            press = there.received.pop()
            assert isinstance(press, Press)
            assert (press.sender, press.message_id, press.place) == (world.id_of("eve"), message_id, place)
            assert press.token == "a.b.yes"
            await there.platform.edit(place, message_id, "Done.")
            assert (post.texts[-1], post.buttons) == ("Done.", {})
            with pytest.raises(PlatformError, match="HTTP 404") as refused:
                await there.platform.edit(place, "999", "Done.")
            assert refused.value.is_permanent
            file = {"contentType": "application/vnd.microsoft.teams.file.download.info", "name": "a.txt"}
            address = "https://contoso.sharepoint.com/a?tempauth=x"
            files = [
                {**file, "content": {"downloadUrl": address}},
                {"contentType": "text/html", "content": "<p>"},
            ]
            await world.deliver("anna", Place(world.room), "Look", attachments=files)
            found = (await there.messages(2))[-1].attachments
            assert found == (Attachment(address, "a.txt", "text/plain"),)
            with pytest.raises(PlatformError, match="files of this type"):
                await there.platform.fetch(Attachment("https://evil.test/a", "a"), 10)
            position = there.position
        async with line(world, position) as there:  # It knows the conversation's address.
            await there.platform.say(place, HELLO)


async def test_files_are_sent_only_to_those_who_were_offered_them() -> None:
    async with scripted(TeamsWorld()) as world:
        world.plugin = TeamsPlugin((world.url,))
        await files_are_given(world)


async def files_are_given(world: TeamsWorld) -> None:
    async with line(world) as there:
        await world.say("anna", "Hi")
        await world.say_in_room("anna", "Hi")
        await world.say("eve", "Hi")
        direct, platform = GatewayPlace(world.direct_place("anna").room, is_direct=True), there.platform
        assert isinstance(platform, FilePlatform)
        small = OutgoingFile("plot.png", "image/png", b"picture", "k")
        large = OutgoingFile("large.png", "image/png", b"x" * 40_000, "k")
        notes = OutgoingFile("notes.txt", "text/plain", b"notes", "k")
        await platform.send_file(ROOM, small)
        assert world.screen.posts[-1].texts == [file_mark("plot.png", b"picture")]
        for file in (large, notes):
            with pytest.raises(PlatformError, match="only in direct conversations") as refused:
                await platform.send_file(ROOM, file)
            assert refused.value.is_permanent
            await platform.send_file(direct, file)
            assert file_mark(file.name, file.content) in [post.texts[-1] for post in world.screen.posts]
        world.file_answer = ""
        for _ in range(6):
            await platform.send_file(direct, notes)
        before = len(world.screen.posts)
        offers, anna, eve = world.offers, world.direct_place("anna"), world.direct_place("eve")
        await world.answer_offer("anna", anna, offers[0], "decline")
        assert len(world.screen.posts) == before
        await world.answer_offer("anna", anna, offers[0], "accept")  # It was declined.
        assert "no longer on this machine" in world.screen.posts[-1].texts[-1]
        await world.answer_offer("eve", eve, offers[1], "accept")  # It was Anna's.
        assert "no longer on this machine" in world.screen.posts[-1].texts[-1]
        addresses = ("http://169.254.169.254/latest", "https://evil.test/sharepoint.com", "file:///etc/x", "")
        for offer, address in zip(offers[2:], addresses, strict=True):
            await world.answer_offer("anna", anna, offer, "accept", uploadUrl=address)
            assert "did not provide an upload address" in world.screen.posts[-1].texts[-1]
        uploaded = len(world.drive)
        for _ in range(2):
            await world.answer_offer("anna", anna, offers[1], "accept")
        assert world.screen.posts[-2].texts == [file_mark("notes.txt", b"notes")]
        assert "Ask for it again" in world.screen.posts[-1].texts[-1]
        assert len(world.drive) == uploaded + 1
        assert set(world.answers) == {200}
        assert len(await there.messages(3)) == 3


async def test_the_oldest_offers_are_dropped_beyond_a_size() -> None:
    offers = FileOffers(None, max_bytes=10)
    first, *_, last = [offers.offer("a", OutgoingFile("x", "text/plain", b"four", str(n))) for n in range(4)]

    def answer(card: Mapping[str, Any]) -> dict[str, Any]:
        return {"action": "accept", "context": card["content"]["acceptContext"]}

    with pytest.raises(PlatformError, match="no longer on this machine"):
        await offers.take("a", answer(first))
    with pytest.raises(PlatformError, match="did not provide an upload address"):
        await offers.take("a", answer(last))


async def test_a_message_is_accepted_only_after_it_is_stored() -> None:
    async with scripted(TeamsWorld()) as world, line(world) as there:
        there.is_refusing = True
        await world.say("anna", "Hello")
        assert world.answers == [500]
        await until(lambda: bool(there.ended))


async def test_the_password_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with scripted(TeamsWorld()) as world, line(world):
        await world.say("anna", "Hello")
        assert world.secrets["password"] not in caplog.text
        assert "own-token" not in caplog.text
