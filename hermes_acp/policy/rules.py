"""The judgement of effects.

Knows: modes, standing grants, names that always need asking. Does not know: tools, editors, how a question is put.
A call is allowed only when every one of its effects is; one denied effect denies it; everything else is asked. A shell
command is as many effects as it has steps (`policy/shell`), each judged by itself.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import translate
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from hermes_acp.core.proposals import Calls, Deletes, Effect, Reaches, Reads, Recalls, Runs, Writes
from hermes_acp.core.terms import Grant, Mode

if TYPE_CHECKING:
    from hermes_acp.policy.shell.analysis import Analysis
    from hermes_acp.policy.shell.steps import Step

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
SECRET_FOLDERS = frozenset(
    {".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".gcloud", ".password-store"}
)
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
    ".git-credentials",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".vault-token",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.tfstate",
    "credentials",
    "credentials.json",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
)
HARMLESS_SECRET_LOOKALIKES = (".env.example", ".env.sample", ".env.template", "*.pub")
_SECRET_NAME = re.compile("|".join(map(translate, SECRET_FILES)))
_HARMLESS_NAME = re.compile("|".join(map(translate, HARMLESS_SECRET_LOOKALIKES)))


class Verdict(Struct, frozen=True):
    """A decision and, in words for the user and the model, why."""

    decision: Decision
    why: str = ""


class StepVerdict(Struct, frozen=True):
    """One step of a command with its verdict."""

    step: "Step"
    verdict: Verdict


class Policy:
    """The rules of one home: its own folder is nobody's to write.

    `user_home` and `search_path` are those that commands will have.
    """

    def __init__(self, home: str, user_home: str = "/", search_path: Sequence[str] = ()) -> None:
        self._home = home
        self._user_home = user_home
        self._search_path = tuple(search_path)

    def judge(self, effects: Iterable[Effect], mode: Mode, grants: Iterable[Grant]) -> Verdict:
        """Judge a call by all of its effects."""
        known = {(grant.kind, grant.subject): grant.allowed for grant in grants}
        return strictest([self._judge_one(effect, mode, known) for effect in effects])

    def judge_steps(
        self, effect: Runs, mode: Mode, grants: Iterable[Grant]
    ) -> tuple[Verdict, tuple[StepVerdict, ...]]:
        """Judge a command, and show how each of its steps was judged."""
        known = {(grant.kind, grant.subject): grant.allowed for grant in grants}
        analysis = self._analyse(effect)
        steps = tuple(
            StepVerdict(step, self._judge_step(step, effect, mode, known)) for step in analysis.steps
        )
        return self._judge_analysis(effect, analysis, steps, mode, known), steps

    def grants_for(self, effects: Iterable[Effect], *, allowed: bool) -> tuple[Grant, ...]:
        """Give one standing grant for each effect that a person can grant, as narrow as it can be.

        Protected and secret paths never become one. A command is remembered by the beginnings of all its steps where
        each of them can stand for nothing else, otherwise word for word.
        """
        grants: list[Grant] = []
        for effect in effects:
            match effect:
                case Writes(path=path) if not (allowed and (is_protected(path) or holds_secrets(path))):
                    grants.append(Grant("write", path, allowed))
                case Runs():
                    grants += (
                        self._grants_for_run(effect)
                        if allowed
                        else [Grant("run", run_subject(effect), False)]
                    )
                case Reaches(host=host):
                    grants.append(Grant("reach", host, allowed))
                case Deletes(path=path) if not allowed:
                    grants.append(Grant("delete", path, allowed))
                case Calls():
                    grants.append(Grant("call", call_subject(effect), allowed))
                case _:
                    pass
        return tuple(dict.fromkeys(grants))

    def _grants_for_run(self, effect: Runs) -> list[Grant]:
        verdict, steps = self.judge_steps(effect, "ask", ())
        if verdict.decision != "ask":
            return []
        touched = [path for judged in steps for path in (*judged.step.writes, *judged.step.deletes)]
        read = [path for judged in steps for path in judged.step.reads]
        if any(is_protected(path) or holds_secrets(path) for path in touched) or any(map(is_sensitive, read)):
            return []
        asked = [judged.step for judged in steps if judged.verdict.decision == "ask"]
        narrow = [
            Grant("run", beginning_subject(effect.cwd, step.beginning), True)
            for step in asked
            if step.beginning
        ]
        narrow += [Grant("write", path, True) for step in asked for path in step.writes]
        known = {(grant.kind, grant.subject): True for grant in narrow}
        if narrow and self._judge_run(effect, "ask", known).decision == "allow":
            return narrow
        return [Grant("run", run_subject(effect), True)]

    def _judge_one(self, effect: Effect, mode: Mode, known: Mapping[tuple[str, str], bool]) -> Verdict:
        match effect:
            case Reads(path=path):
                return self._judge_read(path, mode)
            case Writes(path=path):
                return self._judge_write(path, mode, known)
            case Deletes(path=path):
                return self._judge_delete(path, mode, known)
            case Reaches():
                return _judge_reach(effect, mode, known)
            case Runs():
                return self._judge_run(effect, mode, known)
            case Calls():
                return _judge_call(effect, mode, known)
            case Recalls():
                told = "what was said in sessions of other folders would be shown to the model"
                return Verdict("allow") if mode == "auto" else Verdict("ask", told)

    def _analyse(self, effect: Runs) -> "Analysis":
        from hermes_acp.policy.shell.analysis import effects_of_command
        from hermes_acp.policy.shell.places import Surroundings

        around = Surroundings(effect.roots or (effect.cwd,), self._user_home, self._search_path)
        return effects_of_command(effect.command, effect.cwd, around)

    def _judge_run(self, effect: Runs, mode: Mode, known: Mapping[tuple[str, str], bool]) -> Verdict:
        analysis = self._analyse(effect)
        steps = tuple(
            StepVerdict(step, self._judge_step(step, effect, mode, known)) for step in analysis.steps
        )
        return self._judge_analysis(effect, analysis, steps, mode, known)

    def _judge_analysis(
        self,
        effect: Runs,
        analysis: "Analysis",
        steps: Sequence[StepVerdict],
        mode: Mode,
        known: Mapping[tuple[str, str], bool],
    ) -> Verdict:
        if analysis.ruin:
            return Verdict("deny", analysis.ruin)
        answer = known.get(("run", run_subject(effect)))
        if answer is False:
            return Verdict("deny", "the user refused this command")
        verdict = strictest([judged.verdict for judged in steps])
        if verdict.decision == "deny":
            return verdict
        if mode == "plan":
            is_fine = analysis.is_harmless and verdict.decision == "allow"
            return (
                Verdict("allow")
                if is_fine
                else Verdict("deny", "plan mode runs only commands that just read")
            )
        if mode == "auto":
            return verdict
        if answer and not any(_must_ask(judged.step) for judged in steps):
            return Verdict("allow")
        if analysis.obstacles:
            return strictest([verdict, Verdict("ask", "; ".join(analysis.obstacles[:3]))])
        return verdict

    def _judge_step(
        self, step: "Step", effect: Runs, mode: Mode, known: Mapping[tuple[str, str], bool]
    ) -> Verdict:
        """Judge one step of a command: its program first, then every path it names."""
        is_granted = bool(step.beginning) and known.get(
            ("run", beginning_subject(effect.cwd, step.beginning))
        )
        verdicts = [Verdict("allow")]
        if step.judgement == "unknown" and not is_granted and mode != "auto":
            verdicts.append(Verdict("ask", step.why))
        verdicts += (self._judge_read_by_command(path, effect, mode) for path in step.reads)
        verdicts += (self._judge_write_by_command(path, effect, mode, known) for path in step.writes)
        verdicts += (self._judge_write_by_command(path, effect, mode, {}) for path in step.deletes)
        return strictest(verdicts)

    def _judge_read_by_command(self, path: str, effect: Runs, mode: Mode) -> Verdict:
        verdict = self._judge_read(path, mode)
        if verdict.decision == "deny" or mode == "auto":
            return verdict
        from hermes_acp.policy.shell.places import HARMLESS_DEVICES, PUBLIC_FILES, is_within

        if path in HARMLESS_DEVICES or path in PUBLIC_FILES:
            return Verdict("allow")
        if is_sensitive(path):
            return Verdict("ask", f"{path} usually holds secrets")
        if not any(is_within(path, root) for root in effect.roots or (effect.cwd,)):
            return Verdict("ask", f"{path} is outside the session's folders")
        return verdict

    def _judge_write_by_command(
        self, path: str, effect: Runs, mode: Mode, known: Mapping[tuple[str, str], bool]
    ) -> Verdict:
        from hermes_acp.policy.shell.never import is_device
        from hermes_acp.policy.shell.places import HARMLESS_DEVICES, is_within

        if path in HARMLESS_DEVICES:
            return Verdict("allow")
        if is_device(path):
            return Verdict("deny", f"{path} is a device")
        verdict = self._judge_write(path, mode, known)
        if verdict.decision != "allow" or mode == "auto":
            return verdict
        if not any(is_within(path, root) for root in effect.roots or (effect.cwd,)):
            return Verdict("ask", f"{path} is outside the session's folders")
        return verdict

    def _judge_read(self, path: str, mode: Mode) -> Verdict:
        if self._is_own(path):
            return Verdict("deny", f"{path} belongs to the agent itself")
        if holds_secrets(path) and mode != "auto":
            return Verdict("ask", f"{path} usually holds secrets")
        return Verdict("allow")

    def _judge_write(self, path: str, mode: Mode, known: Mapping[tuple[str, str], bool]) -> Verdict:
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

    def _judge_delete(self, path: str, mode: Mode, known: Mapping[tuple[str, str], bool]) -> Verdict:
        if known.get(("delete", path)) is False:
            return Verdict("deny", f"the user refused to have {path} deleted")
        verdict = self._judge_write(path, mode, {})
        if verdict.decision != "allow" or mode == "auto":
            return verdict
        return Verdict("ask", f"{path} would be deleted")

    def _is_own(self, path: str) -> bool:
        return path == self._home or path.startswith(self._home + "/")


def strictest(verdicts: Iterable[Verdict]) -> Verdict:
    """Give the strictest of several verdicts, with every reason for it, each once."""
    given = list(verdicts)
    for decision in ("deny", "ask"):
        whys = [verdict.why for verdict in given if verdict.decision == decision]
        if whys:
            return Verdict(decision, "; ".join(dict.fromkeys(whys)))
    return Verdict("allow")


def _must_ask(step: "Step") -> bool:
    """Tell whether no standing answer covers a step: it changes what is protected, or shows secrets."""
    changed = (*step.writes, *step.deletes)
    is_delicate = any(is_protected(path) or holds_secrets(path) for path in changed)
    return is_delicate or any(map(is_sensitive, step.reads))


def _judge_call(effect: Calls, mode: Mode, known: Mapping[tuple[str, str], bool]) -> Verdict:
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


def _judge_reach(effect: Reaches, mode: Mode, known: Mapping[tuple[str, str], bool]) -> Verdict:
    granted = known.get(("reach", effect.host))
    if granted is False:
        return Verdict("deny", f"the user refused any talk to {effect.host}")
    return Verdict("allow") if granted else Verdict("ask", f"{effect.host} would be spoken to")


def call_subject(effect: Calls) -> str:
    """Name a server's tool for a standing grant, whatever it is called with."""
    return f"{effect.server}\0{effect.tool}"


