"""One profile's sessions, notes, skills, answers and keys cannot be reached from any other profile.

The victims are another profile and the default one, whose home contains all others.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_acp.config.environment import environment_of
from hermes_acp.core.errors import ConfigError
from hermes_acp.frontends.chat.input.attachments import attachments_of
from hermes_acp.frontends.cli.cli_main import run_command
from hermes_acp.frontends.command_line.profile_flag import take_profile
from hermes_acp.storage.profile_folders import link_keys
from hermes_protocol import v1
from tests.attacks.attack_checks import attacked_agent, result_of
from tests.attacks.profile_attempts import (
    commands_against,
    plant,
    prompt_with_links,
    requests_against,
    spellings,
    tool_calls_against,
    tool_calls_from_above,
)
from tests.attacks.profile_homes import PROJECT_WORD, Owner, set_up
from tests.e2e.raw_editor import permit
from tests.model_server import Reply

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def owners(tmp_path: Path, project: Path) -> dict[str, Owner]:
    base = tmp_path / ".hermes"
    return {name: set_up(base, name, project) for name in ("default", "mine", "theirs")}


@pytest.fixture
def run(
    tmp_path: Path,
    project: Path,
    owners: dict[str, Owner],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Run a command line in the project; return its exit code and everything that it printed."""
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("HERMES_HOME", raising=False)

    def run(*words: str, **variables: str) -> tuple[int, str]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HERMES_PROFILE", "default")
            for name, value in variables.items():
                patch.setenv(name, value)
            try:
                code = run_command(take_profile(words))
            except SystemExit as end:
                code = int(end.code or 0)
        return code, "".join(capsys.readouterr())

    return run


@pytest.mark.parametrize(
    ("attacker", "name"), [("mine", "default"), ("mine", "theirs"), ("default", "theirs")]
)
def test_no_command_shows_or_changes_another_profiles_data(
    run: Run, owners: dict[str, Owner], project: Path, attacker: str, name: str
) -> None:
    victim = owners[name]
    before = {file: file.read_bytes() for file in victim.files}
    attempts = commands_against(victim, project)
    leaks = [
        (words, printed)
        for words in attempts
        if victim.is_told(printed := run("--profile", "mine", *words)[1])
        and not victim.is_told(" ".join(words))
    ]
    assert len(attempts) > 30
    assert leaks == []
    assert {file: file.read_bytes() for file in victim.files} == before


@pytest.mark.parametrize(
    ("attacker", "name"), [("mine", "default"), ("mine", "theirs"), ("default", "theirs")]
)
def test_runs_and_schedules_belong_to_their_profile(
    run: Run, owners: dict[str, Owner], attacker: str, name: str
) -> None:
    victim = owners[name]
    named = victim.token
    assert run("schedule", "add", "0 7 * * *", "--name", named, "-p", "hi", "--profile", name)[0] == 0
    assert run("runs", "start", "--id", named, "-p", "hi", "--profile", name)[0] == 0
    lists = (("runs", "list", "--all", "--json"), ("schedule", "list", "--json"))
    before = [run(*words, "--profile", name)[1] for words in lists]
    assert all(named in each for each in before)
    assert not any(named in run(*words, "--profile", attacker)[1] for words in lists)
    for attempt in (
        ("runs", "show", named),
        ("runs", "stop", named),
        ("runs", "answer", named, "yes"),
        ("runs", "retry", named),
        ("schedule", "history", named),
        ("schedule", "pause", named),
        ("schedule", "run-now", named),
        ("schedule", "remove", named),
    ):
        code, printed = run(*attempt, "--profile", attacker)
        assert code != 0, (attempt, printed)
    for queued in (("--session", victim.session_id), ("--cwd", str(victim.home))):
        assert not victim.is_told(run("runs", "start", "-p", "hi", *queued, "--profile", attacker)[1])
    assert [run(*words, "--profile", name)[1] for words in lists] == before


@pytest.mark.parametrize("name", ["default", "mine", "theirs"])
def test_a_profile_sees_only_its_own_words(run: Run, owners: dict[str, Owner], name: str) -> None:
    for words in (
        ("sessions", "list"),
        ("sessions", "search", PROJECT_WORD),
        ("memory", "search", PROJECT_WORD),
        ("policy", "list"),
    ):
        _, printed = run(*words, "--profile", name)
        assert [each.name for each in owners.values() if each.is_told(printed)] == [name], (words, printed)
    printed = run("skills", "list", "--profile", name)[1]
    assert [each for each in owners if f"brew-{each}" in printed] == [name]


@pytest.mark.parametrize(
    "variables",
    [
        {"HERMES_PROFILE": "../profiles/theirs"},
        {"HERMES_PROFILE": "mine/../theirs"},
        {"HERMES_PROFILE": "linked"},
        {"HERMES_PROFILE": "Theirs"},
        {"HERMES_PROFILE": "theirs\n"},
        {"HERMES_PROFILE": "."},
        {"HERMES_PROFILE": "theirs/"},
        {"HERMES_PROFILE": "their"},
        {"HERMES_HOME": "profiles/theirs"},
        {"HERMES_HOME": "."},
        {"HERMES_HOME": "../.hermes"},
    ],
)
def test_no_other_spelling_names_a_profile(
    run: Run, owners: dict[str, Owner], variables: dict[str, str]
) -> None:
    (owners["mine"].home.parent / "linked").symlink_to(owners["theirs"].home)
    code, printed = run("memory", "show", **variables)
    assert code == 2
    assert not any(each.is_told(printed) for each in owners.values())


