"""`--profile NAME`, anywhere in a command line."""

import os

import pytest

from hermes_acp.frontends.command_line.profile_flag import take_profile


@pytest.mark.parametrize(
    ("words", "rest"),
    [
        (["--profile", "work"], []),
        (["--profile=work"], []),
        (["--profile", "work", "chat", "hi"], ["chat", "hi"]),
        (["run", "-p", "hi", "--profile", "work"], ["run", "-p", "hi"]),
        (["serve", "--profile=work", "--listen", ":1"], ["serve", "--listen", ":1"]),
        (["--allow-bypass", "--profile", "work"], ["--allow-bypass"]),
        (["--profile", "work", "lsp", "--profile", "work"], ["lsp"]),
    ],
)
def test_the_flag_is_accepted_before_and_after_the_command(
    words: list[str], rest: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_PROFILE", "other")
    assert take_profile(words) == rest
    assert os.environ["HERMES_PROFILE"] == "work"


def test_an_argument_after_two_dashes_is_not_a_flag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_PROFILE", "other")
    assert take_profile(["run", "--", "--profile", "work"]) == ["run", "--", "--profile", "work"]
    assert os.environ["HERMES_PROFILE"] == "other"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--profile"], "needs a value"),
        (["--profile="], "needs a value"),
        (["--profile", "--json"], "needs a value"),
        (["--profile", "a", "run", "--profile", "b"], "more than once: a, b"),
    ],
)
def test_wrong_usage_ends_with_2(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        take_profile(words)
    assert (end.value.code, said in capsys.readouterr().err) == (2, True)
