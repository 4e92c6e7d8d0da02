"""Run each tool call in a separate sandbox.

This is the command sandbox with different limits. Nothing remains of it afterwards.
"""

import base64
import os
import re
import shlex
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import anyio
from anyio.to_thread import run_sync
from msgspec import Struct, structs

from hermes_acp.core.denied_paths import DeniedPath
from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.workspace_ports import Command, CommandResult, LiveProcess
from hermes_acp.core.proposals import Result
from hermes_acp.policy.sensitive_names import is_sensitive
from hermes_acp.tools.custom.tool_declaration import ToolDeclaration
from hermes_acp.tools.scripts.script_calls import ScriptCallServer
from hermes_acp.workspaces.command_environment import temporary_folder
from hermes_acp.workspaces.local_commands import LocalCommands
from hermes_acp.workspaces.output_files import OutputFolder
from hermes_acp.workspaces.path_confinement import is_within
from hermes_acp.workspaces.processes.process_tree import ProcessRegistry
from hermes_acp.workspaces.sandbox.command_sandbox import Sandbox
from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import SandboxDetector, detect_sandbox
from hermes_acp.workspaces.sandbox.mechanisms.seccomp import exec_filter
from hermes_acp.workspaces.sandbox.path_scan import (
    PathAccess,
    PathScan,
    classify_folder,
    classify_path,
    scan_folders,
)
from hermes_acp.workspaces.sandbox.sandbox_policy import SandboxPolicy

HOME_INSIDE: Final = "/home/tool"
MAX_PROCESSES: Final = 64
MEMORY_BYTES: Final = 1 << 30
FILE_BYTES: Final = 256 << 20
MAX_SETTINGS_BYTES: Final = 1 << 20
CREDENTIALS: Final = re.compile(rb"://(?!git@)[^/\s@]+@|extraheader|passw|token|oauth", re.IGNORECASE)
PACKAGE: Final = str(Path(__file__).parent.parent.parent)
# Only the package's own folder is exposed, so that nothing next to it can be imported.
LOADER: Final = (
    "import sys, types; own = types.ModuleType('hermes_acp'); own.__path__ = [sys.argv[1]]; "
    "sys.modules['hermes_acp'] = own; from hermes_acp.tools.custom.runner import run; run()"
)


class SessionFolders(Struct, frozen=True):
    """The folders of a session, absolute and with links resolved."""

    cwd: str
    roots: tuple[str, ...]


class ToolRunResult(Struct, frozen=True):
    """The result of a call: its text, the tool's own message if it `failed`, or its `crash`; and what it printed.

    `unseen` lists folders that appeared empty to the tool because they are too large to be searched for secrets.
    """

    text: str = ""
    failed: str = ""
    crash: str = ""
    printed: str = ""
    unseen: tuple[str, ...] = ()


def no_denied_paths(place: str, tools: Sequence[str]) -> tuple[DeniedPath, ...]:
    """Return no denied paths."""
    del place, tools
    return ()


class ToolSandboxes:
    """Runs tools. `variables` are this process's, `bounds` returns the current limits, `private` is our own folder."""

    def __init__(
        self,
        variables: Mapping[str, str],
        bounds: Callable[[], SandboxPolicy],
        is_public: Callable[[str], bool],
        private: str,
        find: SandboxDetector = detect_sandbox,
        *,
        denied_paths_for: Callable[[str, Sequence[str]], tuple[DeniedPath, ...]] = no_denied_paths,
    ) -> None:
        """Run nothing until first use; `denied_paths_for` returns the paths that rules hide from a tool in a folder."""
        self._denied_paths_for = denied_paths_for
        self._variables = variables
        self._bounds = bounds
        self._is_public = is_public
        self._private = private
        self._find = find

    async def run(
        self,
        declared: ToolDeclaration,
        source: str,
        arguments: Mapping[str, Any],
        session_folders: SessionFolders,
    ) -> ToolRunResult:
        """Run one call until it ends; on return or cancellation, nothing is left running. Raises WorkspaceError."""
        registry = ProcessRegistry()
        sandbox, unseen = await run_sync(self._sandbox, declared, session_folders)
        outputs = OutputFolder(self._temporary, registry.register_folder)
        commands = LocalCommands(
            (), lambda path: path, lambda: self._seen(declared), registry, outputs, sandbox
        )
        inside = session_folders.cwd if declared.files != "none" else ""
        words = (os.path.realpath(sys.executable), "-I", "-S", "-X", "utf8", "-c", LOADER, PACKAGE)
        command = Command(f"exec {shlex.join(words)}", inside or "/", declared.timeout_s, "must")
        task = {
            "name": declared.name,
            "source": source,
            "arguments": dict(arguments),
            "cwd": inside,
            "paths": list(_libraries()) if declared.modules else [],
            "filter": "" if declared.processes else base64.b64encode(exec_filter()).decode(),
        }
        try:
            outcome = await _answered(await commands.launch(command), task, declared.timeout_s)
            return structs.replace(outcome, unseen=unseen)
        finally:
            with anyio.CancelScope(shield=True):
                await commands.close()

    @property
    def _temporary(self) -> str:
        return temporary_folder(self._variables)

    def _seen(self, declared: ToolDeclaration) -> dict[str, str]:
        """Return the variables for a tool: of the user's, only locale settings and program and temporary paths."""
        kept = ("LANG", "LC_ALL", "TZ", "TMPDIR", *(["PATH"] if declared.processes else []))
        given = {name: self._variables[name] for name in kept if name in self._variables}
        return {"PATH": os.defpath, "LANG": "C.UTF-8", **given, "HOME": HOME_INSIDE}

    def _sandbox(
        self, declared: ToolDeclaration, session_folders: SessionFolders
    ) -> tuple[Sandbox, tuple[str, ...]]:
        """Return a call's sandbox, and the folders that are empty in it because they are too large to be searched."""
        if "/" in session_folders.roots and declared.files != "none":
            raise WorkspaceError(
                "Not run: the workspace is the whole machine, so a tool cannot be confined to it.",
                hint="Open a session in a folder.",
            )
        usual = self._bounds()
        shown = session_folders.roots if declared.files == "read" else ()
        roots = session_folders.roots if declared.files == "write" else ()
        libraries = _libraries() if declared.modules else ()
        code = (PACKAGE, sys.base_prefix, os.path.dirname(os.path.realpath(sys.executable)), *libraries)
        bounds = SandboxPolicy(
            hosts=declared.network,
            readable=(*(path for path in code if not _is_in(path, (*shown, *roots))), *shown),
            guarded=usual.guarded,
            max_processes=min(usual.max_processes, MAX_PROCESSES),
            memory_bytes=min(usual.memory(), MEMORY_BYTES),
            file_bytes=min(usual.file_bytes or FILE_BYTES, FILE_BYTES),
            cpu_s=int(declared.timeout_s) + 1,
        )
        denied_paths = self._denied_paths_for(session_folders.cwd, (declared.name,))
        sight = _find_secrets((*shown, *roots), bounds, denied_paths)
        whole = sight.hiding_unvisited()
        sandbox = Sandbox(
            roots,
            lambda: self._seen(declared),
            lambda: bounds,
            self._is_public,
            find=self._find,
            hidden=(self._private, *whole.hidden),
        )
        _require_confinement(sandbox, declared)
        return sandbox, _folders_of(whole.hidden, sight.hidden)


