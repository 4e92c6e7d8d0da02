"""Create and change custom tools: previewed in full, checked before the user is asked, and versioned."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import Diff
from hermes_acp.core.ports.custom_tool_ports import ToolChange, ToolPreview, ToolScope
from hermes_acp.storage.version_history import (
    ChangeAuthor,
    ChangeCause,
    VersionHistory,
    history_folder_of,
    read_tree,
    tree_digest,
)
from hermes_acp.tools.custom.tool_checker import NAME, SHAPE, check_tool_source
from hermes_acp.tools.custom.tool_declaration import ToolDeclaration
from hermes_acp.tools.custom.tool_failures import ToolFailureLog
from hermes_acp.tools.custom.tool_folders import ToolFile, ToolFolders, builtin_names
from hermes_acp.tools.custom.tool_versions import ToolVersion, version_to_return_to, versions_of

Approved = Callable[[ToolFile, str], None]
"""A function that is called with a file whose exact content was just approved, and its session's working directory."""


class _Plan(Struct, frozen=True):
    """A change as text: the file before and after (None if missing), and the digest of the file before."""

    folder: Path
    scope: ToolScope
    before: str | None
    after: str | None
    state: str
    declared: ToolDeclaration | None = None


class ToolEditor:
    """Changes the tools of one user and of the folders they work in."""

    def __init__(
        self,
        home: Path,
        tool_folders: ToolFolders,
        tool_failures: ToolFailureLog,
        now: Callable[[], float],
        approved: Approved,
    ) -> None:
        self._home = home
        self._tool_folders = tool_folders
        self._mishaps = tool_failures
        self._now = now
        self._approved = approved

    async def preview(self, cwd: str, change: ToolChange) -> ToolPreview:
        """Preview a change to a tool. Raises BadRequest, with all errors, if the change is invalid."""
        plan = await run_sync(self._plan, cwd, change)
        path = str(plan.folder / f"{change.name}.py")
        diff = Diff(path, plan.before, plan.after or "", is_deleted=plan.after is None)
        return ToolPreview(plan.scope, plan.state, diff, plan.declared.abilities() if plan.declared else "")

    async def change(self, cwd: str, change: ToolChange, preview: ToolPreview, session_id: str) -> str:
        """Apply exactly the change that was shown and report the result. Raises BadRequest or StorageError."""
        return await run_sync(self.change_now, cwd, change, preview, "agent", session_id)

    def change_now(
        self, cwd: str, change: ToolChange, preview: ToolPreview, who: ChangeAuthor, session_id: str = ""
    ) -> str:
        """Apply a change that was shown, on someone's behalf. Raises BadRequest or StorageError."""
        folder, diff = Path(preview.diff.path).parent, preview.diff
        content = None if diff.is_deleted else diff.new_text.encode()
        cause = ChangeCause(who, self._now(), change.reason, session_id)
        history = self.history(folder)
        path = f"{change.name}.py"
        history.change({path: content}, cause, expected=preview.state, seen=(path,))
        self._mishaps.forget(folder, change.name)
        number = versions_of(history, change.name, self._now())[-1].number
        if content is None:
            return f"{change.name} is archived. `rollback` restores it."
        checked = check_tool_source(diff.new_text, change.name, builtin_names())
        digest = sha256(content).hexdigest()
        self._approved(ToolFile(folder, change.name, preview.scope, diff.new_text, digest, checked), cwd)
        return f"{diff.path} is version {number} of {change.name}. It can be called from the next turn on."

    def history(self, folder: Path) -> VersionHistory:
        """Return the version history of a tool folder."""
        return VersionHistory(history_folder_of(self._home, "tools", folder), folder)

    def versions(self, cwd: str, name: str) -> tuple[ToolVersion, ...]:
        """Return the versions of a tool, oldest first, in whichever folder it is. Raises BadRequest or StorageError."""
        return versions_of(self.history(self._home_of(cwd, name)[0]), name, self._now())

    def _plan(self, cwd: str, change: ToolChange) -> _Plan:
        if not NAME.fullmatch(change.name):
            raise BadRequest(
                f"{change.name[:60]!r} is not a valid tool name.",
                hint="Use 2 to 48 lower-case letters, digits and underscores.",
            )
        if not change.reason.strip():
            raise BadRequest("A change needs a reason.", hint="Say in one sentence why.")
        folder, scope = (
            (self._tool_folders.folder(change.scope, cwd), change.scope)
            if change.action == "create"
            else self._home_of(cwd, change.name)
        )
        state = tree_digest(tuple(each for each in read_tree(folder) if each.path == f"{change.name}.py"))
        before = self._present(folder, scope, cwd, change.name)
        after = self._after(change, folder, before)
        declared = _require_tool(after, change.name) if after is not None else None
        if after == before:
            raise BadRequest(f"{change.name} already has that content.")
        return _Plan(folder, scope, before, after, state, declared)

    def _after(self, change: ToolChange, folder: Path, before: str | None) -> str | None:
        match change.action:
            case "create":
                if before is not None:
                    raise BadRequest(
                        f"A tool {change.name} already exists.", hint="Patch it, or choose another name."
                    )
                return change.text
            case "patch":
                return _patched(change, _require(before, change.name))
            case "delete":
                _require(before, change.name)
                return None
            case "rollback":
                history = self.history(folder)
                versions = versions_of(history, change.name, self._now())
                wanted = version_to_return_to(versions, change.name, change.version)
                assert wanted.file, "a version to restore has a file"
                return history.content(wanted.file).decode("utf-8")

    def _home_of(self, cwd: str, name: str) -> tuple[Path, ToolScope]:
        """Return the folder of a tool, or of an archived tool; the user's own folder comes first."""
        scopes: tuple[ToolScope, ...] = ("user", "workspace")
        folders: list[tuple[Path, ToolScope]] = [
            (self._tool_folders.folder(each, cwd), each) for each in scopes
        ]
        for folder, scope in folders:
            if (folder / f"{name}.py").is_file():
                return folder, scope
        for folder, scope in folders:
            if any(
                f"{name}.py" == file.path for each in self.history(folder).versions() for file in each.files
            ):
                return folder, scope
        return folders[0]

    def _present(self, folder: Path, scope: ToolScope, cwd: str, name: str) -> str | None:
        found = next((each for each in self._tool_folders.files(scope, cwd) if each.name == name), None)
        if found is None and (folder / f"{name}.py").exists():
            raise BadRequest(f"{folder / name}.py cannot be read as text.", hint="Check it manually.")
        return found.source if found else None


def _require(before: str | None, name: str) -> str:
    if before is None:
        raise BadRequest(f"There is no custom tool {name}.", hint="Use `create` to create it.")
    return before


def _patched(change: ToolChange, before: str) -> str:
    count = before.count(change.old_text) if change.old_text else 0
    if count != 1:
        raise BadRequest(
            f"old_text occurs {count} times in {change.name}.py.",
            hint="Pass text that occurs in it exactly once.",
        )
    return before.replace(change.old_text, change.text)


def _require_tool(source: str, name: str) -> ToolDeclaration:
    checked = check_tool_source(source, name, builtin_names())
    if checked.declaration is None:
        faults = "\n".join(fault.told(f"{name}.py") for fault in checked.faults)
        raise BadRequest(
            f"This is not a valid tool yet:\n{faults}", hint=f"A tool has {SHAPE} and def run(…)."
        )
    try:
        source.encode()
    except UnicodeEncodeError as error:
        raise BadRequest(f"{name}.py is not valid Unicode.", hint="Write it again.") from error
    return checked.declaration
