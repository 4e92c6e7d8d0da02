"""WhatsApp through Twilio: its library against a scripted server, and forged requests to the webhook."""

from __future__ import annotations

import logging
from pathlib import Path

import httpx2
import pytest
from pydantic import ValidationError

from hermes_acp.config.sections.gateway_settings import TwilioSettings
from hermes_acp.frontends.gateway.platforms.twilio import SendingTimes, TwilioPlugin
from hermes_acp.frontends.gateway.port.platform_port import (
    Attachment,
    FilePlatform,
    OutgoingFile,
    OutgoingMessage,
    PlatformError,
)
from hermes_acp.frontends.gateway.port.platform_port import Place as GatewayPlace
from tests.contract.platform_attacks import (
    a_kill_in_a_send_loses_nothing,
    refusals_for_haste_end_with_the_whole_text,
)
from tests.contract.platform_suite import ASKING, check_all, code_in, connected, file_mark, running
from tests.gateway.scripted_server import line, scripted, until
from tests.gateway.twilio_server import ACCOUNT, NUMBER, PUBLIC, TwilioWorld
from tests.model_server import Reply, serve

pytestmark = pytest.mark.anyio
HELLO = OutgoingMessage("Hello", "k")


@pytest.mark.slow
async def test_twilio_passes_the_platform_contract(tmp_path: Path) -> None:
    async with scripted(TwilioWorld()) as world:
        await check_all(world, tmp_path)


@pytest.mark.slow
async def test_kills_lose_nothing(tmp_path: Path) -> None:
    async with scripted(TwilioWorld()) as world:
        await a_kill_in_a_send_loses_nothing(world, tmp_path)


@pytest.mark.slow  # Twilio does not say how long to wait, so each rejection costs a second.
async def test_rate_limits_lose_nothing(tmp_path: Path) -> None:
    async with scripted(TwilioWorld()) as world:
        await refusals_for_haste_end_with_the_whole_text(world, tmp_path)


async def test_nobody_elses_answer_counts(tmp_path: Path) -> None:
    async with (
        scripted(TwilioWorld()) as world,
        serve((ASKING[0], Reply("Hello bert."), ASKING[1])) as model,
        running(world, tmp_path, model) as stage,
    ):
        await connected(stage)
        await world.say("anna", "Write hello")
        code = code_in(await world.direct("anna").see("no answer means no"))
        answer = {
            "MessageSid": "SM1",
            "AccountSid": ACCOUNT,
            "From": world.id_of("anna"),
            "Body": f"yes {code}",
        }
        answer |= {"To": f"whatsapp:{NUMBER}", "NumMedia": "0"}
        await world.call(answer, **{"X-Twilio-Signature": "forged"})
        await world.call(answer, **{"X-Twilio-Signature": ""})
        assert world.answers[-2:] == [403, 403]
        await world.call({**answer, "AccountSid": f"AC{'1' * 32}"})
        await world.call({**answer, "To": "whatsapp:+15550001111"})
        await world.call({**answer, "MessageSid": ""})
        await world.say("mallory", f"yes {code}")  # Has Anna's name.
        await world.say("bert", f"yes {code}")
        await world.direct("bert").see("Hello bert.")  # It was not an answer in Bert's conversation.
        assert not (stage.project / "a.txt").exists()
        await world.call(answer)
        await world.call(answer)  # A replay.
        await world.direct("anna").see("Written.")
        assert (stage.project / "a.txt").exists()
        assert not stage.bugs


async def test_a_message_is_accepted_only_after_it_is_stored() -> None:
    async with scripted(TwilioWorld()) as world:
        async with line(world) as there:
            there.is_refusing = True
            await world.say("anna", "Hello")
            assert world.answers == [500]
            await until(lambda: bool(there.ended))
            position = there.position
        await world.say("bert", "while it was away")
        assert world.answers == [500, 0]
        async with line(world, position) as there:
            assert [each.text for each in await there.messages(2)] == ["Hello", "while it was away"]
            await world.say("anna", "again")
            assert (await there.messages(3))[-1].place == GatewayPlace(world.id_of("anna"), is_direct=True)


