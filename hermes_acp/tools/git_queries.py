"""Query an untrusted git repository safely.

A repository's configuration can name programs that git runs even for read-only commands: monitors, hooks, pagers,
filters, converters, signers, transports. None of them may run here, and git reads only the repository in the
session's folders. Source: the man pages of git, git-config and gitattributes.
"""

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec import Struct, structs

from hermes_acp.core.errors import OutsideRoots, WorkspaceError
from hermes_acp.core.ports.workspace_ports import Command, CommandResult, Files, Workspace
from hermes_acp.core.proposals import Progress
from hermes_acp.git.program_settings import INERT_SETTINGS, INERT_VARIABLES, OFFLINE_SETTINGS, includes_files
from hermes_acp.git.safe_git import settings_variables
from hermes_acp.tools.safe_display import shown_path

TIMEOUT_S: Final = 60.0
MAX_LISTING_BYTES: Final = 16_384
"""The limit is below the output limit of any command, so that a listing is never truncated."""
UNKNOWN: Final = "\N{REPLACEMENT CHARACTER}"
_PLACES: Final = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin:/run/current-system/sw/bin"
_VARIABLES: Final = MappingProxyType(
    {**INERT_VARIABLES, "PATH": _PLACES, "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}
)
_SETTINGS: Final = (
    *INERT_SETTINGS,
    *OFFLINE_SETTINGS,
    ("log.mailmap", "false"),
    ("diff.submodule", "short"),
    ("diff.ignoreSubmodules", "all"),
    ("status.submoduleSummary", "false"),
    ("color.ui", "false"),
    ("safe.directory", "*"),
)
_FILTER: Final = "filter."
_PARTS: Final = (
    "HEAD", "config", "config.worktree", "packed-refs", "shallow", "index", "refs", "logs", "logs/HEAD", "objects",
    "objects/info", "objects/info/alternates", "info", "info/attributes", "info/exclude", "info/sparse-checkout",
)  # fmt: skip
"""Files in a repository that git reads line by line, printing any line that it does not understand."""


class Repository(Struct, frozen=True):
    """A repository within the session's folders: its work tree at `top`, and its git directory."""

    top: str
    git_dir: str


async def find_repository(files: Files, folder: str) -> Repository:
    """Find the repository of a folder. Raises WorkspaceError if there is none, or if it redirects git elsewhere."""
    start = folder
    while True:
        names = {entry.name for entry in await files.entries(folder)}
        if ".git" in names or ".git/" in names:
            return Repository(folder, await _git_dir(files, folder, is_file=".git" in names))
        parent = os.path.dirname(folder)
        try:
            is_over = parent == folder or files.locate(parent) != parent
        except OutsideRoots:
            is_over = True
        if is_over:
            shown = shown_path(start, files)
            raise WorkspaceError(
                f"{shown} is not in a git repository within the session's folders.",
                hint="Use the tool in a repository.",
            )
        folder = parent


async def _git_dir(files: Files, top: str, *, is_file: bool) -> str:
    """Return a repository's git directory, which must be inside the session's folders."""
    written = os.path.join(top, ".git")
    try:
        if is_file:
            said = (await files.read(files.locate(written)) or b"").decode("utf-8", "replace")
            written = os.path.join(top, said.removeprefix("gitdir:").strip())
        git_dir = files.locate(written)
        shared = await files.read(files.locate(os.path.join(git_dir, "commondir")))
        own = [git_dir]
        if shared is not None:
            own.append(files.locate(os.path.join(git_dir, shared.decode("utf-8", "replace").strip())))
        parts = {name: [files.locate(os.path.join(place, name)) for place in own] for name in _PARTS}
    except OutsideRoots as error:
        raise WorkspaceError(
            f"The repository of {shown_path(top, files)} keeps its data outside the session's folders, so git is "
            "not run there.",
            hint="Ask the user to add that folder to the session.",
        ) from error
    for path in (*parts["config"], *parts["config.worktree"]):
        if includes_files(await files.read(path) or b""):
            raise WorkspaceError(
                f"{shown_path(path, files)} includes other files, so git is not run there.",
                hint="Ask the user whether `git` may run in the terminal.",
            )
    return git_dir


async def run_git(
    workspace: Workspace, repository: Repository, arguments: Sequence[str], progress: Progress
) -> CommandResult:
    """Run git in the workspace with these arguments, with every program its repository could start disabled.

    Raises WorkspaceError if not all of its filters are known.
    """
    # The pattern ends here, because a name that is not valid UTF-8 matches nothing beyond it.
    listing = ("config", "--name-only", "--get-regexp", r"^filter\.")
    listed = await workspace.run(_confined(_command(repository, listing, {}), workspace), progress)
    lines = listed.output.removesuffix("\n").split("\n")
    is_whole = not (listed.timed_out or listed.signal) and len(listed.output) <= MAX_LISTING_BYTES
    if not is_whole or any(UNKNOWN in line or not line.isprintable() for line in lines):
        raise WorkspaceError(
            f"The repository {repository.top} has filters that cannot all be disabled.",
            hint="Look at the `filter` sections of its configuration.",
        )
    names = {line.removeprefix(_FILTER).rpartition(".")[0] for line in lines if line.startswith(_FILTER)}
    command = _command(repository, arguments, _without_filters(names))
    return await workspace.run(_confined(command, workspace), progress)


def _confined(command: Command, workspace: Workspace) -> Command:
    """Run git in a sandbox if there is one, even if other commands run outside.

    A filter configured after the check then runs inside the sandbox and gains nothing, unless a person approved it.
    """
    within = structs.replace(command, confinement="must")
    return within if workspace.confines(within) else command


def _without_filters(names: Iterable[str]) -> Mapping[str, str]:
    return {
        f"{_FILTER}{name}.{key}": "false" if key == "required" else ""
        for name in sorted(names)
        for key in ("clean", "smudge", "process", "required")
    }


def _command(repository: Repository, arguments: Sequence[str], further: Mapping[str, str]) -> Command:
    """Return the command with the system's git, never one from the workspace, and only our variables."""
    settings = (*_SETTINGS, ("core.worktree", repository.top), *further.items())
    variables = {
        **_VARIABLES,
        "GIT_DIR": repository.git_dir,
        "GIT_WORK_TREE": repository.top,
        **settings_variables(settings),
    }
    given = " ".join(shlex.quote(f"{name}={value}") for name, value in variables.items())
    line = f"command -p env -i {given} git --no-pager {shlex.join(arguments)}"
    return Command(line, repository.top, TIMEOUT_S, is_quiet=True)
