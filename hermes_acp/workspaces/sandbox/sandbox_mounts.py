"""Decide which parts of this machine a sandboxed command can see, and which of these it can change.

This blocks and is repeated for each command, because folders come and go.
"""

import os
import stat
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from typing import Final

from msgspec import Struct, structs

from hermes_acp.git.git_entries import directories, unexpected_entries
from hermes_acp.git.small_files import read_small_text
from hermes_acp.workspaces.path_confinement import is_within
from hermes_acp.workspaces.sandbox.git_settings import MaskedFile, masked_git_settings
from hermes_acp.workspaces.sandbox.sandbox_policy import SandboxPolicy
from hermes_acp.workspaces.sandbox.tree_index import TreeIndex, WorkspaceTree

SYSTEM: Final = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/snap",
    "/home/linuxbrew/.linuxbrew", "/sys/devices/system/cpu", "/var/lib/dpkg", "/var/lib/rpm",
)  # fmt: skip
SYSTEM_SECRETS: Final = (
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssh",
    "/etc/ssl/private", "/etc/docker", "/etc/kubernetes", "/etc/rancher", "/etc/wireguard", "/etc/openvpn", "/etc/ppp",
    "/etc/NetworkManager", "/etc/krb5.keytab", "/etc/crypttab", "/etc/security/opasswd", "/etc/cloud",
    "/etc/apt/auth.conf", "/etc/apt/auth.conf.d", "/etc/letsencrypt", "/etc/ipsec.secrets", "/etc/pki/tls/private",
    "/etc/containers/auth.json",
)  # fmt: skip
TOOLCHAINS: Final = (
    ".asdf", ".bun", ".cabal", ".cargo", ".config/git", ".deno", ".dotnet", ".fnm", ".gem/ruby", ".ghcup", ".gitconfig",
    ".gitignore_global", ".go", ".goenv", ".jenv", ".juliaup", ".local/bin", ".local/lib", ".local/pipx",
    ".local/share/fnm",
    ".local/share/mise", ".local/share/pipx", ".local/share/pnpm", ".local/share/uv", ".nodenv", ".npm-global", ".nvm",
    ".opam", ".pyenv", ".rbenv", ".rustup", ".sdkman", ".volta", "anaconda3", "go", "miniconda3", "miniforge3",
    "Library/Python", "Library/pnpm",
)  # fmt: skip
# Files that start programs at the user's next login, if the home folder is itself a root.
LAUNCHER_FOLDERS: Final = (
    ".config",
    ".local",
    "bin",
    ".pam_environment",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".zlogout",
)
TOOLCHAIN_SECRETS: Final = (".cargo/credentials", ".cargo/credentials.toml", ".config/git/credentials")
# If these are missing, empty folders replace them while a command runs, so that it cannot create them.
PINNED: Final = (".vscode", ".idea", ".claude", ".cursor", ".codex", ".mcp.json", ".envrc")
MAX_NESTED: Final = 500
MAX_SETTINGS_BYTES: Final = 1 << 20
MAX_KEPT_BELOW: Final = 64
"""The number of guarded names below the top that are mounted read-only; each mount delays every command."""
PLACEHOLDER_CONTENT: Final = b".\n"


class Placeholder(Struct, frozen=True):
    """A placeholder for a missing entry that must not be created: an empty folder, or a file with `content`."""

    path: str
    content: bytes | None = None


def is_placeholder(path: str) -> bool:
    """Return whether a path is a placeholder of any session: either empty or containing "here".

    It has the sticky bit from creation, so no session ever sees an unmarked one.
    """
    try:
        about = os.lstat(path)
    except OSError:
        return False
    return _stands_in(path, about)


def is_real(path: str) -> bool:
    """Return whether something other than a placeholder exists; another session may remove a placeholder."""
    try:
        about = os.lstat(path)
    except OSError:
        return False
    return not _stands_in(path, about)


def _stands_in(path: str, about: os.stat_result) -> bool:
    if not about.st_mode & stat.S_ISVTX:
        return False
    if stat.S_ISDIR(about.st_mode):
        return not _names(path)
    content = read_small_text(path, len(PLACEHOLDER_CONTENT))
    return content is not None and PLACEHOLDER_CONTENT.decode().startswith(content)


