"""`hermes-acp gateway setup` at a terminal: its questions, what it writes, and the effect of a mistake."""

from __future__ import annotations

import sys

import pytest
import yaml

from tests.e2e.agent_process import COMMAND, agent_environment, run_command
from tests.e2e.chat_environment import Place
from tests.e2e.chat_terminal import ENTER, chat_on_terminal

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX"),
]
OWN_TEXT = "# mine\nmodel: scripted-large  # the large one\n"


async def answer(place: Place, platform: str, *answers: tuple[str, str]) -> str:
    """Set up a platform; wait for each prompt before typing its answer. Return the terminal's text."""
    command = (COMMAND, "gateway", "setup", platform)
    variables = agent_environment(place.home)
    async with chat_on_terminal(environment=variables, cwd=place.project, command=command) as terminal:
        for prompt, typed in answers:
            await terminal.see(prompt)
            terminal.type(f"{typed}{ENTER}")
        assert await terminal.end() == 0
        return terminal.text


async def test_two_platforms_are_added_and_the_users_own_text_stays(place: Place) -> None:
    home = place.home / ".hermes"
    home.mkdir(exist_ok=True)
    settings = home / "config.yaml"
    settings.write_text(OWN_TEXT)
    shown = await answer(
        place,
        "matrix",
        ("homeserver:", "matrix.example"),
        ("`homeserver` must be a URL starting with http:// or https://.", "https://matrix.example"),
        ("The account, such as `@agent:example.org`.", "@agent:matrix.example"),
        ("device [hermes-acp]:", ""),
        ("workspace (Enter skips):", str(place.project)),
        ("HERMES_GATEWAY_MATRIX_TOKEN (not shown", "syt_a_secret"),
    )
    assert "It answers with a code" in shown.replace("\n", "")
    assert "Its access token is in `HERMES_GATEWAY_MATRIX_TOKEN`." in shown
    assert "syt_a_secret" not in shown
    shown = await answer(
        place,
        "irc",
        ("host:", "irc.example"),
        ("nick:", "agent"),
        ("port [6697]:", "99999"),
        ("`port` must be at most 65535.", "6667"),
        ("tls [tls]:", ""),
        ("login [sasl]:", ""),
        ("account (Enter skips):", ""),
        ("lobby (Enter skips):", ""),
        ("trusted_hosts (separated by commas; Enter skips):", "user/anna, *.anna.example"),
        ("line_gap_s [1.0]:", ""),
        ("HERMES_GATEWAY_IRC_PASSWORD (not shown, kept in .env; Enter skips):", ""),
    )
    assert "Put HERMES_GATEWAY_IRC_PASSWORD into .env" in shown.replace("\n", "")
    text = settings.read_text()
    assert text.startswith(OWN_TEXT)
    assert '      trusted_hosts: [user/anna, "*.anna.example"]' in text.replace("'", '"')
    gateway = yaml.safe_load(text)["gateway"]
    hosts = ["user/anna", "*.anna.example"]
    assert gateway == {
        "platforms": {
            "matrix": {"homeserver": "https://matrix.example", "user": "@agent:matrix.example"},
            "irc": {"host": "irc.example", "nick": "agent", "port": 6667, "trusted_hosts": hosts},
        },
        "workspace": str(place.project),
    }
    assert "HERMES_GATEWAY_MATRIX_TOKEN='syt_a_secret'\n" in (home / ".env").read_text()


async def test_a_platform_without_required_settings_needs_only_its_token(place: Place) -> None:
    await answer(
        place,
        "discord",
        ("workspace (Enter skips):", ""),
        ("HERMES_GATEWAY_DISCORD_TOKEN (not shown", "t0ken"),
    )
    variables = agent_environment(place.home)
    status = await run_command("gateway", "status", environment=variables, cwd=place.project)
    assert "discord: set up" in status.output


async def test_an_invalid_value_from_a_pipe_changes_nothing(place: Place) -> None:
    variables = agent_environment(place.home)
    done = await run_command("gateway", "setup", "matrix", environment=variables, cwd=place.project)
    assert done.code == 2
    assert "homeserver needs a value. The settings were not changed." in done.errors
    assert not (place.home / ".hermes" / "config.yaml").exists()
