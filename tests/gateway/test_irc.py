"""IRC with a real ngircd: three accounts in one channel, and people whom nobody can identify."""

from __future__ import annotations

import subprocess
from base64 import b64decode
from pathlib import Path

import anyio
import anyio.abc
import pytest

from hermes_acp.config.sections.gateway_settings import GatewaySettings, IrcSettings
from hermes_acp.core.errors import ConfigError
from hermes_acp.frontends.gateway.gateway import ConfiguredPlatform
from hermes_acp.frontends.gateway.gateway_process import configured_platforms
from hermes_acp.frontends.gateway.irc_lines import (
    MAX_LINE_BYTES,
    MAX_LINES,
    lines_of,
    parse_line,
    plain_text,
    write_line,
)
from hermes_acp.frontends.gateway.platforms.irc import IrcPlugin
from hermes_acp.frontends.gateway.port.platform_port import (
    OutgoingMessage,
    Place,
    PlatformError,
)
from tests.contract.platform_suite import (
    ASKING,
    check_all,
    code_in,
    connected,
    only_those_who_may_answer,
    running,
    strangers_get_a_code_and_no_more,
)
from tests.gateway.inspircd_server import ANOPE, INSPIRCD, inspircd, registered_world
from tests.gateway.irc_server import NGIRCD, PASSWORD, ROOM, IrcWorld, Typist, connect, irc_world, ngircd
from tests.gateway.platform_recorder import platform_of
from tests.model_server import Reply, serve

pytestmark = pytest.mark.anyio
REAL = pytest.mark.skipif(not NGIRCD, reason="ngircd is not installed: tests/install.sh all")
HERE = frozenset({ROOM})


@REAL
@pytest.mark.slow
async def test_irc_passes_the_platform_contract(tmp_path: Path) -> None:
    with ngircd(tmp_path) as port:
        async with irc_world(port) as world:
            await check_all(world, tmp_path)
            await a_person_who_takes_over_a_nick_is_not_identified(world, tmp_path / "nick")


@pytest.mark.slow
@pytest.mark.skipif(
    not (INSPIRCD and ANOPE), reason="InspIRCd or Anope is not installed: tests/install.sh all"
)
async def test_irc_with_account_tags_passes_the_platform_contract(tmp_path: Path) -> None:
    with inspircd(tmp_path) as port:
        async with registered_world(port) as world:
            await the_agent_logs_in_to_its_account(world)
            for check in (strangers_get_a_code_and_no_more, only_those_who_may_answer):
                place = tmp_path / check.__name__
                place.mkdir()
                await check(world, place)
                world.forget()
            await a_person_who_takes_over_a_nick_is_not_identified(world, tmp_path / "nick")


async def the_agent_logs_in_to_its_account(world: IrcWorld) -> None:
    """Log in with each method, as the services confirm; with a wrong password, nobody is logged in."""
    anna = world.people["anna"]
    for login in ("sasl", "nickserv"):
        settings = world.settings.model_copy(update={"login": login})
        async with platform_of("irc", settings, PASSWORD, HERE):
            shown: list[str] = []
            while not any(" 330 anna agent agent " in line for line in shown):
                anna.received.clear()
                await anna.type("WHOIS agent")
                await anna.wait_for(" 318 ")
                shown = [*anna.received]
    settings = world.settings.model_copy(update={"login": "sasl"})
    with pytest.raises(PlatformError, match="authentication failed"):
        async with platform_of("irc", settings, "wrong", HERE):
            pass


async def a_person_who_takes_over_a_nick_is_not_identified(world: IrcWorld, folder: Path) -> None:
    """Try to answer Anna's question with her nick but without her account, and around nick changes."""
    folder.mkdir()
    async with serve((*ASKING, Reply("Answered."))) as model, running(world, folder, model) as stage:
        await connected(stage)
        await world.say("anna", "Write hello")
        code = code_in(await world.direct("anna").see("no answer means no"))
        anna, eve = world.people["anna"], world.people["eve"]
        await anna.type("NICK anna2")
        await eve.wait_for("NICK :anna2")
        async with anyio.create_task_group() as tasks:
            mallory = await world.join(tasks, "anna")  # The nick, without anybody's account.
            await mallory.type(f"PRIVMSG agent :yes {code}", f"PRIVMSG {ROOM} :agent: yes {code}")
            await mallory.type(f"PRIVMSG agent :yes {code}", "NICK mallory")
            await eve.wait_for("NICK :mallory")
            await anna.type("NICK anna")
            await anna.type("PRIVMSG agent :/status")
            await world.direct("anna").see("1 question open")
            assert not (stage.project / "a.txt").exists()
            await world.say("anna", f"yes {code}")
            await world.direct("anna").see("Written.")
            await mallory.close()
            tasks.cancel_scope.cancel()
        assert (stage.project / "a.txt").exists()


