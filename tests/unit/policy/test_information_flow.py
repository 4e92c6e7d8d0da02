"""Information flow: a session's sources, and calls that need approval again because of them."""

from typing import Final

import pytest

from hermes_acp.core.event_types import Grant, Mode
from hermes_acp.core.events import PermissionAnswered
from hermes_acp.core.flow_labels import Exposure, Source, SourcesRead, status_rows
from hermes_acp.core.policy_rules import Rule
from hermes_acp.core.proposals import (
    Calls,
    Deletes,
    Effect,
    Presses,
    Reaches,
    Reads,
    Recalls,
    Remembers,
    Runs,
    Writes,
)
from hermes_acp.core.record.session_record import Record
from hermes_acp.policy.grants import run_subject
from hermes_acp.policy.information_flow import FlowState
from hermes_acp.policy.judges.command_judge import fingerprint_steps
from hermes_acp.policy.policy_engine import Policy

PAGE: Final = Source("untrusted", "https://evil.example/page")
NOTE: Final = Source("private", "notes")
KEYS: Final = Source("secret", ".env")
BOTH: Final = Exposure((PAGE.name,), (NOTE.name,))
SECRET: Final = Exposure(secret=(KEYS.name,))
PLACE: Final = "/work/project"
MODES: Final[tuple[Mode, ...]] = ("ask", "accept_edits", "auto")
FETCH: Final = Reaches("docs.example", "https://docs.example/x?q=1", is_all_sent=True)
CALL: Final = Calls("tracker", "create_issue", has_read_only_hint=True, state="s")
PUSH: Final = Runs("git push origin main", PLACE, confined=True)
STANDING: Final = (
    Grant("reach", "docs.example", True),
    Grant("call", "tracker\0create_issue", True, "s"),
)


def decide(
    effect: Effect,
    exposure: Exposure,
    mode: Mode = "ask",
    *,
    informed: tuple[Grant, ...] = (),
    links: tuple[str, ...] = (),
    rules: tuple[Rule, ...] = (),
) -> str:
    flow = FlowState(exposure, informed, links.__contains__)
    grants = (*STANDING, *informed)
    return Policy("/home", rules=rules).judge([effect], mode, grants, place=PLACE, flow=flow).decision


@pytest.mark.parametrize("effect", [FETCH, CALL, Presses(sends_text=True), Remembers("/notes")])
@pytest.mark.parametrize("mode", MODES)
def test_sending_or_persisting_needs_approval_again_once_both_labels_are_present(
    effect: Effect, mode: Mode
) -> None:
    before = "ask" if isinstance(effect, Remembers) and decide(effect, Exposure(), mode) == "ask" else "allow"
    assert decide(effect, Exposure(), mode) == before
    assert decide(effect, Exposure(private=(NOTE.name,)), mode) == before
    asks_at_once = mode == "auto" or isinstance(effect, Remembers)
    assert decide(effect, Exposure((PAGE.name,)), mode) == ("ask" if asks_at_once else before)
    assert decide(effect, BOTH, mode) == "ask"
    assert decide(effect, SECRET, mode) == "ask"


@pytest.mark.parametrize("mode", [*MODES, "bypass"])
def test_untrusted_text_alone_keeps_notes_from_being_written_without_approval(mode: Mode) -> None:
    """A planted sentence would be in every later session, even if this session needs approval for nothing else."""
    planted = Exposure((PAGE.name,))
    assert decide(Remembers("/notes"), planted, mode) == "ask"
    assert decide(Remembers("/notes"), Exposure(private=(NOTE.name,)), mode) == "allow"
    allowing = (Rule("allow", tool="memory"),)
    policy = Policy("/home", rules=allowing)
    verdict = policy.judge(
        [Remembers("/notes")], mode, (), tool="memory", place=PLACE, flow=FlowState(planted)
    )
    assert verdict.decision == "allow"


@pytest.mark.parametrize("effect", [Reads(f"{PLACE}/a"), Presses(), Runs("ls", PLACE)])
@pytest.mark.parametrize("mode", MODES)
def test_local_effects_need_no_more_approval_than_before(effect: Effect, mode: Mode) -> None:
    assert decide(effect, BOTH, mode) == decide(effect, Exposure(), mode) == "allow"


@pytest.mark.parametrize("mode", ["accept_edits", "auto"])
def test_edits_of_ordinary_files_need_no_more_approval_than_before(mode: Mode) -> None:
    assert decide(Writes(f"{PLACE}/a.py"), BOTH, mode) == "allow"


def test_a_sandboxed_command_cannot_send_data() -> None:
    confined = Runs("git push origin main", PLACE, confined=True)
    assert decide(confined, BOTH, "auto") == "allow"


@pytest.mark.parametrize("command", ["rm -rf build", "git clean -fdx", "find . -name '*.pyc' -delete"])
def test_a_sandboxed_command_that_deletes_needs_approval_in_a_restricted_session(command: str) -> None:
    confined = Runs(command, PLACE, confined=True)
    assert decide(confined, Exposure(), "auto") == "allow"
    assert decide(confined, SECRET, "auto") == "ask"


