"""`hermes-acp setup` as a user at a terminal and a script run it, with a scripted endpoint."""

from __future__ import annotations

import signal
import stat
import sys
from pathlib import Path

import anyio
import pytest

from tests.e2e.agent_process import Finished, agent_environment, run_command
from tests.e2e.test_at_a_terminal import Terminal, terminal
from tests.model_server import Fault, ModelServer, Reply, serve

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="terminals are POSIX"),
]

KEY = "sk-typed-by-hand-0123456789"
INTERRUPTIONS = 1000
ASKING = """
from hermes_acp.frontends.cli.setup.setup_console import ask
while True:
    try:
        print("Answered:", ask("Which? "))
        break
    except KeyboardInterrupt:
        print("Interrupted.", flush=True)
"""
BROKEN = "# by hand\nmode: plan\nproviders:\n  openai_compatible:\n    base_url: badkey\n"


async def answer(person: Terminal, *pairs: tuple[str, str]) -> None:
    """Wait for each question, then type its answer."""
    for question, typed in pairs:
        await person.wait_for_next(question)
        person.type(f"{typed}\n")


async def custom_number(person: Terminal) -> str:
    """Return the number of the provider entry for any other endpoint."""
    shown = await person.wait_for("Number")
    (line,) = [line for line in shown.splitlines() if "OpenAI's chat completions" in line]
    return line.split(".")[0].strip()


async def leave_editors_out(person: Terminal) -> str:
    """Choose no editor; return the text shown, which ends with the next steps."""
    await answer(person, ("Set up an editor too?", ""))
    shown = await person.wait_for("hermes-acp chat")
    assert await person.ended() == 0
    return shown


def config(home: Path) -> str:
    return (home / ".hermes" / "config.yaml").read_text(encoding="utf-8")


async def test_a_setup_that_is_left_changes_nothing_and_says_so(tmp_path: Path) -> None:
    with terminal("setup", home=tmp_path) as person:
        await answer(person, ("Number", "1"), ("Base URL", ""))
        await person.wait_for_next("API key")
        person.type("\x04")
        shown = await person.wait_for("to start again.")
        assert "\nhermes-acp: Nothing was changed." in shown.replace("\r", "")
        assert await person.ended() == 2
    assert not (tmp_path / ".hermes").exists()


async def test_an_interrupted_setup_says_what_was_changed_and_how_to_continue(tmp_path: Path) -> None:
    with terminal("setup", home=tmp_path) as person:
        await answer(person, ("Number", "1"), ("Base URL", ""))
        await person.wait_for_next("API key")
        person.process.send_signal(signal.SIGINT)
        shown = (await person.wait_for("to start again.")).replace("\r", "")
        assert "\nhermes-acp: Interrupted. Nothing was changed. Run `hermes-acp setup`" in shown
        assert await person.ended() == 130
    assert not (tmp_path / ".hermes").exists()


async def test_an_interruption_after_the_model_was_saved_says_so(tmp_path: Path) -> None:
    async with serve([Reply("OK.")]) as server:
        with terminal("setup", home=tmp_path) as person:
            person.type(f"{await custom_number(person)}\n")
            await answer(person, ("Base URL", server.openai_base_url), ("API key", ""), ("Model:", ""))
            await person.wait_for_next("Set up an editor too?")
            await person.wait_for_next("Number")
            person.process.send_signal(signal.SIGINT)
            shown = await person.wait_for("sets up an editor.")
            assert "Interrupted. The model is set up." in shown
            assert await person.ended() == 130
    assert "model: scripted-large" in config(tmp_path)


async def test_no_interruption_is_lost_at_the_moment_a_question_appears(tmp_path: Path) -> None:
    """A terminal read loses about one in 500 signals that arrive just before it starts."""
    with terminal("-c", ASKING, home=tmp_path, command=sys.executable) as person:
        for _ in range(INTERRUPTIONS):
            await person.wait_for_next("Which?")
            person.process.send_signal(signal.SIGINT)
            await person.wait_for_next("Interrupted.")
        await answer(person, ("Which?", "this"))
        await person.wait_for_next("Answered: this")
        assert await person.ended() == 0