@REAL
async def test_a_server_without_a_password(tmp_path: Path) -> None:
    with ngircd(tmp_path, password="") as port:
        asked = {"host": "127.0.0.1", "port": port, "nick": "agent", "tls": "none"}

        def platforms(login: str) -> list[ConfiguredPlatform]:
            irc = {**asked, "login": login}
            return configured_platforms(GatewaySettings.model_validate({"platforms": {"irc": irc}}), {})

        for login in ("sasl", "nickserv"):
            with pytest.raises(ConfigError, match="HERMES_GATEWAY_IRC_PASSWORD is not set"):
                platforms(login)
        (irc,) = platforms("server")
        await (await connect(port)).aclose()
        async with platform_of("irc", irc.settings, irc.secrets["password"], HERE) as (platform, _):
            await platform.say(Place(ROOM), OutgoingMessage("Hello", "key"))  # The server has accepted it.


@REAL
async def test_client_programs_colours_and_strangers_outside_channels(tmp_path: Path) -> None:
    """Over TLS, with the server's own certificate authority."""
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    pair = ["-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(
        ["openssl", "req", "-x509", "-days", "2", *pair, *subject], check=True, capture_output=True
    )
    key.chmod(0o644)
    with ngircd(tmp_path, tls=(key, certificate)) as port, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(certificate))
        async with irc_world(port) as world:
            settings = world.settings.model_copy(update={"tls": "tls", "host": "localhost", "port": port + 1})
            async with platform_of("irc", settings, world.secrets["password"], HERE) as (platform, recorder):
                anna, bert = world.people["anna"], world.people["bert"]
                await anna.type("PRIVMSG agent :\x01VERSION\x01", "PRIVMSG agent :\x0304,12He\x02llo")
                said = await recorder.hear("Hello")
                assert said.sender == "account:anna@localhost"
                assert said.place == Place(said.sender, is_direct=True)
                await bert.type(f"PART {ROOM}", "PRIVMSG agent :Psst", "PRIVMSG anna :done")
                await anna.wait_for("done")
                await bert.type(f"JOIN {ROOM}", f"PRIVMSG {ROOM} :Back", f"PRIVMSG {ROOM} :agent, hello")
                assert not (await recorder.hear("Back")).is_addressed
                assert (await recorder.hear("hello")).is_addressed
                assert recorder.texts == ["Hello", "Back", "hello"]  # Nobody can know who sent "Psst".
                await platform.say(said.place, OutgoingMessage("One\r\nQUIT :two\n\nthree", "key"))
                await anna.wait_for("PRIVMSG anna :three")
                assert [line.partition(":")[2].partition(":")[2] for line in anna.received[-3:]] == [
                    "One",
                    "QUIT :two",
                    "three",
                ]
                assert not any("VERSION" in line for line in anna.received)
                with pytest.raises(PlatformError, match="carl is not on the server"):
                    await platform.say(
                        Place("account:carl@localhost", is_direct=True), OutgoingMessage("x", "k")
                    )


@REAL
async def test_channels_that_cannot_be_joined_are_reported_and_retried(tmp_path: Path) -> None:
    with ngircd(tmp_path) as port:
        async with irc_world(port) as world:
            anna = world.people["anna"]
            await anna.type("JOIN #closed", "MODE #closed +i")
            await anna.wait_for("MODE #closed +i")
            settings = world.settings.model_copy(update={"lobby": "#closed"})
            often = IrcPlugin(join_interval_s=0.05)
            async with platform_of("irc", settings, world.secrets["password"], HERE, often) as (_, recorder):
                assert "+i" in (await recorder.see_rooms("#closed"))["#closed"]
                await anna.type("MODE #closed -i")
                await recorder.see_rooms()
                joined = sum("agent!" in line and "JOIN" in line for line in anna.received)
                await anna.type(f"KICK {ROOM} agent :Out")
                while sum("agent!" in line and "JOIN" in line for line in anna.received) == joined:
                    await anna.news.wait()
                await anna.type(f"PRIVMSG {ROOM} :Back again")
                await recorder.hear("Back again")