class SandboxMounts(Struct, frozen=True):
    """What a sandbox shows: `read_only` and `writable` paths, and `kept` ones, read-only within writable ones.

    `pinned` folders cannot be moved, `hidden` paths appear empty, and `placeholders` must exist beforehand and are
    protected as well. With `is_read_only`, nothing is writable. `masked` files are shown without the keys in them.
    """

    system: tuple[str, ...]
    read_only: tuple[str, ...]
    writable: tuple[str, ...]
    pinned: tuple[str, ...]
    kept: tuple[str, ...]
    hidden: tuple[str, ...]
    placeholders: tuple[Placeholder, ...]
    is_read_only: bool = False
    masked: tuple[MaskedFile, ...] = ()

    def read_only_view(self) -> "SandboxMounts":
        """Return the same mounts with nothing writable, so that nothing inside them needs protection."""
        return structs.replace(self, pinned=(), kept=(), placeholders=(), is_read_only=True)

    def hiding_masked(self) -> "SandboxMounts":
        """Return the same mounts with masked files hidden, for mechanisms that cannot show anything else."""
        return structs.replace(self, hidden=(*self.hidden, *(each.path for each in self.masked)), masked=())


def plan_sandbox_mounts(
    roots: Sequence[str],
    bounds: SandboxPolicy,
    environment: Mapping[str, str],
    hidden: Sequence[str],
    held: Sequence[Placeholder] = (),
    tree: WorkspaceTree | None = None,
    *,
    opens_git: bool = False,
) -> SandboxMounts:
    """Plan the mounts for the machine as it is now; `hidden` lists more paths that appear empty.

    The roots are scanned if no `tree` is given. Whatever is `held` as a placeholder for another sandbox is actually
    missing, and is held for this one too. Unless `opens_git` is set, git directories are read-only as a whole.
    """
    standing = {each.path for each in held}
    tree = tree or scan_roots(roots, bounds)
    home, path_variable = environment.get("HOME", ""), environment.get("PATH", "")
    toolchains = _toolchains(home)
    programs = [path for path in path_variable.split(":") if _is_foreign(path, roots)]
    shown = [*(path for path in toolchains if not _is_in(path, roots)), *programs]
    shown += (path for path in bounds.readable if os.path.exists(path))
    kept: list[str] = [path for path in toolchains if _is_in(path, roots)]
    if home in roots:
        kept += (path for name in LAUNCHER_FOLDERS if os.path.lexists(path := os.path.join(home, name)))
    pinned: list[str] = []
    at_top = [(f"{root}/{name}", name) for root in roots for name in _names(root)]
    secrets = [path for path, name in at_top if path not in standing and bounds.guarded.hides(name)]
    secrets += (path for path in (*tree.secrets, *tree.sockets) if path not in standing)
    secrets = [path for path in secrets if is_real(path)]
    kept += _guarded(at_top, standing | set(secrets), bounds)
    deep = [path for path in tree.guarded if os.path.dirname(path) not in roots and path not in secrets]
    kept += deep[:MAX_KEPT_BELOW]
    placeholders = [Placeholder(path) for path in _absent(roots, standing)]
    for repository in tree.repositories:
        if _is_still_there(repository):
            pinned += _folders_above(repository, roots)
            if opens_git or any(is_within(root, repository) for root in roots):
                _guard_repository(repository, pinned, kept, placeholders, standing)
            else:
                kept.append(repository)
    foreign = (*SYSTEM_SECRETS, *(os.path.join(home, name) for name in TOOLCHAIN_SECRETS))
    hidden = [path for path in (*foreign, *hidden) if _shows_something(path)]
    writable = _once([*roots, *(path for path in bounds.writable if os.path.isdir(path))])
    trees = [path for root in roots if (path := _work_tree_of(root))]
    masked = masked_git_settings((*tree.repositories, *trees), environment)
    apart = (*hidden, *(each.path for each in masked))
    pinned += (above for path in apart for above in _folders_above(path, writable))
    return SandboxMounts(
        system=tuple(path for path in SYSTEM if os.path.islink(path) or _names(path)),
        read_only=_outermost([*shown, *trees]),
        writable=writable,
        pinned=_once([path for path in pinned if path not in writable]),
        kept=_once([path for path in kept if not os.path.islink(path)]),
        hidden=_once([*hidden, *secrets, *(each.path for each in masked if each.content is None)]),
        placeholders=tuple(placeholders),
        masked=tuple(each for each in masked if each.content is not None),
    )


def _guarded(at_top: Sequence[tuple[str, str]], left_out: Set[str], bounds: SandboxPolicy) -> list[str]:
    """Return the existing entries with guarded names; git directories are handled separately."""
    guarded = [path for path, name in at_top if name != ".git" and bounds.guarded.holds(name)]
    return [path for path in guarded if path not in left_out and is_real(path)]


def _toolchains(home: str) -> list[str]:
    """Return the compiler and package folders in a home, which may be unknown."""
    found = (os.path.join(home, name) for name in TOOLCHAINS if home)
    return [path for path in found if os.path.exists(path)]