def run_subject(effect: Runs) -> str:
    """Name a command for a standing grant: the very command in the very folder, nothing like it."""
    return f"{effect.cwd}\0{effect.command}"


def beginning_subject(cwd: str, beginning: str) -> str:
    """Name the beginning of a command for a standing grant; no command itself holds two NUL characters."""
    return f"{cwd}\0{beginning}\0"


def is_protected(path: str) -> bool:
    """Tell whether a write there can run code or loosen rules later; case does not matter, nor whether it exists."""
    parts = [part.casefold() for part in PurePosixPath(path).parts]
    return any(part in PROTECTED_FOLDERS for part in parts) or (bool(parts) and parts[-1] in PROTECTED_FILES)


def holds_secrets(path: str) -> bool:
    """Tell whether a file of this name usually holds keys."""
    name = path.rstrip("/").rpartition("/")[2].casefold()
    return bool(_SECRET_NAME.fullmatch(name)) and not _HARMLESS_NAME.fullmatch(name)


def is_sensitive(path: str) -> bool:
    """Tell whether reading a path may show keys: by its name, its folder, or as a repository's configuration."""
    parts = path.casefold().split("/")
    if not SECRET_FOLDERS.isdisjoint(parts) or parts[-2:] == [".git", "config"]:
        return True
    return (path.startswith("/proc/") and parts[-1] == "environ") or holds_secrets(path)