async def test_files_styles_and_error_responses() -> None:
    async with scripted(TwilioWorld()) as world:
        anna = GatewayPlace(world.id_of("anna"), is_direct=True)
        world.files["ME1"] = b"x" * 100
        address = f"{world.url}/2010-04-01/Accounts/{ACCOUNT}/Messages/SM9/Media/ME1"
        media = {"NumMedia": "1", "MediaUrl0": address, "MediaContentType0": "text/plain"}
        async with line(world) as there:
            position = there.position
            await world.deliver("anna", world.direct_place("anna"), "Look", **media)
            found = (await there.messages(1))[0].attachments[0]
            assert (found.mime_type, await there.platform.fetch(found, 1_000)) == ("text/plain", b"x" * 100)
            with pytest.raises(PlatformError, match="files of this type"):
                await there.platform.fetch(Attachment("https://evil.test/Media/ME1", "a"), 10)
            await there.platform.say(anna, OutgoingMessage("**Hi** [x](https://x.test) <b> & `c`", "k"))
            assert world.screen.posts[-1].texts == ["*Hi* x (https://x.test) <b> & `c`"]
            assert world.screen.posts[-1].request["From"] == f"whatsapp:{NUMBER}"
            carl = GatewayPlace(world.id_of("carl"), is_direct=True)
            for place, reason in ((carl, "63016"), (GatewayPlace("+15550000011"), "No number is set")):
                with pytest.raises(PlatformError, match=reason) as refused:
                    await there.platform.say(place, HELLO)
                assert refused.value.is_permanent
        async with line(world, position) as there:  # The list names the files too.
            listed = (await there.messages(1))[0].attachments[0]
            assert await there.platform.fetch(listed, 1_000) == b"x" * 100


async def test_files_have_a_secret_address_while_they_are_sent() -> None:
    world = TwilioWorld()
    world.plugin = TwilioPlugin(SendingTimes(file_wait_s=2.0, status_interval_s=0.01))
    async with scripted(world), line(world) as there:
        anna, platform = GatewayPlace(world.id_of("anna"), is_direct=True), there.platform
        assert isinstance(platform, FilePlatform)
        picture = OutgoingFile("a plot/1?.png", "image/png", b"picture", "k")
        await platform.send_file(anna, picture)
        assert world.screen.posts[-1].texts == [file_mark(picture.name, b"picture")]
        assert world.fetched == ["image/png"]
        local = world.addresses[0].replace("https://agent.example.org", f"http://127.0.0.1:{world.port}")
        async with httpx2.AsyncClient() as http:
            for address in (local, f"{local.rpartition('/')[0]}/", f"http://127.0.0.1:{world.port}/"):
                assert (await http.get(address)).status_code == 404  # It was sent.
        await platform.send_file(anna, picture)
        assert len(set(world.addresses)) == 2
        world.status = ("undelivered", 63_019)
        with pytest.raises(PlatformError, match="error 63019") as refused:
            await platform.send_file(anna, picture)
        assert refused.value.is_permanent
        world.status, world.reaches_files = ("sent", None), False
        with pytest.raises(PlatformError, match="below `webhook_url`"):
            await platform.send_file(anna, picture)
        world.status, world.reaches_files = ("queued", None), True
        await platform.send_file(anna, picture)  # It was fetched; the next steps take time.


async def test_the_token_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with scripted(TwilioWorld()) as world, line(world) as there:
        await there.platform.say(GatewayPlace(world.id_of("anna")), HELLO)
        assert "BEGIN Twilio API Request" in caplog.text
        assert world.secrets["token"] not in caplog.text


def test_sms_must_be_enabled_explicitly() -> None:
    whole = {"account": ACCOUNT, "webhook_url": PUBLIC}
    with pytest.raises(ValidationError, match="whatsapp or sms must be set"):
        TwilioSettings.model_validate(whole)
    with pytest.raises(ValidationError, match="can be forged"):
        TwilioSettings.model_validate({**whole, "sms": NUMBER})
    assert TwilioSettings.model_validate({**whole, "sms": NUMBER, "trusts_sms_senders": True}).sms == NUMBER