async def test_each_provider_is_listed_once(tmp_path: Path) -> None:
    with terminal("setup", home=tmp_path) as person:
        shown = await person.wait_for("Number")
    labels = [
        line.split(". ", 1)[1].strip()
        for line in shown.splitlines()
        if ". " in line and line[2:4].strip().isdigit()
    ]
    assert len(labels) > 15
    assert len(labels) == len(set(labels))
    assert [label for label in labels if label.startswith("OpenAI")] == ["OpenAI"]


async def test_the_dialogue_lists_models_tests_one_and_says_what_is_next(tmp_path: Path) -> None:
    async with serve([Reply("OK.")], details={"max_model_len": 32_768}) as server:
        with terminal("setup", home=tmp_path) as person:
            person.type(f"{await custom_number(person)}\n")
            await answer(person, ("Base URL", "badkey"))
            await person.wait_for_next("must be a URL starting with http:// or https://")
            await answer(person, ("Base URL", server.openai_base_url), ("API key", KEY))
            await person.wait_for_next("1. scripted-large  (32,768 tokens)")
            await answer(person, ("Model: a number", "2"))
            shown = await leave_editors_out(person)
    assert "It works. The model answered in" in shown
    assert "OK." in shown
    assert KEY not in shown
    assert "provider: openai_compatible\nmodel: scripted-small\n" in config(tmp_path)
    secrets = tmp_path / ".hermes" / ".env"
    assert secrets.read_text() == f"OPENAI_API_KEY='{KEY}'\n"
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600
    request = server.requests[0]
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.asked.model == "scripted-small"


async def test_a_rejected_key_is_corrected_without_starting_over(tmp_path: Path) -> None:
    refused = Reply(fault=Fault(status=401, message="This key was revoked."))
    async with serve([refused, Reply("OK.")]) as server:
        with terminal("setup", home=tmp_path) as person:
            person.type(f"{await custom_number(person)}\n")
            await answer(person, ("Base URL", server.openai_base_url), ("API key", "sk-wrong-wrong-wrong"))
            await answer(person, ("Model: a number", "1"), ("What now", "k"), ("API key", KEY))
            await answer(person, ("Model: a number", ""))
            shown = await leave_editors_out(person)
    assert "This key was revoked." in shown
    assert "sk-wrong" not in shown
    assert KEY in (tmp_path / ".hermes" / ".env").read_text()


async def test_existing_values_are_the_defaults_and_the_model_in_use_is_offered(tmp_path: Path) -> None:
    async with serve([Reply("OK.")]) as server:
        (tmp_path / ".hermes").mkdir()
        (tmp_path / ".hermes" / ".env").write_text(f"OPENAI_API_KEY='{KEY}'\n")
        (tmp_path / ".hermes" / "config.yaml").write_text(
            "provider: openai_compatible # ours\nmodel: scripted-small\n"
            f"providers:\n  openai_compatible:\n    base_url: {server.openai_base_url}\n"
        )
        before = config(tmp_path)
        with terminal("setup", home=tmp_path) as person:
            await answer(person, ("(in use", ""), (f"Base URL [{server.openai_base_url}]", ""))
            await answer(person, ("[keep the one in OPENAI_API_KEY]", ""), ("[scripted-small]", ""))
            await leave_editors_out(person)
    assert config(tmp_path) == before


async def test_many_models_are_filtered_by_a_part_of_a_name(tmp_path: Path) -> None:
    names = (*(f"model-{number}" for number in range(60)), "coder-large")
    async with serve([Reply("OK.")], models=names) as server:
        with terminal("setup", home=tmp_path) as person:
            person.type(f"{await custom_number(person)}\n")
            await answer(person, ("Base URL", server.openai_base_url), ("API key", ""))
            await answer(person, ("and 41 more", "coder"), ("1. coder-large", "1"))
            await leave_editors_out(person)
    assert "model: coder-large" in config(tmp_path)


async def test_an_unreachable_endpoint_is_reported_and_can_be_left(tmp_path: Path) -> None:
    with terminal("setup", home=tmp_path) as person:
        person.type(f"{await custom_number(person)}\n")
        await answer(person, ("Base URL", "http://127.0.0.1:9/v1"), ("API key", ""), ("What now", "q"))
        shown = await person.wait_for("to start again.")
        assert await person.ended() == 2
    assert "127.0.0.1:9 cannot be reached" in shown
    assert not (tmp_path / ".hermes").exists()


