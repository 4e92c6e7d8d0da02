"""Files that context files import: changing one needs approval like changing the importer."""

from __future__ import annotations

import pytest

from hermes_acp.core.event_types import Grant, Mode
from hermes_acp.core.flow_labels import Exposure, Source
from hermes_acp.core.policy_rules import Rule
from hermes_acp.core.proposals import Deletes, Effect, Runs, Writes
from hermes_acp.policy.information_flow import FlowState
from hermes_acp.policy.policy_engine import Policy

PROJECT = "/work/project"
STYLE = f"{PROJECT}/docs/style.md"


def policy(*rules: Rule) -> Policy:
    imports = {PROJECT: {STYLE: "AGENTS.md"}}
    return Policy("/home/me/.hermes", rules=rules, imports=lambda place: imports.get(place, {}))


def judged(effect: Effect, mode: Mode, *rules: Rule, grants: tuple[Grant, ...] = ()) -> str:
    return policy(*rules).judge((effect,), mode, grants, tool="edit_file", place=PROJECT).decision


@pytest.mark.parametrize("mode", ["ask", "accept_edits", "auto"])
@pytest.mark.parametrize("effect", [Writes(STYLE), Deletes(STYLE)])
def test_a_change_needs_approval_and_the_reason_names_the_importer(mode: Mode, effect: Effect) -> None:
    verdict = policy().judge((effect,), mode, (), place=PROJECT)
    assert (verdict.decision, verdict.why) == ("ask", f"{STYLE} is part of the instructions in AGENTS.md")


def test_bypass_does_not_ask_and_other_folders_are_unaffected() -> None:
    assert judged(Writes(STYLE), "bypass") == "allow"
    assert policy().judge((Writes(STYLE),), "auto", (), place="/work/other").decision == "allow"
    far = policy().judge((Writes(STYLE),), "auto", (), place=PROJECT, folder="/far")
    assert far.decision == "allow", "a path on another machine is another file"


def test_a_command_that_names_the_file_needs_approval() -> None:
    command = Runs(f"echo x > {STYLE}", PROJECT, roots=(PROJECT,), confined=True)
    assert judged(command, "auto") == "ask"
    assert judged(Runs("echo x > docs/other.md", PROJECT, roots=(PROJECT,), confined=True), "auto") == "allow"


def test_no_permanent_answer_or_broad_rule_covers_it() -> None:
    assert policy().grants_for((Writes(STYLE),), allowed=True, place=PROJECT) == ()
    assert judged(Writes(STYLE), "ask", grants=(Grant("write", STYLE, True),)) == "ask"
    wide = Rule("allow", path=f"{PROJECT}/docs/**", access="write", is_users=True)
    named = Rule("allow", path=f"{PROJECT}/docs/style.md", access="write", is_users=True)
    assert judged(Writes(f"{PROJECT}/docs/other.md"), "ask", wide) == "allow"
    assert judged(Writes(STYLE), "auto", wide) == "ask"
    assert judged(Writes(STYLE), "auto", named) == "allow"


def test_text_that_was_read_does_not_get_into_it_without_approval() -> None:
    flow = FlowState(Exposure().including([Source("untrusted", "a.example"), Source("private", "notes")]))

    def decision(path: str) -> str:
        return policy().judge((Writes(path),), "auto", (), place=PROJECT, flow=flow).why

    assert "a.example" in decision(STYLE)
    assert decision(f"{PROJECT}/docs/other.md") == ""