def _require_confinement(sandbox: Sandbox, declared: ToolDeclaration) -> None:
    found = sandbox.found
    if found.way == "none":
        raise WorkspaceError(f"Not run: custom tools only run in a sandbox. {found.remark}")
    if found.way == "seatbelt":
        raise WorkspaceError(
            "Not run: custom tools need Linux, whose kernel can keep them from starting programs."
        )
    if found.way == "landlock" and declared.network:
        raise WorkspaceError(
            "Not run: it may only connect to certain hosts, which only bubblewrap can enforce.",
            hint="Install bubblewrap (the package bubblewrap).",
        )


async def _answered(process: LiveProcess, task: object, timeout_s: float) -> ToolRunResult:
    answering = ScriptCallServer(process, task, _refuse, 0)
    end: CommandResult | None = None
    with anyio.move_on_after(timeout_s):
        end = await answering.run()
    if end is None:
        return ToolRunResult(crash=f"It exceeded its time limit of {timeout_s:g} s and was ended.")
    if answering.outcome is None:
        how = end.signal or ("killed" if end.exit_code is None else f"exit code {end.exit_code}")
        words = "\n".join(filter(None, (answering.noise.strip(), end.output.strip())))
        return ToolRunResult(crash=f"It ended without a result ({how}).\n{words}".strip())
    said = {key: value for key, value in answering.outcome.items() if isinstance(value, str)}
    return ToolRunResult(
        text=said.get("text", ""),
        failed=said.get("failed", ""),
        crash=said.get("crash", ""),
        printed=said.get("printed", ""),
    )


async def _refuse(name: str, arguments: str) -> Result:
    return Result("A tool cannot call other tools.", is_error=True)


def _libraries() -> tuple[str, ...]:
    """Return the folders of the modules installed alongside this program."""
    return tuple(dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))))


def _find_secrets(
    folders: Sequence[str], bounds: SandboxPolicy, denied_paths: Sequence[DeniedPath]
) -> PathScan:
    """Find the files that would need the user's approval to be read, because a running tool cannot ask.

    Paths that rules only protect from changes are hidden as well: tools do not need them.
    """

    def judge(path: str, is_folder: bool) -> PathAccess:
        name = os.path.basename(path)
        if classify_path(path, denied_paths, is_folder=is_folder) in ("hidden", "kept"):
            return "hidden"
        if is_folder:
            return "hidden" if bounds.guarded.hides(name) else "passed" if _is_store(path) else "open"
        return "hidden" if _holds_keys(path, name) else "passed"

    whole = tuple(folder for folder in folders if classify_folder(folder, denied_paths) == "hidden")
    sight = scan_folders([folder for folder in folders if folder not in whole], judge)
    return structs.replace(sight, hidden=(*whole, *sight.hidden))


def _is_store(path: str) -> bool:
    """Return whether a folder is a git object store, whose many packed files have no meaningful names."""
    return path.endswith("/objects") and "/.git/" in path


def _holds_keys(path: str, name: str) -> bool:
    """Return whether a file holds keys, judging by its name or, for a git config, by keys in its URLs."""
    if name not in ("config", "config.worktree") or "/.git/" not in path:
        return is_sensitive(path)
    try:
        with open(path, "rb") as file:
            return CREDENTIALS.search(file.read(MAX_SETTINGS_BYTES)) is not None
    except OSError:
        return True


def _folders_of(hidden: Sequence[str], shut: Sequence[str]) -> tuple[str, ...]:
    """Return the hidden folders that are not themselves denied."""
    return tuple(sorted(set(hidden) - set(shut)))


def _is_in(path: str, folders: tuple[str, ...]) -> bool:
    return any(is_within(path, folder) for folder in folders)
