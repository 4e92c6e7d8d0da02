"""The `git` tool: inspect a repository's status, changes and history."""

import os
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import BadRequest, WorkspaceError
from hermes_acp.core.event_types import Location, ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Reads, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.untrusted_text import plain
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.policy.sensitive_names import is_sensitive
from hermes_acp.tools.allowed_paths import allowed_among, omission_note
from hermes_acp.tools.git_queries import Repository, find_repository, run_git
from hermes_acp.tools.safe_display import shown_path
from hermes_acp.tools.tool_schemas import schema_of

DEFAULT_COMMITS = 20
MAX_COMMITS = 200
MAX_DENIED_PATHS = 200
SHOWING_CHANGES = ("diff", "show")
WHOLE = ":(top)"
_PLAIN = ("--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=all", "--no-color")


class Arguments(BaseModel):
    """What to show."""

    model_config = ConfigDict(extra="forbid")

    action: Literal["status", "diff", "log", "show", "blame"]
    """What to show."""
    path: str | None = None
    """A file or folder."""
    ref: Annotated[str | None, Field(description="Commit, branch or range a..b")] = None
    """A commit, a branch or a range `a..b`."""
    staged: bool = False
    """With `diff`: staged changes only."""
    count: Annotated[int, Field(ge=1, le=MAX_COMMITS)] = DEFAULT_COMMITS
    """With `log`: the number of commits."""


class Git:
    """Show status, diff, log, commits and blame; none of the repository's own programs run."""

    name = "git"
    kind: ToolKind = "read"
    tool_metadata = ToolMetadata(
        capabilities=frozenset({"files", "processes"}), is_cheap=True, is_repeatable=True, quotes="output"
    )
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(
            self.name, "Inspect the git repository; run other git commands in the terminal.", Arguments
        )

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call. Raises WorkspaceError without a repository, BadRequest for an invalid commit."""
        path = workspace.locate(arguments.path or ".")
        ref = arguments.ref or ""
        if ref.startswith("-") or "\0" in ref or "\n" in ref:
            raise BadRequest(
                f"{escape_invisible(ref)[:80]} is not a commit.", hint="Give a commit, a branch or a range."
            )
        if arguments.action == "blame" and not arguments.path:
            raise BadRequest("blame needs the path of a file.", hint="Name the file.")
        repository = await find_repository(workspace, await _folder_of(path, workspace))
        looked_at = [path if arguments.path else repository.top, *_named_in(ref, repository, workspace)]
        git_arguments = _arguments_of(arguments, repository, path)

        async def look(progress: Progress) -> Result:
            shut = await _shut_in(git_arguments, workspace, repository, path, progress)
            leaving_out = [f":(top,exclude,literal){name}" for name in shut]
            end = await run_git(workspace, repository, [*git_arguments, *leaving_out], progress)
            text = end.output.rstrip("\n") or "(nothing)"
            return Result(text + omission_note(len(shut)), is_error=end.exit_code != 0)

        where = f" {shown_path(path, workspace)}" if arguments.path else ""
        staged = " --staged" if arguments.staged else ""
        title = f"git {arguments.action}{staged}{f' {escape_invisible(ref)}' if ref else ''}{where}"
        effects = tuple(Reads(each) for each in dict.fromkeys(looked_at))
        return Proposal(title, self.kind, look, effects, (Location(path),))


async def _folder_of(path: str, workspace: Workspace) -> str:
    """Return the folder in which to look for a repository; for a missing path, its nearest existing ancestor."""
    for folder in (path, os.path.dirname(path)):
        try:
            await workspace.entries(folder)
        except WorkspaceError:
            continue
        return folder
    return workspace.cwd


def _named_in(ref: str, repository: Repository, workspace: Workspace) -> Sequence[str]:
    """Return every path that a revision such as `HEAD:src/a.py` or `:0:a.py` may refer to."""
    _, *behind = ref.split(":")
    paths = (":".join(behind[start:]) for start in range(len(behind)))
    return [workspace.locate(os.path.join(repository.top, path)) for path in paths if path]


async def _shut_in(
    asked: Sequence[str], workspace: Workspace, repository: Repository, path: str, progress: Progress
) -> Sequence[str]:
    """Return the files whose changes must not be shown, by their names in the repository.

    Raises WorkspaceError if there are too many.
    """
    if "--" not in asked or asked[0] not in SHOWING_CHANGES:
        return ()
    at = asked.index("--end-of-options")
    options = ["--name-only", "-z", "--no-renames", *(["--format="] if asked[0] == "show" else [])]
    told = await run_git(workspace, repository, [*asked[:at], *options, *asked[at:]], progress)
    if told.exit_code:
        raise WorkspaceError(plain(told.output, 500), hint="Check the commit and the path.")
    names = [name.strip("\n") for name in told.output.split("\0")]
    if any("\n" in name for name in names):
        raise WorkspaceError("Too many files were changed.", hint="Name the path of a file or a folder.")
    places = {os.path.join(repository.top, name): name for name in names if name}
    shown = await allowed_among(places, path, progress)
    unnamed = asked[-1] == WHOLE
    shut = [name for place, name in places.items() if place not in shown or (unnamed and is_sensitive(place))]
    if len(shut) > MAX_DENIED_PATHS:
        raise WorkspaceError(
            "Rules deny too many of the changed files.", hint="Name the path of a file or a folder."
        )
    return shut


def _commits(ref: str) -> str:
    """Return a revision or range in a form that git can only interpret as commits, not as a file name."""
    dots = "..." if "..." in ref else ".."
    return dots.join(side and f"{side}^{{commit}}" for side in ref.split(dots))


def _arguments_of(asked: Arguments, repository: Repository, path: str) -> list[str]:
    ref = [_commits(asked.ref)] if asked.ref else []
    own = [f":(top,literal){os.path.relpath(path, repository.top)}"] if asked.path else []
    paths = own or [WHOLE]
    match asked.action:
        case "status":
            options = ["status", "--short", "--branch", "--ignore-submodules=all"]
            return [*options, "--", *(own or [WHOLE])]
        case "diff":
            staged = ["--cached"] if asked.staged else []
            return ["diff", *_PLAIN, *staged, "--end-of-options", *ref, "--", *paths]
        case "log":
            form = ["--format=%h %ad %an: %s%d", "--date=short", f"--max-count={asked.count}"]
            return ["log", *_PLAIN, "--no-show-signature", *form, "--end-of-options", *ref, "--", *own]
        case "show":
            if asked.ref and ":" in asked.ref:
                return ["cat-file", "-p", asked.ref]
            form = ["--no-show-signature", "--format=medium"]
            return ["show", *_PLAIN, *form, "--end-of-options", *(ref or ["HEAD"]), "--", *paths]
        case "blame":
            file = os.path.relpath(path, repository.top)
            return ["blame", "--no-textconv", "--no-ignore-revs-file", "--date=short", *ref, "--", file]


TOOL = Git()