def test_only_a_visible_link_shares_keys(run: Run, owners: dict[str, Owner], tmp_path: Path) -> None:
    from hermes_acp.config.settings import load_variables

    def keys_of_mine() -> str:
        return str(load_variables(environment_of({"HOME": str(tmp_path), "HERMES_PROFILE": "mine"})))

    theirs = owners["theirs"]
    (owners["mine"].home / ".env").unlink()
    assert theirs.key not in keys_of_mine()
    link_keys(tmp_path / ".hermes", "mine", "theirs")
    assert theirs.key in keys_of_mine()
    assert "those of theirs" in run("profiles", "show", "mine")[1]
    assert not theirs.is_told(run("profiles", "show", "mine", "--json")[1])
    for named in ("../theirs", "mine", "/etc", "theirs\nx"):
        (owners["mine"].home / "keys-from").write_text(named)
        assert theirs.key not in keys_of_mine()


def test_folders_are_private_and_removing_one_profile_leaves_the_others(
    run: Run, owners: dict[str, Owner], tmp_path: Path
) -> None:
    home = owners["theirs"].home
    assert {path.stat().st_mode & 0o777 for path in (home.parent, home)} == {0o700}
    assert run("profiles", "remove", "theirs")[0] == 2
    kept = {file: file.read_bytes() for name in ("default", "mine") for file in owners[name].files}
    assert run("profiles", "remove", "theirs", "--yes")[0] == 0
    assert not home.exists()
    assert {file: file.read_bytes() for name in ("default", "mine") for file in owners[name].files} == kept
    with pytest.raises(ConfigError, match="There is no profile 'theirs'"):
        environment_of({"HOME": str(tmp_path), "HERMES_PROFILE": "theirs"})


@pytest.mark.parametrize("name", ["default", "theirs"])
def test_a_mention_of_another_profiles_file_is_not_sent(
    owners: dict[str, Owner], project: Path, tmp_path: Path, name: str
) -> None:
    victim = owners[name]
    is_foreign = environment_of({"HOME": str(tmp_path), "HERMES_PROFILE": "mine"}).is_foreign
    (project / "link").symlink_to(victim.home)
    capabilities = v1.PromptCapabilities(embedded_context=True, image=True)
    for spelled in (*spellings(victim.home / "SOUL.md", project), "link/SOUL.md", f"~/{victim.home.name}/x"):
        sent = attachments_of(f"See @{spelled}", str(project), capabilities, is_foreign)
        assert not sent.blocks, spelled
    own = attachments_of(f"See @{owners['mine'].home}/SOUL.md", str(project), capabilities, is_foreign)
    assert len(own.blocks) == 1


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("attacker", ["mine", "default"])
async def test_no_tool_and_no_request_reaches_another_profile(
    tmp_path: Path, project: Path, owners: dict[str, Owner], attacker: str
) -> None:
    victims = [each for name, each in owners.items() if name != attacker]
    plant(tmp_path, victims)
    for each in victims:
        (project / f"link-{each.name}").symlink_to(each.home)
        (project / f"file-{each.name}").symlink_to(each.home / "SOUL.md")
    before = {file: file.read_bytes() for each in victims for file in each.files}
    asked = {"session/request_permission": permit("reject_once")}
    variables = {"HERMES_PROFILE": attacker, "HERMES_ACP_UNSTABLE": "1"}
    attempts = 0
    async with attacked_agent(tmp_path, answers=asked, environment=variables) as siege:
        session = await siege.agent.open_session(project)
        above = await siege.agent.open_session(tmp_path)
        for each in victims:
            lured = await siege.agent.open_session(tmp_path / f"lured-by-{each.name}")
            await siege.check_prompt(lured)
        for each in (session, above):
            await siege.agent.call("session/set_mode", {"sessionId": each, "modeId": "auto"})
        for victim in victims:
            for method, params in requests_against(victim, project):
                reply = await siege.agent.call(method, params)
                attempts += 1
                is_harmless = method in ("session/list", "session/delete", "_hermes/sessions/search")
                lists = ("runs", "waiting", "schedules", "board")
                is_harmless = is_harmless or method in [f"_hermes/{each}/list" for each in lists]
                assert "error" in reply or is_harmless, (method, params, reply)
            for place, calls in (
                (session, tool_calls_against(victim, project)),
                (above, tool_calls_from_above(victim, tmp_path)),
            ):
                for call in calls:
                    (end,) = await siege.turn(Reply(tool_calls=(call,)), session_id=place)
                    attempts += 1
                    assert not victim.is_told(result_of(end)), (call, end)
            await siege.agent.call("session/prompt", prompt_with_links(session, victim.home / "SOUL.md"))
            attempts += 1
        sent = json.dumps([request.body for request in siege.server.requests])
        shown = json.dumps(siege.agent.messages)
    assert attempts > 100
    assert [each.name for each in victims if each.is_told(sent + shown)] == []
    assert owners[attacker].token in sent, "a profile's own notes and words are in its prompt"
    kept = owners[attacker].files
    assert kept
    assert [each.name for each in victims if set(each.files) & set(kept)] == []
    assert {file: file.read_bytes() for each in victims for file in each.files} == before
