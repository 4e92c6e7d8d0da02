"""Deciding from the process table whether a person started a training."""

import pytest
from msgspec import structs

from hermes_acp.training.caller import Caller, SeenProcess
from hermes_acp.training.person_check import NoPerson, why_not_a_person

SHELL = SeenProcess(20, ("-zsh",), {"TERM": "xterm"})
EMULATOR = SeenProcess(30, ("/usr/bin/foot",))
INIT = SeenProcess(1, ("/sbin/init",))
PERSON = Caller({"PATH": "/bin"}, (SHELL, EMULATOR, INIT), (EMULATOR,), (INIT,), True, False, False)


def seen(*argv: str) -> SeenProcess:
    return SeenProcess(40, argv)


def test_a_person_at_a_terminal_may_start_a_training() -> None:
    assert why_not_a_person(PERSON) is None


@pytest.mark.parametrize(
    "argv",
    [
        ("sshd: me@pts/1",),
        ("tmux",),
        ("/usr/share/code/code", "--type=utility"),
        ("node", "/home/me/.vscode-server/out/server-main.js"),
        ("uv", "run", "hermes-acp", "train", "start", "x"),
        ("/usr/bin/python3", "/opt/hermes/bin/hermes-acp", "train", "start", "x"),
        ("/opt/hermes/bin/python", "-P", "-m", "hermes_acp", "train", "start", "x"),
        ("bash", "-c", "echo claude"),
        ("vim", "codex"),
    ],
)
def test_ordinary_parent_programs_do_not_matter(argv: tuple[str, ...]) -> None:
    assert why_not_a_person(structs.replace(PERSON, lineage=(seen(*argv), *PERSON.lineage))) is None


@pytest.mark.parametrize(
    "argv",
    [
        ("hermes-acp",),
        ("/opt/hermes/bin/python", "/opt/hermes/bin/hermes-acp", "--allow-bypass"),
        ("/opt/hermes/bin/python3.12", "-P", "-m", "hermes_acp", "serve"),
        ("python", "-m", "hermes_acp", "acp"),
        ("node", "/usr/lib/node_modules/.bin/claude"),
        ("/home/me/.cargo/bin/codex", "exec"),
        ("goose",),
    ],
)
@pytest.mark.parametrize("place", ["lineage", "holders", "above_holders"])
def test_an_agent_among_the_ancestors_is_found(argv: tuple[str, ...], place: str) -> None:
    found = why_not_a_person(structs.replace(PERSON, **{place: (seen(*argv),)}))
    assert found is not None
    assert (found.kind, "process 40" in found.evidence) == ("agent", True)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"has_terminal": False}, "no_terminal"),
        ({"is_tagged": True}, "marked"),
        ({"is_confined": True}, "confined"),
        ({"variables": {"HERMES_CALL_ID": "x-1"}}, "agent"),
        ({"variables": {"CLAUDECODE": "1"}}, "agent"),
        ({"variables": {"CI": "true"}}, "ci"),
        ({"lineage": (SeenProcess(9, ("sh",), {"HERMES_CALL_ID": "x-1"}),)}, "agent"),
        ({"lineage": (SeenProcess(9, ("sh",), is_tagged=True),)}, "agent"),
        ({"above_holders": (SeenProcess(9, ("sh",), {"GEMINI_CLI": "1"}),)}, "agent"),
        ({"holders": (seen("python3.11", "x.py"),)}, "driven"),
        ({"holders": (seen("/usr/bin/script", "-qc", "x"),)}, "driven"),
        ({"holders": (seen("expect"),)}, "driven"),
    ],
)
def test_each_kind_of_evidence_counts(changes: dict[str, object], kind: str) -> None:
    found = why_not_a_person(structs.replace(PERSON, **changes))
    assert found is not None
    assert found.kind == kind


@pytest.mark.parametrize("value", ["", "0", "false", "False"])
def test_a_variable_set_to_no_is_ignored(value: str) -> None:
    assert why_not_a_person(structs.replace(PERSON, variables={"CI": value})) is None


def test_the_trainers_process_needs_no_terminal_and_no_marks() -> None:
    alone = structs.replace(PERSON, has_terminal=False, holders=())
    assert why_not_a_person(alone, needs_terminal=False) is None
    assert why_not_a_person(structs.replace(alone, is_tagged=True), needs_terminal=False) == NoPerson(
        "marked"
    )
