"""One workspace's sandbox: the commands that run in it, and the resources it owns."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from secrets import token_hex
from threading import Lock
from typing import Final

from msgspec import Struct, structs

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.workspace_ports import Command
from hermes_acp.git.tracked_files import TrackedFiles
from hermes_acp.workspaces.command_environment import temporary_folder
from hermes_acp.workspaces.path_confinement import is_within
from hermes_acp.workspaces.processes.process_spawn import SandboxEntry, ShellCommand
from hermes_acp.workspaces.processes.process_tree import ProcessRegistry
from hermes_acp.workspaces.processes.rlimit_tags import tag_of
from hermes_acp.workspaces.sandbox.cgroups import Cgroup, create_cgroup
from hermes_acp.workspaces.sandbox.egress_proxy import Proxy
from hermes_acp.workspaces.sandbox.git_settings import SYSTEM_SETTINGS
from hermes_acp.workspaces.sandbox.git_use import KEEPING, git_variables
from hermes_acp.workspaces.sandbox.mechanisms.bubblewrap import SandboxResources, bubblewrap_args
from hermes_acp.workspaces.sandbox.mechanisms.landlock import landlock_rights
from hermes_acp.workspaces.sandbox.mechanisms.landlock_apply import give_up
from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import (
    DetectedSandbox,
    SandboxDetector,
    detect_sandbox,
)
from hermes_acp.workspaces.sandbox.mechanisms.seatbelt import build_profile
from hermes_acp.workspaces.sandbox.mechanisms.seccomp import build_filter, socket_families
from hermes_acp.workspaces.sandbox.path_handles import PathHandles, close_all, open_in_place
from hermes_acp.workspaces.sandbox.path_scan import find_denied, missing_denied
from hermes_acp.workspaces.sandbox.placeholders import Placeholders
from hermes_acp.workspaces.sandbox.process_limits import SHELL, process_count_limit, process_ulimits
from hermes_acp.workspaces.sandbox.quarantine import Quarantine
from hermes_acp.workspaces.sandbox.sandbox_failure_hints import describe_limits, explain_failure
from hermes_acp.workspaces.sandbox.sandbox_mounts import Placeholder, SandboxMounts, plan_sandbox_mounts
from hermes_acp.workspaces.sandbox.sandbox_policy import (
    DEFAULT_VARIABLES,
    USUAL_MODE,
    CommandMode,
    GuardedNames,
    SandboxPolicy,
    is_any_of,
)
from hermes_acp.workspaces.sandbox.tree_index import TreeIndex, WorkspaceTree

# The shell waits until it is in its control group, runs its preparations, and becomes the command that follows.
OUTER: Final = 'read -r end <&2; exec 2>&1; eval "$1"; shift; exec "$@"'
RELAY: Final = os.path.join(os.path.dirname(__file__), "relay_exec.py")
SOCKET_INSIDE: Final = "/run/hermes-acp-proxy"


class SandboxedCommand(Struct, frozen=True):
    """A command line inside its sandbox, and the resources it holds until it has ended."""

    shell: ShellCommand
    held: tuple[Placeholder, ...] = ()
    path_handles: PathHandles | None = None
    is_confined: bool = False
    mode: CommandMode = USUAL_MODE


class Sandbox:
    """The sandbox of one workspace, whose resources are created for its first command. All methods block."""

    def __init__(
        self,
        roots: Sequence[str],
        environment: Callable[[], Mapping[str, str]],
        bounds: Callable[[], SandboxPolicy],
        is_public: Callable[[str], bool],
        *,
        find: SandboxDetector = detect_sandbox,
        hidden: Sequence[str] = (),
        outputs: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        """Initialise without creating resources. `hidden` is invisible inside; `outputs` is readable."""
        self._find = find
        self._roots = tuple(roots)
        self._environment_now = environment
        self._bounds_now = bounds
        self._is_public = is_public
        self._hidden = tuple(hidden)
        self._outputs = outputs
        self._folder = ""
        self._lasting: dict[str, int] = {}
        self._grounds: dict[str, str] = {}
        self._filters: dict[bool, bytes] = {}
        self._group: Cgroup | None = None
        self._proxy: Proxy | None = None
        self._placeholders = Placeholders()
        self._tracked = TrackedFiles()
        self._setting_up = Lock()

    @cached_property
    def _environment(self) -> Mapping[str, str]:
        return self._environment_now()

    @cached_property
    def bounds(self) -> SandboxPolicy:
        """The limits on commands, as they were at first use."""
        return self._bounds_now()

    @cached_property
    def _quarantine(self) -> Quarantine:
        return Quarantine(self._roots, self._index)

    @cached_property
    def _index(self) -> TreeIndex:
        return TreeIndex(self._roots, self.bounds.guarded)

    @cached_property
    def found(self) -> DetectedSandbox:
        """The confinement method for this workspace."""
        if "/" in self._roots:
            return DetectedSandbox(
                "none", remark="The workspace is the whole machine, so a sandbox would protect nothing."
            )
        return self._find(self._environment, self._roots)

    def takes(self, command: Command) -> bool:
        """Return whether to confine a command. Raises WorkspaceError if it must be confined but cannot be."""
        if not self._should_confine(command):
            return False
        if not self.could_confine(command):
            why = (
                self.found.remark
                if self.bounds.when != "off"
                else "The sandbox is turned off in the settings."
            )
            raise WorkspaceError(
                f"Not run because it could not be sandboxed. {why}",
                hint="Set `unsandboxed: true` to ask the user to run it without the sandbox.",
            )
        return True

    def could_confine(self, command: Command) -> bool:
        """Return whether a command would be confined here."""
        return self._should_confine(command) and self.bounds.when != "off" and self.found.way != "none"

    def _should_confine(self, command: Command) -> bool:
        is_usual = command.confinement == "usual" and self.bounds.when == "on"
        return is_usual or command.must_be_confined

    def confine(
        self, shell: ShellCommand, registry: ProcessRegistry, mode: CommandMode = USUAL_MODE
    ) -> SandboxedCommand:
        """Return a sandboxed command line; once it has ended, call `settle` and `release`.

        A read-only command changes nothing in the workspace and has no network, regardless of the settings.
        """
        with self._setting_up:  # the first commands may run concurrently
            self._set_up(registry)
        with self._placeholders.kept_in_place():
            if mode.is_read_only:
                return self._within(shell, registry, mode)
            self._quarantine.begin(self._current_placeholders)
            try:
                return self._within(shell, registry, mode)
            except (OSError, WorkspaceError):
                self._quarantine.end(self._current_placeholders, is_over=True)
                raise

    def confine_search(self, shell: ShellCommand, registry: ProcessRegistry) -> SandboxedCommand:
        """Confine one of the agent's own searches, which sees all of the folders but cannot follow links outside."""
        with self._setting_up:
            self._set_up(registry)
        bounds = structs.replace(self.bounds, guarded=GuardedNames())
        hidden = (*self._hidden, self._folder)
        mounts = plan_sandbox_mounts(self._roots, bounds, self._environment, hidden, (), WorkspaceTree())
        mounts = structs.replace(mounts, read_only=(*mounts.read_only, shell.argv[0]))
        return self._enter(mounts, shell, registry, CommandMode(is_read_only=True))

    def _within(self, shell: ShellCommand, registry: ProcessRegistry, mode: CommandMode) -> SandboxedCommand:
        if (
            mode.is_read_only or not self.found.mounts
        ):  # nothing would end processes that still write to .git afterwards
            mode = structs.replace(mode, opens_git=False)
        hidden = (*self._hidden, self._folder)
        tree = self._index.look() if mode.is_read_only else self._index.tree()
        with self._setting_up:
            secrets = self._tracked.unknown(tree.secrets, tree.repositories)
        repositories = tree.repositories if mode.is_read_only else self._quarantine.repositories
        tree = structs.replace(tree, secrets=tuple(secrets), repositories=tuple(repositories))
        if (
            self.found.way == "landlock"
        ):  # such a method could not protect a name without blocking new entries
            tree = structs.replace(tree, guarded=())
        mounts = plan_sandbox_mounts(
            self._roots,
            self.bounds,
            self._environment,
            hidden,
            self._placeholders.held(),
            tree,
            opens_git=mode.opens_git,
        )
        return self._enter(self._closed(mounts), shell, registry, mode)

    def _enter(
        self, mounts: SandboxMounts, shell: ShellCommand, registry: ProcessRegistry, mode: CommandMode
    ) -> SandboxedCommand:
        if mode.is_read_only:
            mounts = mounts.read_only_view()
        resources = self._resources(is_read_only=mode.is_read_only)
        environment = git_variables(self._variables())
        counted = process_count_limit(self.bounds.max_processes, has_namespace=self.found.mounts)
        if not self.found.mounts:
            environment |= {"TMPDIR": f"{self._folder}/tmp", "HOME": f"{self._folder}/home"}
            if any(
                each.path == SYSTEM_SETTINGS for each in mounts.masked
            ):  # git stops at a file that it cannot read
                environment |= {"GIT_CONFIG_NOSYSTEM": "1"}
        if self.found.way == "seatbelt":
            words = build_profile(self._with_outputs(mounts), resources).arguments(self.found.program)
            return self._confined(shell, (*words, *counted), environment, mode)
        if self.found.way == "landlock":
            rights = landlock_rights(self._with_outputs(mounts), resources)
            bounded = partial(give_up, rights, resources.filter, network=resources.network)
            return self._confined(shell, counted, environment, mode, give_up=bounded)
        held = self._placeholders.hold(mounts.placeholders)
        for each in held:
            if each.content is None:
                registry.note_placeholder(each.path)
        self._resolve_writable(mounts.writable)
        mounts = structs.replace(self._with_outputs(mounts), placeholders=held)
        path_handles = PathHandles(self._lasting, are_taken=self.found.accepts_descriptors)
        home = environment.get("HOME", "")
        try:
            words = bubblewrap_args(
                self.found.program, mounts, resources, shell.cwd, home, path_handles, mode
            )
        except OSError:
            path_handles.let_go()
            self._placeholders.release(held)
            raise
        relay = (
            (os.path.realpath(sys.executable), "-I", "-S", RELAY, SOCKET_INSIDE) if resources.sockets else ()
        )
        words = (*words, *counted, *relay, *(KEEPING if mode.opens_git else ()))
        confined = self._confined(shell, words, environment, mode, path_handles=path_handles)
        return structs.replace(confined, held=held)

    def _resolve_writable(self, writable: Sequence[str]) -> None:
        """Resolve the writable folders once, because a command could change a link inside another writable folder."""
        for path in writable:
            if not any(is_within(path, each) and path != each for each in writable):
                self._grounds.setdefault(path, os.path.realpath(path))

    def _closed(self, mounts: SandboxMounts) -> SandboxMounts:
        """Collect what rules deny to commands. Raises WorkspaceError."""
        denied_paths = self.bounds.closed()
        sight = find_denied(mounts.writable, denied_paths)
        standing = {each.path for each in self._placeholders.held()}
        missing = set(missing_denied(mounts.writable, denied_paths)) | {
            each.named for each in denied_paths if each.named in standing
        }
        return structs.replace(
            mounts,
            hidden=(*mounts.hidden, *(path for path in sight.hidden if path not in missing)),
            kept=(*mounts.kept, *(path for path in sight.kept if path not in missing)),
            pinned=(*mounts.pinned, *sight.pinned),
            placeholders=tuple(dict.fromkeys((*mounts.placeholders, *map(Placeholder, sorted(missing))))),
        )

    def _confined(
        self,
        shell: ShellCommand,
        words: Sequence[str],
        environment: Mapping[str, str],
        mode: CommandMode,
        *,
        path_handles: PathHandles | None = None,
        give_up: Callable[[str], None] | None = None,
    ) -> SandboxedCommand:
        def receive(pid: int) -> None:
            if self._group:
                self._group.take(pid)
            if path_handles:
                path_handles.let_go()

        bounds = self.bounds.for_read_only() if mode.is_read_only else self.bounds
        outer = (SHELL, "-c", OUTER, "sh", process_ulimits(bounds, tag_of(shell.mark)))
        gate = SandboxEntry(outer, receive, give_up, path_handles.all if path_handles else ())
        argv = (*words, *shell.argv)
        within = structs.replace(shell, argv=argv, environment=environment, gate=gate)
        return SandboxedCommand(within, path_handles=path_handles, is_confined=True, mode=mode)

    def release(self, confined: SandboxedCommand) -> None:
        """Release what a command held, once it and everything it started have ended or if it never started."""
        self._placeholders.release(confined.held)
        if confined.path_handles:
            confined.path_handles.let_go()

    def settle(self, confined: SandboxedCommand, *, is_over: bool) -> str:
        """Quarantine what a command created without permission; `is_over` means that all it started has ended too.

        Returns lines that report it. An unconfined command was approved, so whatever exists when it ends is accepted.
        """
        if confined.mode.is_read_only:
            return ""
        if confined.is_confined:
            return self._quarantine.end(self._current_placeholders, is_over=is_over)
        self._quarantine.admit(self._current_placeholders)
        return ""

    @property
    def has_confined(self) -> bool:
        """Whether any command has been confined; until then there is nothing to quarantine."""
        return bool(self._folder)

    def quarantine_pending(self) -> None:
        """Quarantine what confined commands have created so far, before an approved command may create entries."""
        if self.has_confined:
            self._quarantine.look(self._current_placeholders)

    def _current_placeholders(self) -> frozenset[str]:
        return frozenset(each.path for each in self._placeholders.held())

    def explain(self, confined: SandboxedCommand, output: str, exit_code: int | None) -> str:
        """Return a line about the sandbox if it may be why a command failed."""
        if not exit_code:
            return ""
        return explain_failure(output, self.describe(confined.mode))

    def describe(self, mode: CommandMode) -> str:
        """Describe what a sandboxed command can do."""
        return describe_limits(self.bounds, self._roots, mode, self.found.way)

    def close(self) -> None:
        """Release the sandbox's resources, once nothing runs in it."""
        self._placeholders.clear()
        if self._folder:
            self._index.close()
        if self._proxy is not None:
            self._proxy.close()
        if self._group is not None:
            self._group.end()
        close_all(self._lasting.values())
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._proxy, self._group, self._folder, self._lasting = None, None, "", {}

    def _resources(self, *, is_read_only: bool) -> SandboxResources:
        sockets = ((self._proxy.path, SOCKET_INSIDE),) if self._proxy and not is_read_only else ()
        folder = self._folder
        has_network = self.bounds.has_network and not is_read_only
        own = (f"{folder}/tmp", f"{folder}/home", f"{folder}/empty")
        filter_ = self._filter(is_read_only=is_read_only)
        return SandboxResources(*own, has_network, sockets, filter_, self._grounds)

    def _filter(self, *, is_read_only: bool) -> bytes:
        """Return the filter for a command's system calls, which only Linux has."""
        if self.found.way == "seatbelt":
            return b""
        is_bare = not self.found.mounts
        calls = self._filters.get(is_read_only) or build_filter(
            socket_families(
                has_network=self.bounds.has_network, is_read_only=is_read_only, mounts=self.found.mounts
            ),
            shares_ipc=is_bare,
            keeps_metadata=is_bare and is_read_only,
        )
        self._filters[is_read_only] = calls
        return calls

    def _set_up(self, registry: ProcessRegistry) -> None:
        if self._folder:
            return
        temporary = temporary_folder(self._environment)
        folder = os.path.realpath(tempfile.mkdtemp(prefix="hermes-acp-sandbox-", dir=temporary))
        registry.register_folder(folder)
        for name in ("tmp", "home", "empty"):
            os.mkdir(f"{folder}/{name}", 0o700)
        self._group = create_cgroup(
            f"hermes-acp-{token_hex(6)}", self.bounds.max_processes, self.bounds.memory()
        )
        for made in self._group.folders if self._group else ():
            registry.note_placeholder(made)
        if self.bounds.hosts and not self.bounds.has_network and self.found.mounts:
            self._proxy = Proxy(f"{folder}/proxy", self.bounds.hosts, self._is_public)
        if self.found.accepts_descriptors:
            opened = {path: open_in_place(path) for path in map(f"{folder}/".__add__, os.listdir(folder))}
            self._lasting = {path: held for path, held in opened.items() if held is not None}
        self._folder = folder

    def _variables(self) -> dict[str, str]:
        wanted = (*DEFAULT_VARIABLES, *self.bounds.variables)
        return {name: value for name, value in self._environment.items() if is_any_of(name, wanted)}

    def _with_outputs(self, mounts: SandboxMounts) -> SandboxMounts:
        own = tuple(path for path in (sys.base_prefix, sys.prefix, os.path.dirname(RELAY)) if self._proxy)
        return structs.replace(mounts, read_only=(*mounts.read_only, *self._outputs(), *own))