async def test_a_broken_file_does_not_stop_setup_which_keeps_a_copy_and_repairs_it(tmp_path: Path) -> None:
    (tmp_path / ".hermes").mkdir()
    (tmp_path / ".hermes" / "config.yaml").write_text(BROKEN)
    async with serve([Reply("OK.")]) as server:
        with terminal("setup", home=tmp_path) as person:
            await person.wait_for(
                "Line 5: `providers.openai_compatible.base_url` must be a URL starting with"
            )
            await answer(person, ("What now", "r"))
            person.type(f"{await custom_number(person)}\n")
            await answer(person, ("Base URL", server.openai_base_url), ("API key", ""), ("Model:", ""))
            await leave_editors_out(person)
    assert config(tmp_path).startswith("# by hand\nmode: plan\n")
    (copy,) = (tmp_path / ".hermes").glob("config.yaml.broken-*")
    assert copy.read_text() == BROKEN


async def test_doctor_reports_a_broken_file_with_its_line(tmp_path: Path) -> None:
    (tmp_path / ".hermes").mkdir(mode=0o700)
    (tmp_path / ".hermes" / "config.yaml").write_text(BROKEN)
    done = await run_command("doctor", environment=agent_environment(tmp_path), cwd=tmp_path)
    assert done.code == 4
    assert "config.yaml: Line 5: `providers.openai_compatible.base_url` must be a URL" in done.output


@pytest.mark.parametrize("text", ["\tmode: plan", "just words", "rules: [{deny: 3}]"])
async def test_doctor_survives_any_file_content(text: str, tmp_path: Path) -> None:
    (tmp_path / ".hermes").mkdir(mode=0o700)
    (tmp_path / ".hermes" / "config.yaml").write_text(text)
    done = await run_command("doctor", environment=agent_environment(tmp_path), cwd=tmp_path)
    assert (done.code, "config.yaml" in done.output, "Traceback" in done.errors) == (4, True, False)


async def scripted(home: Path, *flags: str, **variables: str) -> Finished:
    with anyio.fail_after(60):
        return await run_command(
            "setup", *flags, environment=agent_environment(home, None, **variables), cwd=home
        )


def flags_for(server: ModelServer) -> tuple[str, ...]:
    return ("--provider", "openai_compatible", "--base-url", server.openai_base_url)


