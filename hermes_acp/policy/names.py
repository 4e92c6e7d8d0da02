"""Names that tell what a file is for: running code later, steering agents, holding keys.

Knows: the names, and that case does not matter. Does not know: what may be done with such files.
"""

import re
from fnmatch import fnmatchcase, translate
from pathlib import PurePosixPath

# Writing these can run code later, or loosen what the next session is allowed: no mode and no grant covers them.
PROTECTED_FOLDERS = frozenset(
    {
        ".git", ".github", ".gitlab", ".circleci", ".buildkite", ".husky", ".vscode", ".idea", ".zed", ".devcontainer",
        ".claude", ".cursor", ".codex", ".gemini", ".hermes", ".roo", ".windsurf", ".agents", ".ssh", ".gnupg",
        ".cargo", ".direnv", ".mise", ".nvim", ".kiro", ".continue", ".opencode", ".goose", ".emacs.d",
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
        "skill.md", "opencode.json", "opencode.jsonc", ".goosehints", ".rules", "copilot-instructions.md", ".drone.yml",
        "lefthook.yml", ".lefthook.yml", ".direnvrc", ".pdbrc", ".rprofile", ".irbrc", ".pryrc", ".lvimrc", ".psqlrc",
        ".sqliterc", ".screenrc", ".xinitrc", ".lesskey", ".mailcap", ".pam_environment", ".hgrc", ".arcconfig",
        ".pnpmfile.cjs", "pip.conf", "bunfig.toml", ".bazelrc", ".terraformrc", ".pythonrc", "hgrc",
        "jvm.config", "maven.config", "extensions.xml",
    }
)  # fmt: skip
SECRET_FOLDERS = frozenset(
    {".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".gcloud", ".password-store"}
)
SECRET_FILES = (
    ".env",
    ".env.*",
    "*.env",
    "*.tfvars",
    ".dockercfg",
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
HARMLESS_SECRET_LOOKALIKES = (
    ".env.example",
    ".env.sample",
    ".env.template",
    "example.env",
    "sample.env",
    "template.env",
    "*.pub",
)
# Names in which a pattern may be after keys, whether they are there or not.
_KNOWN_SECRETS = (
    *(name for name in SECRET_FILES if "*" not in name),
    *SECRET_FOLDERS,
    *("id_rsa", "id_ed25519", "id_ecdsa"),
)
_SPELLED_OUT = re.compile(r"\..*\w.*|[^*?\[]{3}.*")
_SECRET_NAME = re.compile("|".join(map(translate, SECRET_FILES)))
_HARMLESS_NAME = re.compile("|".join(map(translate, HARMLESS_SECRET_LOOKALIKES)))


def is_protected(path: str) -> bool:
    """Tell whether a write there can run code or loosen rules later; case does not matter, nor whether it exists."""
    parts = [_plain(part) for part in PurePosixPath(path).parts]
    return any(part in PROTECTED_FOLDERS for part in parts) or (bool(parts) and parts[-1] in PROTECTED_FILES)


def _plain(name: str) -> str:
    """Give a name as a file system takes it that ignores case, hidden characters, dots and blanks at the end."""
    if not name.isprintable():
        name = "".join(each for each in name if each.isprintable())
    shown = name.casefold()
    return shown.rstrip(" .") or shown


def holds_secrets(path: str) -> bool:
    """Tell whether a file of this name usually holds keys."""
    name = _plain(path.rstrip("/").rpartition("/")[2])
    return bool(_SECRET_NAME.fullmatch(name)) and not _HARMLESS_NAME.fullmatch(name)


def secret_fitting(pattern: str) -> str:
    """Give the first name of keys that a part of a pattern fits and partly spells out; empty where there is none."""
    for part in pattern.casefold().split("/"):
        if set(part) & set("*?[") and _SPELLED_OUT.fullmatch(part):
            for name in _KNOWN_SECRETS:
                if fnmatchcase(name, part.replace("[^", "[!")):
                    return name
    return ""


def is_sensitive(path: str) -> bool:
    """Tell whether reading a path may show keys: by its name, its folder, or as a repository's configuration."""
    parts = path.casefold().split("/")
    if not SECRET_FOLDERS.isdisjoint(parts) or parts[-2:] == [".git", "config"]:
        return True
    return (path.startswith("/proc/") and parts[-1] == "environ") or holds_secrets(path)
