"""Check paths that would be read, written or deleted."""

import os
import stat
from typing import Literal

from hermes_acp.core.policy_rules import Rule
from hermes_acp.policy.policy_context import PolicyContext
from hermes_acp.policy.rule_set import names_literally
from hermes_acp.policy.sensitive_names import is_protected, is_sensitive
from hermes_acp.policy.verdicts import ALLOWED, Verdict, apply_rule


def check_read(path: str, case: PolicyContext, secret: str = "") -> Verdict:
    """Check whether a path may be read; `secret` names a secret found in the file."""
    if _is_own(path, case):
        return Verdict("deny", f"{path} belongs to the agent itself")
    verdict = ALLOWED
    if case.mode != "bypass" and is_sensitive(path) and not _is_harmless_folder(path, case):
        verdict = Verdict("ask", f"{path} usually contains secrets")
    elif secret and case.mode != "bypass":
        verdict = Verdict("ask", f"{path} contains {secret}")
    return _apply_rule(verdict, path, "read", case, has_secret=bool(secret))


def check_write(path: str, case: PolicyContext, *, is_whole: bool = True, secret: str = "") -> Verdict:
    """Check whether a path may be changed; `secret` names a secret found in the file.

    A standing grant applies unless the path would be deleted (`is_whole` is false).
    """
    if _is_own(path, case):
        return Verdict("deny", f"{path} belongs to the agent itself")
    if case.mode == "plan":
        return Verdict("deny", "plan mode changes nothing")
    if case.standing_grants.refuses("write", path):
        return Verdict("deny", f"the user refused writes to {path}")
    is_granted = is_whole and case.standing_grants.allows("write", path)
    if case.mode == "bypass":
        verdict = ALLOWED
    elif is_protected(path):
        verdict = Verdict("ask", f"{path} can run code or change what agents do later")
    elif importer := case.imports.get(path):
        verdict = Verdict("ask", f"{path} is part of the instructions in {importer}")
    elif is_sensitive(path):
        verdict = Verdict("ask", f"{path} usually contains secrets")
    elif secret:
        verdict = Verdict("ask", f"{path} contains {secret}")
    elif not is_granted and not case.is_remote and (mode := write_protection(path)) is not None:
        verdict = Verdict("ask", f"{path} is read-only (mode {mode:04o})")
    elif case.mode in ("accept_edits", "auto") or is_granted:
        verdict = ALLOWED
    else:
        verdict = Verdict("ask", f"{path} would {'change' if is_whole else 'be deleted'}")
    return _apply_rule(verdict, path, "write", case, has_secret=bool(secret))


def check_delete(path: str, case: PolicyContext) -> Verdict:
    """Check whether a path may be deleted; only a rule or an autonomous mode allows that without asking."""
    if case.standing_grants.refuses("delete", path):
        return Verdict("deny", f"the user refused to have {path} deleted")
    verdict = check_write(path, case, is_whole=False)
    if verdict.decision != "allow" or case.mode in ("auto", "bypass") or verdict.why:
        return verdict
    return _apply_rule(Verdict("ask", f"{path} would be deleted"), path, "write", case)


def write_protection(path: str) -> int | None:
    """Return the mode of a local file that is write-protected, or None for any other file. Blocks.

    Replacing such a file would succeed despite its mode.
    """
    try:
        about = os.lstat(path)
    except (OSError, ValueError):
        return None
    is_protected_file = stat.S_ISREG(about.st_mode) and not (
        about.st_mode & 0o222 and os.access(path, os.W_OK)
    )
    return stat.S_IMODE(about.st_mode) if is_protected_file else None


def _is_harmless_folder(path: str, case: PolicyContext) -> bool:
    """Return whether a path is a folder that merely has the name of a secret file, as `.env` may be. Blocks."""
    return not case.is_remote and not is_sensitive(f"{path}/x") and os.path.isdir(path)


def _is_own(path: str, case: PolicyContext) -> bool:
    home = case.own_home
    return bool(home) and (path == home or path.startswith(home + "/"))


def _apply_rule(
    verdict: Verdict,
    path: str,
    access: Literal["read", "write"],
    case: PolicyContext,
    *,
    has_secret: bool = False,
) -> Verdict:
    rule = case.rulebook.for_path(path, access, case.tool)
    if rule is None and case.tool_rule is None:
        return verdict
    is_delicate = has_secret or is_sensitive(path) or (access == "write" and case.protects(path))
    needs_name = has_secret or (access == "write" and path in case.imports)
    is_covered = _covers(rule, path) and (not needs_name or _names(rule, path))
    verdict = apply_rule(verdict, rule, is_spared=is_delicate and not is_covered)
    # A rule about a tool as a whole does not cover sensitive paths.
    return apply_rule(verdict, case.tool_rule, is_spared=is_delicate)


def _covers(rule: Rule | None, path: str) -> bool:
    return rule is not None and names_literally(rule, path)


def _names(rule: Rule | None, path: str) -> bool:
    """Return whether a rule names the file itself.

    A rule that covers many files cannot account for what one of them contains.
    """
    return rule is not None and rule.path.rpartition("/")[2] == path.rpartition("/")[2]
