"""The settings and variables that make git start programs or read other files, and the settings known to be harmless.

There is one table and one allowlist for all code that runs git, reads a repository's settings, or checks a command that
runs git. The names in the allowlist are in lower case, because git ignores case. Sources: git-config(1), git(1),
gitattributes(5), `git help environment`.
"""

import os
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

INERT_SETTINGS: Final = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("sequence.editor", "false"),
    ("core.alternateRefsCommand", ""),
    ("credential.helper", ""),
    ("diff.external", ""),
    ("gpg.program", "false"),
    ("gpg.openpgp.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.ssh.defaultKeyCommand", ""),
    ("gpg.x509.program", "false"),
    ("log.showSignature", "false"),
    ("protocol.ext.allow", "never"),
    ("transfer.bundleURI", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("submodule.recurse", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    # Git reads these files line by line and quotes lines that it does not understand.
    ("core.attributesFile", "/dev/null"),
    ("mailmap.file", ""),
    ("mailmap.blob", ""),
)
"""Each setting that makes git start a program or read a file elsewhere, with a value that prevents this.

Settings whose names contain a name chosen by the repository are not included: `filter.*`, whose names must be listed
first, and `diff.*.command`, `diff.*.textconv`, `merge.*.driver`, `remote.*.uploadpack` and `pager.*`, which
command-line options or `OFFLINE_SETTINGS` disable. `blame.ignoreRevsFile` is read before an empty value would reset it,
so the option must be used.
"""
OFFLINE_SETTINGS: Final = (
    ("core.askPass", ""),
    ("core.gitProxy", ""),
    ("core.sshCommand", "false"),
    ("protocol.allow", "never"),
)
"""The same for access to other repositories. `GIT_ALLOW_PROTOCOL` takes precedence over `protocol.*`."""
INERT_VARIABLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_PARAMETERS": "",
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_EDITOR": "false",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat",
        "GIT_PROTOCOL_FROM_USER": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
)
"""Variables that disable system and user configuration, protocols, automatic fetches, programs and prompts."""
COMMAND_SETTINGS: Final = (
    ("core.fsmonitor", "false"),
    ("safe.bareRepository", "explicit"),
    ("protocol.ext.allow", "never"),
)
"""Settings for the user's own commands; hooks, filters and aliases stay: approving `git commit` includes them."""
FOREGROUND_SETTINGS: Final = (("gc.autoDetach", "false"), ("maintenance.autoDetach", "false"))
"""Settings that make git finish its garbage collection before it exits."""
DISPLAY_SETTINGS: Final = (
    "color.", "advice.", "core.quotepath=", "core.pager=cat", "diff.renames=", "diff.noprefix=", "log.date=",
    "log.decorate=",
)  # fmt: skip
"""Settings, or prefixes of settings, that only change how output is displayed."""
HARMLESS_SETTINGS: Final = frozenset(
    {
        *(f"core.{name}" for name in (
            "repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode",
            "symlinks", "autocrlf", "eol", "safecrlf", "compression", "sharedrepository", "longpaths", "abbrev",
        )),
        *(f"remote.{name}" for name in ("url", "fetch", "push", "pushurl", "tagopt", "mirror", "prune")),
        *(f"branch.{name}" for name in ("remote", "merge", "rebase", "description", "pushremote")),
        *(f"submodule.{name}" for name in ("active", "url", "path", "branch", "shallow", "ignore")),
        "user.name", "user.email", "author.name", "author.email", "committer.name", "committer.email",
        "init.defaultbranch", "extensions.objectformat", "extensions.refstorage", "extensions.worktreeconfig",
        "extensions.relativeworktrees", "commit.gpgsign", "tag.gpgsign", "pull.rebase", "pull.ff", "push.default",
        "push.autosetupremote", "fetch.prune", "rebase.autostash", "merge.conflictstyle", "merge.ff", "gc.auto",
        "maintenance.auto", "receive.denycurrentbranch", "index.version",
    }
)  # fmt: skip
"""Repository settings that start nothing, except with values that match `_STARTS`."""
_STARTS: Final = re.compile(r"ext::|\\$|^!")
_PLAIN: Final = re.compile(r"[\w.-]+=[\w-]*")
_SECTION: Final = re.compile(r"\[\s*([A-Za-z0-9.-]+)(?:\s+\"(?:[^\"\\]|\\.)*\")?\s*\]")
_SETTING: Final = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?")
_INCLUDE: Final = re.compile(rb"\[include", re.IGNORECASE)


def shapes_output_only(setting: str) -> bool:
    """Return whether a setting (`name=value`) only changes how output is displayed."""
    name, _, value = setting.partition("=")
    folded = f"{name.casefold()}={value}"
    return folded in DISPLAY_SETTINGS or (_is_display(name) and bool(_PLAIN.fullmatch(setting)))


def _is_display(name: str) -> bool:
    begins = (begin for begin in DISPLAY_SETTINGS if begin.endswith((".", "=")))
    return f"{name.casefold()}=".startswith(tuple(begins))


def unsafe_setting(text: str) -> str:
    """Return the first setting in a configuration that is not known to be harmless, or an empty string.

    This is deliberately stricter than git: it also returns a line that git might parse differently.
    """
    section = ""
    for line in (each.strip() for each in text.split("\n")):
        if not line or line[0] in "#;":
            continue
        if header := _SECTION.fullmatch(line):
            section = header[1].casefold()
            continue
        setting = _SETTING.fullmatch(line)
        name = f"{section}.{setting[1].casefold()}" if setting else line[:40]
        is_known = setting and (name in HARMLESS_SETTINGS or _is_display(name))
        if not setting or not is_known or _STARTS.search(setting[2] or ""):
            return name
    return ""


def includes_files(config: bytes) -> bool:
    """Return whether a configuration includes settings from other files."""
    return _INCLUDE.search(config) is not None
