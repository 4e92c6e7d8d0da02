"""What the command line says about a mistyped one."""

import pytest

from hermes_acp.frontends.cli.cli_main import run_command
from hermes_acp.frontends.cli.scan.scan_flags import parse_flags


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("--foo", "`hermes-acp` has no flag --foo. Try `hermes-acp --help`."),
        ("--versoin", "`hermes-acp` has no flag --versoin. Did you mean --version?"),
        ("--mode auto go", "`hermes-acp` has no flag --mode. --mode belongs to `hermes-acp run`."),
        ("runn go", "`hermes-acp` has no command 'runn'. Did you mean hermes-acp run?"),
        ("sessions lst", "no command 'lst'. Did you mean hermes-acp sessions list?"),
        ("run --modle x go", "`hermes-acp run` has no flag --modle. Did you mean --mode or --model?"),
        ("setup --key sk-secret", "`hermes-acp setup` has no flag --key. Did you mean --key-from-env?"),
        ("run --foo", "`hermes-acp run` has no flag --foo. Try `hermes-acp run --help`."),
        ("sessions list --jsn", "`hermes-acp sessions list` has no flag --jsn. Did you mean --json?"),
        ("sessions show", "The following arguments are required: ID."),
        ("sessions show a b", "Unexpected argument: b."),
        ("run --mode yolo go", "'yolo' (choose from"),
        ("run --timeout -1 go", "must be a positive number, not -1"),
    ],
)
def test_the_mistake_and_what_was_meant_are_named(
    typed: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(typed.split()) == 2
    out, err = capsys.readouterr()
    assert (out, said in err) == ("", True), err
    assert len(err.splitlines()) == 1


def test_a_prompt_without_a_command_is_told_where_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["fix the failing test"]) == 2
    assert 'To run it as a prompt: hermes-acp run "…"' in capsys.readouterr().err


@pytest.mark.parametrize("typed", ["--jsnl", "--json"])
def test_scan_completes_no_flag_and_names_the_closest(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_flags([typed])
    assert ended.value.code == 2
    assert f"`hermes-acp scan` has no flag {typed}. Did you mean --jsonl?" in capsys.readouterr().err