async def test_account_tags_and_a_login_by_sasl() -> None:
    """With a scripted server, because ngircd has neither."""
    async with await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0) as listener:
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        settings = IrcSettings(
            host="127.0.0.1", port=port, nick="agent", tls="none", line_gap_s=0.02, trusted_hosts=("user/*",)
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, scripted_server)
            async with platform_of("irc", settings, "p" * 300, HERE) as (platform, recorder):
                for text, sender in (
                    ("One", "account:anna@127.0.0.1"),
                    ("Two", "host:user/bert@127.0.0.1"),
                    ("Last", "account:anna@127.0.0.1"),
                ):
                    assert (await recorder.hear(text)).sender == sender
                assert recorder.texts == ["One", "Two", "Last"]
                assert recorder.heard[0].id == "unique"
                with pytest.raises(PlatformError, match="Cannot send to channel"):
                    await platform.say(Place(ROOM), OutgoingMessage("Hello", "key"))
            with pytest.raises(PlatformError, match="Login failed"):
                async with platform_of("irc", settings, "wrong", HERE):
                    pass
            tasks.cancel_scope.cancel()


async def scripted_server(stream: anyio.abc.SocketStream) -> None:
    """Grant capabilities, check the password, and send what the test expects."""
    typist, proof = Typist(stream), [""]
    answers = {
        "CAP LS 302": (":s CAP * LS * :sasl=PLAIN,EXTERNAL batch", ":s CAP * LS :account-tag message-tags"),
        "CAP REQ :account-tag message-tags sasl": (":s CAP * ACK :account-tag message-tags sasl",),
        "AUTHENTICATE PLAIN": ("AUTHENTICATE +",),
        "CAP END": (":s 001 agent :Welcome", ":s 376 agent :End"),
        f"JOIN {ROOM}": (
            "@account=anna;msgid=unique :x!y@z PRIVMSG agent :One",
            ":anna!y@z PRIVMSG agent :Not logged in",
            ":b!y@user/bert PRIVMSG agent :Two",
            ":b!y@user/bert NOTICE agent :Noted",
            "@account=anna :x!y@z PRIVMSG #other :Elsewhere",
            "@account=anna :x!y@z PRIVMSG agent :Last",
        ),
        f"PRIVMSG {ROOM} Hello": (f":s 404 agent {ROOM} :Cannot send to channel",),
    }
    lines: list[str] = []
    arrived = anyio.Event()

    def take(line: str) -> None:
        lines.append(line)
        arrived.set()

    async with stream, anyio.create_task_group() as tasks:
        tasks.start_soon(typist.read, take)
        while True:
            await arrived.wait()
            arrived = anyio.Event()
            while lines:
                line = lines.pop(0)
                if line.startswith("PING "):
                    await typist.type(f":s PONG s :{line[5:]}")
                elif line.startswith("AUTHENTICATE ") and line != "AUTHENTICATE PLAIN":
                    proof[0] += line.removeprefix("AUTHENTICATE ")
                    if len(line) < len("AUTHENTICATE ") + 400:
                        is_right = b64decode(proof[0]) == b"\0agent\0" + b"p" * 300
                        await typist.type(":s 903 agent :Done" if is_right else ":s 904 agent :Login failed")
                else:
                    await typist.type(*answers.get(line, ()))


def test_lines_are_read_and_written_as_servers_expect_them() -> None:
    line = parse_line(b"@a=b\\:c\\sd;account=x :n!u@h PRIVMSG #c :a :b\r\n")
    assert line is not None
    assert (line.nick, line.host, line.params) == ("n", "h", ("#c", "a :b"))
    assert dict(line.tags) == {"a": "b;c d", "account": "x"}
    assert write_line("PRIVMSG", ROOM, "a\r\nQUIT") == f"PRIVMSG {ROOM} :a  QUIT\r\n".encode()
    assert parse_line(b":only.a.source\r\n") is None
    assert plain_text("\x02a\x0312,4b\x04ff00ffc\x1fd\x0f") == "abcd"
    text = "ä" * 2_000 + "\n" + "word " * 300 + "\nQUIT\r\nx\x00y\x01z"
    lines = lines_of(text, "agent", ROOM)
    assert all(
        len(f":agent!{'u' * 90} PRIVMSG {ROOM} :{each}\r\n".encode()) < MAX_LINE_BYTES for each in lines
    )
    assert "".join(lines).replace(" ", "") == "ä" * 2_000 + "word" * 300 + "QUITxyz"
    many = lines_of("\n".join("x" * (MAX_LINES * 20)), "agent", ROOM)
    assert len(many) < MAX_LINES
    assert "".join(many).count("x") == MAX_LINES * 20
