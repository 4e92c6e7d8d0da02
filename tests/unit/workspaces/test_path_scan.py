"""Walking folders: nearest first, within a limit, and always reporting what was not searched."""

from pathlib import Path

from hermes_acp.core.policy_rules import Rule
from hermes_acp.policy.rule_set import RuleSet
from hermes_acp.workspaces.sandbox.path_scan import (
    MAX_DENIED_PATHS,
    PathAccess,
    PathScan,
    classify_folder,
    find_denied,
    missing_denied,
    scan_folders,
)


def judge(path: str, is_folder: bool) -> PathAccess:
    return "hidden" if path.endswith(".key") else "open" if is_folder else "passed"


def test_unvisited_folders_are_reported_and_can_be_hidden(tmp_path: Path) -> None:
    for name in ("a/x.key", "b/c/y.key", "node_modules/z.key"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    whole = scan_folders([str(tmp_path)], judge)
    assert len(whole.hidden) == 3
    assert not whole.left
    part = scan_folders([str(tmp_path)], judge, most=4)
    assert part.left[-1] == f"{tmp_path}/node_modules"
    hidden = part.hiding_unvisited().hidden
    assert all(any(Path(path).is_relative_to(each) for each in hidden) for path in whole.hidden)


def test_too_many_matches_are_hidden_by_their_parent_folders() -> None:
    many = tuple(f"/p/deep/{number}/x.key" for number in range(MAX_DENIED_PATHS + 1))
    assert PathScan((*many, "/p/a.key")).hiding_unvisited().hidden == ("/p/a.key", "/p/deep")


def test_a_rule_applies_in_any_case_and_only_where_it_could_match(tmp_path: Path) -> None:
    book = RuleSet(
        (Rule("deny", path="Vault/in/*"), Rule("ask", path="**/*.pem", access="write")), str(tmp_path)
    )
    denied_paths = book.denied_paths(())
    for name in ("vault/IN/a", "vault/b", "c/d.PEM"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    sight = find_denied([str(tmp_path)], denied_paths)
    assert sight.hidden == (f"{tmp_path}/vault/IN/a",)
    assert sight.kept == (f"{tmp_path}/c/d.PEM",)
    assert set(sight.pinned) == {f"{tmp_path}/vault"}
    assert classify_folder(f"{tmp_path}/vault/in/deeper", denied_paths) == "hidden"


def test_a_rule_for_another_tool_denies_nothing() -> None:
    book = RuleSet(
        (Rule("deny", tool="git", path="/p/a"), Rule("allow", path="/p/b"), Rule("deny", command=("x",)))
    )
    assert not book.denied_paths(("terminal",))
    assert [each.named for each in book.denied_paths(("git",))] == ["/p/a"]


def test_a_missing_path_named_by_a_rule_could_be_created(tmp_path: Path) -> None:
    book = RuleSet(
        (Rule("deny", path="./new"), Rule("deny", path=f"{tmp_path}/no/new"), Rule("deny", path="*.x"))
    )
    named = RuleSet((Rule("deny", path=f"{tmp_path}/new"),)).denied_paths(())
    assert missing_denied([str(tmp_path)], (*book.denied_paths(()), *named)) == (f"{tmp_path}/new",)