def _is_foreign(path: str, roots: Sequence[str]) -> bool:
    """Return whether a program folder must be added because it is neither a system folder nor inside the roots."""
    if not os.path.isabs(path) or not os.path.isdir(path) or path == "/":
        return False
    return not _is_in(path, (*SYSTEM, *roots)) and not any(is_within(root, path) for root in roots)


def _shows_something(path: str) -> bool:
    """Return whether this user could read anything in a folder."""
    return os.access(path, os.R_OK) and (not os.path.isdir(path) or bool(_names(path)))


def _is_in(path: str, folders: Sequence[str]) -> bool:
    return any(is_within(path, folder) for folder in folders)


def _names(folder: str) -> list[str]:
    with suppress(OSError):
        return sorted(os.listdir(folder))
    return []


def _is_still_there(repository: str) -> bool:
    """Return whether a repository is still where it was seen; a command may have replaced a folder by a link."""
    folder = os.path.dirname(repository)
    return os.path.lexists(repository) and os.path.realpath(folder) == folder


def _folders_above(path: str, roots: Sequence[str]) -> list[str]:
    """Return the folders between a root and a path in it, because moving one would move the path out of sight."""
    above: list[str] = []
    while _is_in(path := os.path.dirname(path), roots):
        above.append(path)
    return above


def _absent(roots: Sequence[str], standing: Set[str]) -> list[str]:
    """Return the missing top-level names that need placeholders."""
    pinned = [f"{root}/{name}" for root in roots for name in PINNED]
    return [path for path in pinned if path in standing or not is_real(path)]


def scan_roots(roots: Sequence[str], bounds: SandboxPolicy) -> WorkspaceTree:
    """Scan the roots once and return the index."""
    index = TreeIndex(roots, bounds.guarded)
    try:
        return index.look()
    finally:
        index.close()


def _guard_repository(
    repository: str, pinned: list[str], kept: list[str], placeholders: list[Placeholder], standing: Set[str]
) -> None:
    """Protect a repository except its data: settings, hooks, unfinished rebases, and the files that locate them."""
    if os.path.islink(repository) or not os.path.isdir(repository):
        kept.append(repository)
        return
    pinned.append(repository)
    _pin_inner(f"{repository}/modules", pinned)
    _pin_inner(f"{repository}/worktrees", pinned)
    reads_own = _reads_own_settings(repository)
    for place in directories(repository):
        present = [path for path in unexpected_entries(place) if path not in standing and is_real(path)]
        if any(os.path.islink(path) for path in present):
            kept.append(place)  # nothing can be mounted over a link, so the folder around it is read-only
            continue
        kept += present
        is_tree = place.startswith(f"{repository}/worktrees/")
        own = [f"{place}/config.worktree"] if reads_own or _reads_own_settings(place) else []
        placeholders += (Placeholder(path, b"") for path in own if path not in present)
        if is_tree:
            continue
        if f"{place}/hooks" not in present:
            placeholders.append(Placeholder(f"{place}/hooks"))
        if f"{place}/commondir" not in present and os.path.isdir(f"{place}/objects"):
            # This file tells git where to read hooks and settings; the placeholder names the default location.
            placeholders.append(Placeholder(f"{place}/commondir", PLACEHOLDER_CONTENT))


def _pin_inner(folder: str, pinned: list[str]) -> None:
    """Prevent a folder inside a repository from being moved."""
    inner = [f"{folder}/{name}" for name in _names(folder)[:MAX_NESTED]]
    if inner:
        pinned += (folder, *inner)


def _reads_own_settings(repository: str) -> bool:
    """Return whether git also reads a settings file per work tree (git-worktree(1))."""
    return "worktreeconfig" in (read_small_text(f"{repository}/config", MAX_SETTINGS_BYTES) or "").casefold()


def _work_tree_of(root: str) -> str:
    """Return the repository of a linked work tree, if it lists that work tree (gitrepository-layout(5))."""
    pointed = (read_small_text(f"{root}/.git") or "").removeprefix("gitdir:").strip()
    if not pointed or "\0" in pointed:
        return ""
    folder = os.path.realpath(os.path.join(root, pointed))
    back = (read_small_text(f"{folder}/gitdir") or "").strip()
    whole = os.path.dirname(os.path.dirname(folder))
    is_known = bool(back) and os.path.realpath(os.path.dirname(back)) == root
    return whole if is_known and os.path.basename(whole) == ".git" else ""


def _outermost(paths: Sequence[str]) -> tuple[str, ...]:
    """Remove paths that are inside another one of the paths."""
    return tuple(
        path for path in _once(paths) if not any(is_within(path, each) for each in paths if each != path)
    )


def _once(paths: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))
