"""Descriptions of what a call would do, and calls that cannot be approved permanently."""

import pytest

from hermes_acp.core.event_types import CallEffect, Grant
from hermes_acp.core.proposals import Calls, Deletes, Effect, Presses, Reaches, Runs, Writes
from hermes_acp.policy.call_effects import DELETES, REACHES, is_warned_about
from hermes_acp.policy.grants import can_be_kept
from hermes_acp.policy.policy_engine import Policy
from hermes_acp.policy.shell.program_tables import load_tables

PLACE = "/work/project"
POLICY = Policy("/h/.hermes", "/h", ("/usr/bin",))


def reported(effect: Effect) -> tuple[dict[str, tuple[str, ...]], str]:
    why = POLICY.judge([effect], "ask", (), tool="terminal", place=PLACE).why
    summary = POLICY.summarize([effect], why, PLACE)
    return {each.kind: each.targets for each in summary.effects if each.kind != "runs"}, summary.why


@pytest.mark.parametrize(
    ("command", "effects", "why"),
    [
        (
            "rm -rf build dist && git push --force",
            {"deletes": ("build", "dist"), "publishes": ("git push --force",)},
            "",
        ),
        ("git clean -fd", {"deletes": ("git clean -fd",)}, ""),
        ("find . -name '*.o' | xargs rm", {"deletes": ("rm",)}, None),
        ("curl https://a.test/x", {"reaches": ("a.test",)}, ""),
        (
            "npm install left-pad",
            {"reaches": ("npm install left-pad",)},
            "npm install installs or removes software",
        ),
        ("npm publish", {"publishes": ("npm publish",)}, ""),
        ("twine upload dist/x", {"publishes": ("twine upload dist/x",)}, ""),
        ("gh pr create", {"publishes": ("gh pr create",)}, ""),
        ("gh pr list", {"reaches": ("gh pr list",)}, ""),
        ("rsync a host:b", {"writes": ("host:b",), "reaches": ("rsync a host:b",)}, None),
        ("make test", {}, "make runs what the project defines"),
        ("git stash push", {}, "git stash push changes the repository"),
        ("mv a b", {"writes": ("b",)}, None),
    ],
)
def test_a_command_is_summarised_by_its_effects(
    command: str, effects: dict[str, tuple[str, ...]], why: str | None
) -> None:
    found, reasons = reported(Runs(command, PLACE, (PLACE,), confined=True))
    assert found == effects
    assert why is None or reasons == why


def test_paths_are_relative_to_the_working_directory() -> None:
    assert reported(Writes(f"{PLACE}/src/a.py")) == ({"writes": ("src/a.py",)}, "src/a.py would change")
    assert reported(Deletes("/tmp/x")) == ({"deletes": ("/tmp/x",)}, "")


@pytest.mark.parametrize(
    ("effect", "is_warning"),
    [
        (Deletes(f"{PLACE}/a"), True),
        (Reaches("a.test", "https://a.test/"), True),
        (Reaches("localhost", "http://localhost/"), False),
        (Presses(sends_text=True), True),
        (Presses(sends_text=True, uploads="/work/project/a", host="a.test"), True),
        (Presses(), False),
        (Writes(f"{PLACE}/a"), False),
        (Calls("tracker", "create_issue"), False),
        (Runs("rm a", PLACE, (PLACE,), confined=True), True),
        (Runs("make", PLACE, (PLACE,), confined=True), False),
    ],
)
def test_users_are_warned_about_deleting_publishing_and_contacting_others(
    effect: Effect, is_warning: bool
) -> None:
    assert is_warned_about(POLICY.summarize([effect], "", PLACE).effects) is is_warning


@pytest.mark.parametrize(
    "command", ["rm -rf build", "git push", "curl https://a.test", "make && rm a", "npm ci", "sh -c 'rm a'"]
)
def test_no_permanent_answer_allows_an_effect_with_a_warning(command: str) -> None:
    effect = Runs(command, PLACE, (PLACE,), confined=True)
    assert POLICY.grants_for([effect], allowed=True, place=PLACE) == ()
    assert POLICY.grants_for([effect], allowed=False, place=PLACE)
    assert POLICY.grants_for([Writes(f"{PLACE}/a"), Deletes(f"{PLACE}/b")], allowed=True, place=PLACE) == ()
    assert POLICY.grants_for([Runs("make", PLACE, (PLACE,), confined=True)], allowed=True, place=PLACE)


def test_connecting_to_a_host_is_allowed_for_a_session_at_most() -> None:
    grants = POLICY.grants_for([Reaches("a.test", "https://a.test/")], allowed=True, place=PLACE)
    assert grants == (Grant("reach", "a.test", True),)
    assert not can_be_kept(grants)
    assert can_be_kept((Grant("write", "/a", True),))


def test_the_list_of_targets_is_limited() -> None:
    command = "rm " + " ".join(f"f{number}" for number in range(200))
    summary = POLICY.summarize([Runs(command, PLACE, (PLACE,), confined=True)], "", PLACE)
    (deleted,) = [each for each in summary.effects if each.kind == "deletes"]
    assert deleted == CallEffect("deletes", tuple(f"f{number}" for number in range(50)))


def test_reasons_that_name_an_effect_match_the_table() -> None:
    assert {DELETES.strip(), REACHES.strip()} <= load_tables().reasons.keys()
