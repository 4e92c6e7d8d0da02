"""The judgement of effects.

Knows: modes, standing grants, names that always need asking. Does not know: tools, editors, how a question is put.
A call is allowed only when every one of its effects is; one denied effect denies it; everything else is asked.
"""

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Literal

from msgspec import Struct

from hermes_acp.core.events import Grant, Mode
from hermes_acp.core.proposals import Calls, Effect, Reads, Runs, Writes

Decision = Literal["allow", "ask", "deny"]

# Writing these can run code later, or loosen what the next session is allowed: no mode and no grant covers them.
PROTECTED_FOLDERS = frozenset(
    {
        ".git", ".github", ".gitlab", ".circleci", ".buildkite", ".husky", ".vscode", ".idea", ".zed", ".devcontainer",
        ".claude", ".cursor", ".codex", ".gemini", ".hermes", ".roo", ".windsurf", ".agents", ".ssh", ".gnupg",
        ".cargo", ".direnv", ".mise", ".nvim",
    }
)  # fmt: skip
PROTECTED_FILES = frozenset(
    {
        ".gitmodules", ".gitattributes", ".gitconfig", ".gitlab-ci.yml", "jenkinsfile", "azure-pipelines.yml",
        ".pre-commit-config.yaml", ".travis.yml", ".mcp.json", ".envrc", ".ripgreprc", ".bashrc",
        ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zprofile", ".zshenv",
        ".zlogin", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".netrc", ".curlrc", ".wgetrc", ".inputrc",
        ".tmux.conf", ".vimrc", ".exrc", ".nvim.lua", ".nvimrc", ".dir-locals.el", ".emacs", ".gdbinit",
        ".lldbinit", ".mise.toml", "mise.toml", ".tool-versions", "sitecustomize.py", "usercustomize.py",
        ".aider.conf.yml", ".windsurfrules", ".clinerules", ".roorules", "agents.md", "agents.override.md",
        "claude.md", "claude.local.md", "gemini.md", "soul.md", "hermes.md", ".hermes.md", ".cursorrules",
        "skill.md",
    }
)  # fmt: skip
SECRET_FILES = (
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "id_rsa*",
    "id_ed25519*",
    "id_ecdsa*",
    ".netrc",
    ".npmrc",
    ".pypirc",
)
HARMLESS_SECRET_LOOKALIKES = (".env.example", ".env.sample", ".env.template", "*.pub")


class Verdict(Struct, frozen=True):
    """A decision and, in words for the user and the model, why."""

    decision: Decision
    why: str = ""


class Policy:
    """The rules of one home: its own folder is nobody's to write."""

    def __init__(self, home: str) -> None:
        self._home = home

    def judge(self, effects: Iterable[Effect], mode: Mode, grants: Iterable[Grant]) -> Verdict:
        """Judge a call by all of its effects."""
        known = {(grant.kind, grant.subject): grant.allowed for grant in grants}
        verdicts = [self._judge_one(effect, mode, known) for effect in effects]
        for decision in ("deny", "ask"):
            whys = [verdict.why for verdict in verdicts if verdict.decision == decision]
            if whys:
                return Verdict(decision, "; ".join(dict.fromkeys(whys)))
        return Verdict("allow")

    def _judge_one(self, effect: Effect, mode: Mode, known: dict[tuple[str, str], bool]) -> Verdict:
        match effect:
            case Reads(path=path):
                return self._judge_read(path, mode)
            case Writes(path=path):
                return self._judge_write(path, mode, known)
            case Runs():
                return _judge_run(effect, mode, known)
            case Calls():
                return _judge_call(effect, mode, known)

    def _judge_read(self, path: str, mode: Mode) -> Verdict:
        if self._is_own(path):
            return Verdict("deny", f"{path} belongs to the agent itself")
        if holds_secrets(path) and mode != "auto":
            return Verdict("ask", f"{path} usually holds secrets")
        return Verdict("allow")

    def _judge_write(self, path: str, mode: Mode, known: dict[tuple[str, str], bool]) -> Verdict:
        if self._is_own(path):
            return Verdict("deny", f"{path} belongs to the agent itself")
        if mode == "plan":
            return Verdict("deny", "plan mode changes nothing")
        if known.get(("write", path)) is False:
            return Verdict("deny", f"the user refused writes to {path}")
        if is_protected(path):
            return Verdict("ask", f"{path} can run code or change what agents do later")
        if holds_secrets(path) and mode != "auto":
            return Verdict("ask", f"{path} usually holds secrets")
        if mode in ("accept_edits", "auto") or known.get(("write", path)):
            return Verdict("allow")
        return Verdict("ask", f"{path} would change")

    def _is_own(self, path: str) -> bool:
        return path == self._home or path.startswith(self._home + "/")


def _judge_run(effect: Runs, mode: Mode, known: dict[tuple[str, str], bool]) -> Verdict:
    if mode == "plan":
        return Verdict("deny", "plan mode runs no commands")
    if known.get(("run", run_subject(effect))) is False:
        return Verdict("deny", "the user refused this command")
    if mode == "auto" or known.get(("run", run_subject(effect))):
        return Verdict("allow")
    return Verdict("ask", "a command would run")


def _judge_call(effect: Calls, mode: Mode, known: dict[tuple[str, str], bool]) -> Verdict:
    """Judge by what the user said alone; a server's own hint can at most bring a call before them in plan mode."""
    granted = known.get(("call", call_subject(effect)))
    if granted is False:
        return Verdict("deny", "the user refused this tool")
    if mode == "plan":
        if not effect.has_read_only_hint:
            return Verdict("deny", "plan mode calls no tool of a server that may change something")
        return Verdict("ask", f"the server {effect.server} calls its tool read-only, which nobody checked")
    if mode == "auto" or granted:
        return Verdict("allow")
    return Verdict("ask", f"a tool of the server {effect.server} would be called")


def call_subject(effect: Calls) -> str:
    """Name a server's tool for a standing grant, whatever it is called with."""
    return f"{effect.server}\0{effect.tool}"


def run_subject(effect: Runs) -> str:
    """Name a command for a standing grant: the very command in the very folder, nothing like it."""
    return f"{effect.cwd}\0{effect.command}"


def grants_for(effects: Iterable[Effect], *, allowed: bool) -> tuple[Grant, ...]:
    """Give one standing grant for each effect that a person can grant; protected and secret paths never become one."""
    grants: list[Grant] = []
    for effect in effects:
        match effect:
            case Writes(path=path) if not (allowed and (is_protected(path) or holds_secrets(path))):
                grants.append(Grant("write", path, allowed))
            case Runs():
                grants.append(Grant("run", run_subject(effect), allowed))
            case Calls():
                grants.append(Grant("call", call_subject(effect), allowed))
            case _:
                pass
    return tuple(grants)


def is_protected(path: str) -> bool:
    """Tell whether a write there can run code or loosen rules later; case does not matter, nor whether it exists."""
    parts = [part.casefold() for part in PurePosixPath(path).parts]
    return any(part in PROTECTED_FOLDERS for part in parts) or (bool(parts) and parts[-1] in PROTECTED_FILES)


def holds_secrets(path: str) -> bool:
    """Tell whether a file of this name usually holds keys."""
    name = PurePosixPath(PurePosixPath(path).name.casefold())
    if any(name.match(pattern) for pattern in HARMLESS_SECRET_LOOKALIKES):
        return False
    return any(name.match(pattern) for pattern in SECRET_FILES)
