"""The environment variables that commands get."""

from hermes_acp.git.program_settings import COMMAND_SETTINGS
from hermes_acp.workspaces.command_environment import (
    HIJACK_VARIABLES,
    command_environment,
    terminal_variables,
)


def test_variables_that_load_code_are_omitted() -> None:
    given = dict.fromkeys(HIJACK_VARIABLES, "./evil") | {
        "BASH_FUNC_ls%%": "() { rm x; }",
        "PATH": "/bin",
        "LANG": "C",
    }
    seen = command_environment(given)
    assert (seen["PATH"], seen["LANG"]) == ("/bin", "C")
    assert not {name for name, value in seen.items() if value in ("./evil", "() { rm x; }")}


def test_git_runs_no_programs_of_a_repository_and_keeps_the_users_settings() -> None:
    given = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "Me"}
    for environment, before in ((given, 1), ({}, 0), ({"GIT_CONFIG_COUNT": "many"}, 0)):
        seen = command_environment(environment)
        assert int(seen["GIT_CONFIG_COUNT"]) == before + len(COMMAND_SETTINGS)
        numbers = range(before, before + len(COMMAND_SETTINGS))
        held = {seen[f"GIT_CONFIG_KEY_{number}"]: seen[f"GIT_CONFIG_VALUE_{number}"] for number in numbers}
        assert held == dict(COMMAND_SETTINGS)
    assert command_environment(given)["GIT_CONFIG_VALUE_0"] == "Me"


def test_an_editor_gets_secret_variables_empty_and_all_others_unchanged() -> None:
    given = {
        "OPENAI_API_KEY": "sk-1",
        "LD_PRELOAD": "./evil",
        "BASH_FUNC_ls%%": "() { x; }",
        "PATH": "/bin",
        "TERM": "xterm",
    }
    over = terminal_variables(given)
    assert (over["OPENAI_API_KEY"], over["LD_PRELOAD"]) == ("", "")
    assert {"PATH", "TERM", "BASH_FUNC_ls%%"}.isdisjoint(over)
    assert (over["GIT_PAGER"], over["GIT_CONFIG_COUNT"]) == ("cat", str(len(COMMAND_SETTINGS)))
