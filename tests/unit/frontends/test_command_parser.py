"""Messages about a mistyped command line."""

from collections.abc import Callable, Sequence

import pytest

from hermes_acp.frontends.acp.daemon.serve_command import serve_command
from hermes_acp.frontends.chat.chat_command import chat_command
from hermes_acp.frontends.cli.cli_main import run_command
from hermes_acp.frontends.cli.scan.scan_flags import parse_flags
from hermes_acp.frontends.gateway.gateway_command import gateway_command
from hermes_acp.frontends.lsp.lsp_command import lsp_command


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("--foo", "`hermes-acp` has no flag --foo. Try `hermes-acp --help`."),
        ("--versoin", "`hermes-acp` has no flag --versoin. Did you mean --version?"),
        ("--mode auto go", "`hermes-acp` has no flag --mode. --mode belongs to `hermes-acp run`."),
        ("runn go", "`hermes-acp` has no command 'runn'. Did you mean hermes-acp run or hermes-acp runs?"),
        ("sessions lst", "no command 'lst'. Did you mean hermes-acp sessions list?"),
        ("run --modle x go", "`hermes-acp run` has no flag --modle. Did you mean --mode or --model?"),
        ("setup --key sk-secret", "`hermes-acp setup` has no flag --key. Did you mean --key-from-env?"),
        ("run --foo", "`hermes-acp run` has no flag --foo. Try `hermes-acp run --help`."),
        ("sessions list --jsn", "`hermes-acp sessions list` has no flag --jsn. Did you mean --json?"),
        ("sessions show", "`hermes-acp sessions show` needs ID. Try `hermes-acp sessions show --help`."),
        ("sessions show a b", "Unexpected argument: b."),
        ("run --mode yolo go", "--mode must be one of ask, accept_edits, plan, auto, bypass, not 'yolo'."),
        ("run --output-format jsn go", "not 'jsn'. Did you mean json?"),
        ("run --model", "--model needs a value. Try `hermes-acp run --help`."),
        ("sessions list --json=1", "--json takes no value."),
        ("run --timeout soon go", "--timeout must be a number, not 'soon'."),
        ("--allow-bypass chat", "Put it after the command: hermes-acp chat --allow-bypass"),
        ("exec go", "`hermes-acp` has no command 'exec'. Did you mean hermes-acp run?"),
        ("memory list", "Did you mean hermes-acp memory show?"),
        ("sessions rm ses_1", "Did you mean hermes-acp sessions delete?"),
        ("policy expalin", "Did you mean hermes-acp policy explain?"),
        ("run --yolo go", "`hermes-acp run` has no flag --yolo. To run without any question: --mode bypass"),
        ("run --dangerously-skip-permissions go", "--mode bypass --allow-bypass"),
        ("run --timeout -1 go", "--timeout must be a positive number, not -1."),
    ],
)
def test_the_mistake_and_the_closest_match_are_named(
    typed: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(typed.split()) == 2
    out, err = capsys.readouterr()
    assert (out, said in err) == ("", True), err
    assert len(err.splitlines()) == 1


def test_values_of_a_missing_argument_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert gateway_command(["setup"]) == 2
    reported = capsys.readouterr().err
    assert "`hermes-acp gateway setup` needs a PLATFORM: discord, email," in reported


def test_a_prompt_without_a_command_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["fix the failing test"]) == 2
    assert 'To run it as a prompt: hermes-acp run "…"' in capsys.readouterr().err


@pytest.mark.parametrize("typed", ["--jsnl", "--json"])
def test_scan_completes_no_flag_and_names_the_closest(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_flags([typed])
    assert ended.value.code == 2
    assert f"`hermes-acp scan` has no flag {typed}. Did you mean --jsonl?" in capsys.readouterr().err


@pytest.mark.parametrize("group", ["memory", "policy"])
def test_a_group_without_an_action_shows_its_help(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command([group]) == 2
    out, err = capsys.readouterr()
    with pytest.raises(SystemExit):
        run_command([group, "--help"])
    assert (out, f"`hermes-acp {group}` needs an action." in err) == ("", True)
    assert capsys.readouterr().out.strip() in err


@pytest.mark.parametrize(
    ("command", "typed", "said"),
    [
        (chat_command, "--modle x", "`hermes-acp chat` has no flag --modle. Did you mean --mode or --model?"),
        (chat_command, "--mod x", "`hermes-acp chat` has no flag --mod. Did you mean --mode or --model?"),
        (
            chat_command,
            "--mode yolo",
            "--mode must be one of ask, accept_edits, plan, auto, bypass, not 'yolo'.",
        ),
        (chat_command, "--plain --full", "--full and --plain cannot be used together."),
        (lsp_command, "--std", "`hermes-acp lsp` has no flag --std. Did you mean --stdio?"),
        (serve_command, "--lisen :1", "`hermes-acp serve` has no flag --lisen. Did you mean --listen?"),
        (serve_command, "--listen", "--listen needs a value."),
    ],
)
def test_every_frontend_explains_wrong_usage_in_one_line(
    command: Callable[[Sequence[str]], int], typed: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(typed.split()) == 2
    out, err = capsys.readouterr()
    assert (out, err.startswith("hermes-acp: "), len(err.splitlines())) == ("", True, 1)
    assert said in err