async def test_arguments_alone_are_enough(tmp_path: Path) -> None:
    async with serve([Reply("OK.")]) as server:
        flags = (*flags_for(server), "--model", "scripted-small", "--key-from-env", "MY_KEY")
        done = await scripted(tmp_path, *flags, MY_KEY=KEY)
    assert (done.code, "hermes-acp chat" in done.output) == (0, True)
    assert KEY not in done.output + done.errors
    assert "model: scripted-small" in config(tmp_path)
    assert (tmp_path / ".hermes" / ".env").read_text() == f"OPENAI_API_KEY='{KEY}'\n"
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_a_model_that_does_not_answer_exits_with_3_and_writes_nothing(tmp_path: Path) -> None:
    async with serve([Reply(fault=Fault(status=404, message="No such thing here."))]) as server:
        done = await scripted(tmp_path, *flags_for(server), "--model", "none")
    assert (done.code, "No such thing here." in done.errors) == (3, True)
    assert not (tmp_path / ".hermes").exists()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ((), "needs a terminal"),
        (("--provider", "none"), "'none' is not a provider."),
        (("--provider", "openai", "--base-url", "badkey"), "must be a URL starting with http:// or https://"),
        (("--provider", "openai", "--key-from-env", "NO_KEY"), "NO_KEY is not set"),
        (("--provider", "openai", "--key-from-env", "sk-secret"), "and not the key itself"),
        (("--provider", "openai_compatible", "--model", "m"), "--base-url"),
    ],
)
async def test_invalid_arguments_exit_with_2_and_nothing_is_asked(
    flags: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    done = await scripted(tmp_path, *flags)
    assert (done.code, said in done.errors) == (2, True), done.errors
    assert not (tmp_path / ".hermes").exists()


async def test_without_verification_nothing_is_contacted(tmp_path: Path) -> None:
    async with serve([]) as server:
        done = await scripted(tmp_path, *flags_for(server), "--model", "m", "--no-verify")
    assert (done.code, server.requests, server.other_requests) == (0, [], [])


async def test_variables_that_override_the_answers_are_named(tmp_path: Path) -> None:
    async with serve([Reply("OK.")]) as server:
        done = await scripted(tmp_path, *flags_for(server), "--model", "m", HERMES_MODEL="another")
    assert (done.code, "sets HERMES_MODEL, which takes precedence" in done.errors) == (0, True)


async def test_a_broken_file_is_repaired_on_request_in_scripts(tmp_path: Path) -> None:
    (tmp_path / ".hermes").mkdir()
    (tmp_path / ".hermes" / "config.yaml").write_text(BROKEN)
    flags = ("--provider", "anthropic", "--model", "m", "--no-verify")
    refused = await scripted(tmp_path, *flags)
    assert (refused.code, "--mend" in refused.errors, config(tmp_path)) == (2, True, BROKEN)
    done = await scripted(tmp_path, *flags, "--mend")
    assert (done.code, "mode: plan" in config(tmp_path)) == (0, True)


SETTINGS = '// mine\n{\n  "vim_mode": true, // for good\n}\n'


def zed_settings(home: Path, text: str = SETTINGS) -> Path:
    path = home / ".config" / "zed" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


async def test_an_editors_settings_are_shown_as_a_diff_and_written_after_confirmation(tmp_path: Path) -> None:
    path = zed_settings(tmp_path)
    with terminal("setup", "--editor", "zed", "--backup", home=tmp_path) as person:
        shown = await person.wait_for("Write this file?")
        assert '+  "agent_servers": {' in shown
        assert path.read_text() == SETTINGS
        person.type("y\n")
        assert "choose Hermes" in await person.wait_for("choose Hermes")
        assert await person.ended() == 0
    assert path.read_text().startswith('// mine\n{\n  "vim_mode": true, // for good\n  "agent_servers": {')
    (copy,) = path.parent.glob("settings.json.bak-*")
    assert copy.read_text() == SETTINGS
    again = await scripted(tmp_path, "--editor", "zed")
    assert (again.code, "already set up" in again.output) == (0, True)


async def test_an_editors_settings_need_confirmation_and_a_readable_file(tmp_path: Path) -> None:
    path = zed_settings(tmp_path)
    asked = await scripted(tmp_path, "--editor", "zed")
    assert (asked.code, "--yes" in asked.output, path.read_text()) == (2, True, SETTINGS)
    path.write_text("{ broken")
    done = await scripted(tmp_path, "--editor", "zed", "--editor", "acpx", "--yes")
    assert (done.code, "line 1 is not valid JSON" in done.output, path.read_text()) == (2, True, "{ broken")
    assert (tmp_path / ".acpx" / "config.json").is_file()


async def test_settings_that_are_a_link_stay_a_link(tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.json"
    kept.write_text("{}\n")
    link = tmp_path / ".config" / "zed" / "settings.json"
    link.parent.mkdir(parents=True)
    link.symlink_to(kept)
    assert (await scripted(tmp_path, "--editor", "zed", "--yes")).code == 0
    assert link.is_symlink()
    assert "agent_servers" in kept.read_text()


async def test_a_key_in_the_environment_is_offered_and_stored_for_editors_on_request(tmp_path: Path) -> None:
    async with serve([Reply("OK.")]) as server:
        variables = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.anthropic_base_url}
        with terminal("setup", home=tmp_path, **variables) as person:
            shown = await person.wait_for("Number [1]: ")
            assert "1. Anthropic (in use; key in ANTHROPIC_API_KEY)" in shown
            await answer(person, ("Number", ""), (f"Base URL [{server.anthropic_base_url}]", ""))
            await answer(person, ("[keep the one in ANTHROPIC_API_KEY]", ""), ("Model:", ""))
            await answer(person, ("Store the key of ANTHROPIC_API_KEY", "y"))
            await leave_editors_out(person)
    assert (tmp_path / ".hermes" / ".env").read_text() == f"ANTHROPIC_API_KEY='{KEY}'\n"
    assert server.requests[0].headers["x-api-key"] == KEY


async def test_a_broken_file_leads_to_setup_wherever_it_stops_something(tmp_path: Path) -> None:
    (tmp_path / ".hermes").mkdir()
    (tmp_path / ".hermes" / "config.yaml").write_text(BROKEN)
    done = await run_command("run", "-p", "hi", environment=agent_environment(tmp_path), cwd=tmp_path)
    assert (done.code, "line 5: " in done.errors, "`hermes-acp setup`" in done.errors) == (2, True, True)
