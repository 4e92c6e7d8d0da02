"""Detect commands that use the network, publish something or delete files, by the names of programs and subcommands.

This labels what a command may read and what it may send out. It permits nothing: a command that is not recognised here
runs without approval only if it has no network access.
"""

import re
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Final

from hermes_acp.policy.shell.command_step import Step

_ALWAYS: Final = frozenset(
    {
        "ansible", "ansible-playbook", "aria2c", "aws", "az", "cloudflared", "curl", "dig", "doctl", "drill",
        "firebase", "flyctl", "ftp", "gcloud", "gh", "glab", "gsutil", "heroku", "helm", "host", "http", "https", "hub",
        "kubectl", "lftp", "lynx", "mail", "mailx", "msmtp", "mutt", "nc", "ncat", "netcat", "netlify", "ngrok",
        "nslookup", "npx", "ping", "pipx", "rclone", "s3cmd", "scp", "sendmail", "sftp", "socat", "ssh", "telnet",
        "tftp", "traceroute", "twine", "uvx", "vercel", "w3m", "wget", "whois", "wrangler", "xh",
    }
)  # fmt: skip
_BY_SUBCOMMAND: Final = frozenset(
    {
        "apt", "apt-get", "brew", "bun", "bundle", "cargo", "composer", "conda", "docker", "dotnet", "gem", "git", "go",
        "gradle", "hg", "mvn", "npm", "pip", "pip3", "pnpm", "podman", "poetry", "svn", "terraform", "uv", "yarn",
    }
)  # fmt: skip
_SUBCOMMANDS: Final = frozenset(
    {
        "add", "apply", "audit", "ci", "clone", "deploy", "dlx", "download", "fetch", "get", "i", "install", "login",
        "ls-remote", "outdated", "publish", "pull", "push", "release", "search", "send-email", "submodule", "sync",
        "update", "upgrade", "upload", "view",
    }
)  # fmt: skip
_PUBLISHING: Final = frozenset({"deploy", "publish", "push", "release", "send-email", "upload"})
_PUBLISH_ALWAYS: Final = frozenset({"mail", "mailx", "msmtp", "mutt", "sendmail"})
_PUBLISH_BY_VERB: Final = MappingProxyType(
    {
        **dict.fromkeys(
            ("gh", "glab", "hub"),
            _PUBLISHING | {"close", "comment", "create", "delete", "edit", "merge", "review", "set"},
        ),
        **dict.fromkeys(
            ("helm", "kubectl", "terraform"), _PUBLISHING | {"apply", "create", "delete", "install"}
        ),
        **dict.fromkeys(
            ("firebase", "flyctl", "heroku", "netlify", "twine", "vercel", "wrangler"), _PUBLISHING
        ),
    }
)
"""Programs that change something elsewhere, with those of their subcommands that do."""
_GROUPS: Final = frozenset({"compose", "image", "lfs", "mod", "package", "pip", "remote", "run", "tool"})
"""Subcommands that have subcommands of their own."""
_GIT_LOCAL: Final = frozenset({"add", "apply"})
_TAKE_VALUE: Final = frozenset({"-C", "-c", "--prefix", "--git-dir", "--work-tree", "--cwd", "-f"})
_LOCAL: Final = frozenset({"echo", "egrep", "fgrep", "grep", "jq", "printf", "rg", "sed", "tee"})
_DELETE_BY: Final = MappingProxyType({"git": "clean", "find": "-delete"})
_REMOTE_PATH: Final = re.compile(r"rsync://|[\w.@-]+:")
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1", "[::1]"})


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    name = host.casefold()
    return name in _LOOPBACK or name.endswith(".localhost") or name.startswith("127.")


def uses_network(step: Step) -> bool:
    """Return whether a command step contacts another machine, going by its words."""
    if step.judgement == "harmless" or step.program in _LOCAL:
        return False
    if step.program in _BY_SUBCOMMAND:
        names = _SUBCOMMANDS - _GIT_LOCAL if step.program == "git" else _SUBCOMMANDS
        return any(name in names for name in _subcommands(step.words[1:]))
    if step.program == "rsync":
        return any(word and _REMOTE_PATH.match(word) for word in step.words[1:])
    others = [host for host in step.hosts if not is_loopback(host)]
    return bool(others) or (step.program in _ALWAYS and not step.hosts)


def publishes(step: Step) -> bool:
    """Return whether a command step sends something to others, such as a push, going by its words."""
    if step.judgement == "harmless":
        return False
    if verbs := _PUBLISH_BY_VERB.get(step.program):
        plain = [word for word in step.words[1:] if word and not word.startswith("-")]
        return any(word in verbs for word in plain[:2])
    if step.program in _BY_SUBCOMMAND:
        return any(name in _PUBLISHING for name in _subcommands(step.words[1:]))
    return step.program in _PUBLISH_ALWAYS


def deletes_files(step: Step) -> bool:
    """Return whether a command step deletes files, going by its words."""
    way = _DELETE_BY.get(step.program)
    return bool(step.deletes) or (way is not None and way in step.words)


def _subcommands(words: Sequence[str | None]) -> Iterator[str]:
    """Yield the subcommand and, if it is a group of subcommands, the next word."""
    rest = iter(words)
    for word in rest:
        if word in _TAKE_VALUE:
            next(rest, None)
        elif word and not word.startswith("-"):
            yield word
            if word not in _GROUPS:
                return