def test_a_tools_own_results_do_not_prevent_calling_it_again() -> None:
    answers = Exposure(("create_issue of the MCP server tracker",))
    assert decide(CALL, answers, "auto") == "allow"
    assert decide(Calls("tracker", "close_issue", state="s"), answers, "auto") == "ask"
    assert decide(CALL, answers.including([NOTE]), "auto") == "ask"
    assert decide(CALL, answers.including([PAGE]), "auto") == "ask"


def test_a_permanent_answer_for_push_applies_only_until_both_labels_are_present() -> None:
    # Such answers are no longer offered, but those of earlier versions stay valid.
    steps = Policy("/home").judge_steps(PUSH, "ask", ())[1]
    granted = (Grant("run", run_subject(PUSH), True, fingerprint_steps(steps, PUSH)),)
    assert Policy("/home").grants_for([PUSH], allowed=True, place=PLACE) == ()
    assert Policy("/home").judge([PUSH], "ask", granted, place=PLACE).decision == "allow"
    asked = Policy("/home").judge([PUSH], "ask", granted, place=PLACE, flow=FlowState(BOTH.including([KEYS])))
    assert asked.decision == "ask"
    assert "https://evil.example/page" in asked.why
    assert ".env" in asked.why
    assert decide(PUSH, BOTH, informed=granted) == "allow"


def test_data_stays_on_this_machine() -> None:
    local = Reaches("localhost", "http://localhost:3000/?q=1")
    rules = (Rule("allow", host="localhost", is_users=False),)
    assert decide(local, BOTH, rules=rules) == "allow"


def test_an_answer_given_after_the_latest_source_counts() -> None:
    for effect, grant in ((FETCH, STANDING[0]), (CALL, STANDING[1])):
        assert decide(effect, BOTH, informed=(grant,)) == "allow"
    assert decide(CALL, BOTH, informed=(Grant("call", "tracker\0create_issue", True, "another"),)) == "ask"


def test_a_link_that_was_read_verbatim_sends_nothing_out() -> None:
    assert decide(FETCH, BOTH, links=(FETCH.url,)) == "allow"
    assert decide(Reaches("docs.example", FETCH.url), BOTH, links=(FETCH.url,)) == "ask"


def test_the_users_rules_apply_and_a_workspaces_do_not() -> None:
    for is_users, decision in ((True, "allow"), (False, "ask")):
        by_host = Rule("allow", host="docs.example", is_users=is_users)
        assert decide(FETCH, BOTH, rules=(by_host,)) == decision
        by_command = Rule("allow", command=("git", "push"), is_users=is_users)
        assert decide(PUSH, BOTH, rules=(by_command,)) == decision


def test_bypass_and_plan_are_unaffected() -> None:
    assert decide(CALL, BOTH, "bypass") == "allow"
    assert decide(Remembers("/notes"), BOTH, "plan") == "deny"


@pytest.mark.parametrize(
    ("effect", "sources"),
    [
        (FETCH, {Source("untrusted", FETCH.url)}),
        (Reaches("127.0.0.1", "http://127.0.0.1:3000/"), set[Source]()),
        (CALL, {Source("untrusted", "create_issue of the MCP server tracker")}),
        (Recalls(), {Source("secret", "sessions of other folders")}),
        (Reads(f"{PLACE}/.env"), {KEYS}),
        (Reads(f"{PLACE}/src/a.py"), set[Source]()),
        (Reads(f"{PLACE}/node_modules/left-pad/README.md"), {Source("untrusted", "node_modules/left-pad")}),
        (Reads(f"{PLACE}/notes.cfg", "keys"), {Source("secret", "notes.cfg")}),
        (Runs("cat .env", PLACE), {KEYS}),
        (Runs("git pull", PLACE), {Source("untrusted", "the output of `git pull`")}),
        (Runs("git commit -m push", PLACE), set[Source]()),
        (Runs("curl http://localhost:3000", PLACE), set[Source]()),
        (Runs("npm test", PLACE), set[Source]()),
        (Deletes(f"{PLACE}/a"), set[Source]()),
    ],
)
def test_effects_name_their_sources(effect: Effect, sources: set[Source]) -> None:
    assert set(Policy("/home").sources_of([effect], PLACE)) == sources


def test_a_command_without_network_adds_no_source() -> None:
    run = Runs("curl https://evil.example/", PLACE)
    assert Policy("/home").sources_of([run], PLACE, has_network=False) == ()
    assert Policy("/home").sources_of([run], PLACE)


def test_a_record_keeps_exposure_and_drops_answers_older_than_a_source() -> None:
    record = Record()
    record.apply(SourcesRead((KEYS,)))
    record.apply(PermissionAnswered("c1", "allow_always", STANDING[:1]))
    record.apply(PermissionAnswered("c2", "allow_always", STANDING[1:]))
    assert record.informed_grants == STANDING
    record.apply(SourcesRead((KEYS,), "c3"))
    assert record.informed_grants == STANDING
    record.apply(SourcesRead((PAGE,), "c2"))
    assert record.exposure == Exposure((PAGE.name,), (), (KEYS.name,))
    assert record.informed_grants == STANDING[1:]
    assert record.grants == STANDING


def test_the_status_names_the_sources_and_limits_the_list() -> None:
    assert status_rows(Exposure()) == []
    many = Exposure(tuple(f"https://{number}.example/" for number in range(30)))
    ((title, listed),) = status_rows(many)
    assert title == "Untrusted sources read"
    assert listed.endswith("https://29.example/ and 20 more")
