"""File names that reveal a file's purpose: running code later, steering agents, or containing keys.

Everything is in lower case and has one of four forms: names, globs for names (`*` within one name), folders that count
with everything in them, and locations, which are files or folders given by several path components
(`.cargo/credentials`). Case does not matter.
"""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase, translate
from pathlib import PurePosixPath
from typing import Final

# Writing these files can run code later or widen the next session's permissions, so no mode and no grant covers them.
PROTECTED_FOLDERS: Final = frozenset(
    {
        # Repositories, their hooks, and files that make other tools run something
        ".git", ".githooks", ".git-hooks", ".husky", ".lefthook", ".lefthook-local", ".github", ".gitlab", ".gitea",
        ".forgejo", ".circleci", ".buildkite", ".woodpecker", ".semaphore", ".tekton", ".teamcity", ".harness",
        ".azure-pipelines", ".azuredevops", ".builds",
        # Editors and environments
        ".vscode", ".vscode-insiders", ".vscode-server", ".idea", ".fleet", ".zed", ".nova", ".vs", ".helix", ".vim",
        ".nvim", ".kak", ".emacs.d", ".devcontainer", ".direnv", ".mise", ".rtx", ".cargo", ".ssh", ".gnupg", ".idx",
        ".codesandbox", ".ctags.d", ".theia", ".settings", ".shadowenv.d", ".ipython", ".jupyter",
        # Agents
        ".agent", ".agents", ".hermes", ".claude", ".cursor", ".codex", ".gemini", ".qwen", ".roo", ".kilocode",
        ".cline", ".clinerules", ".windsurf", ".codeium", ".kiro", ".continue", ".opencode", ".crush", ".goose",
        ".junie", ".amazonq", ".warp", ".augment", ".factory", ".amp", ".trae", ".openhands", ".codebuddy", ".iflow",
        ".qoder", ".rovodev", ".tabnine", ".cody", ".copilot", ".antigravity", ".devin", ".vibe", ".firebender",
        ".zencoder", ".void",
    }
)  # fmt: skip
PROTECTED_FILES: Final = frozenset(
    {
        # Repositories, their hooks, and files that make other tools run something
        ".gitmodules", ".gitattributes", ".gitconfig", ".hgrc", "hgrc", ".arcconfig", ".pre-commit-config.yaml",
        ".pre-commit-config.yml", ".pre-commit-hooks.yaml", "prek.toml", "hk.pkl", ".overcommit.yml",
        "captainhook.json", "grumphp.yml", ".huskyrc", ".lintstagedrc", ".gitlab-ci.yml", ".gitlab-ci.yaml",
        "jenkinsfile", "azure-pipelines.yml", "azure-pipelines.yaml", ".vsts-ci.yml", "bitbucket-pipelines.yml",
        "bitbucket-pipelines.yaml", ".travis.yml", ".drone.yml", ".drone.yaml", ".woodpecker.yml", ".woodpecker.yaml",
        ".cirrus.yml", ".cirrus.star", "appveyor.yml", ".appveyor.yml", "wercker.yml", "buildspec.yml",
        "cloudbuild.yaml", "cloudbuild.yml", "codemagic.yaml", "netlify.toml", "vercel.json",
        # Shells, and programs that read settings when they start
        ".envrc", ".direnvrc", ".autoenv", ".autoenv.zsh", ".profile", ".bashrc", ".bash_profile", ".bash_login",
        ".bash_logout", ".bash_aliases", ".zshrc", ".zprofile", ".zshenv", ".zlogin", ".zlogout", ".kshrc", ".mkshrc",
        ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc", ".pam_environment", ".xinitrc", ".xprofile",
        ".xsession", ".xsessionrc", ".tmux.conf", ".screenrc", ".wezterm.lua", ".curlrc", ".wgetrc", ".ripgreprc",
        ".ackrc", ".netrc", ".lesskey", ".mailcap", ".psqlrc", ".sqliterc", ".gdbinit", ".lldbinit",
        ".ghci", ".ocamlinit", ".octaverc", "startup.m", ".iex.exs", ".erlang", ".latexmkrc", "latexmkrc", ".perldb",
        ".psysh.php", "ansible.cfg", "jupyter_server_config.py", "jupyter_server_config.json",
        "jupyter_notebook_config.py", "jupyter_notebook_config.json",
        "authorized_keys",
        # Editors
        ".devcontainer.json", "devcontainer.json", ".gitpod.yml", ".replit", ".vimrc", "_vimrc", ".gvimrc",
        ".ideavimrc", ".exrc", ".lvimrc", ".nvim.lua", ".nvimrc", ".localrc", ".ycm_extra_conf.py", ".luarc.json",
        ".luarc.jsonc", ".vimrc.local", ".local.vimrc", ".pylintrc", "pylintrc", ".project", ".phpactor.json",
        ".phpactor.yml", "replit.nix", ".emacs", ".dir-locals.el", ".dir-locals-2.el",
        # Toolchains and package managers
        ".mise.toml", "mise.toml", ".mise.local.toml", "mise.local.toml", ".rtx.toml", ".tool-versions",
        "rust-toolchain", "rust-toolchain.toml", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pnpmfile.mjs",
        ".corepack.env", ".pypirc", "pip.conf", ".pythonrc", ".pdbrc", "sitecustomize.py", "usercustomize.py",
        "bunfig.toml", ".bazelrc", ".bazeliskrc", ".terraformrc", ".rprofile", ".renviron", ".irbrc", ".pryrc",
        ".rspec", ".pnp.cjs", ".pnp.loader.mjs",
        ".sbtopts", ".jvmopts", ".yardopts", "nuget.config", "gradle-wrapper.properties", "gradle-wrapper.jar",
        ".gemrc", "jvm.config", "maven.config", "extensions.xml",
        # Agents
        "agent.md", "agents.md", "agents.override.md", "agents.local.md", "claude.md", "claude.local.md", "codex.md",
        "copilot.md", "copilot-instructions.md", "gemini.md", "qwen.md", "warp.md", "crush.md", "opencode.md",
        "junie.md", "iflow.md", "codebuddy.md", "replit.md", "jules.md", "devin.md", "soul.md", "hermes.md",
        ".hermes.md", "skill.md", ".rules", ".cursorrules", ".windsurfrules", ".clinerules", ".roorules", ".roomodes",
        ".kilocoderules", ".kilocodemodes", ".goosehints", ".augment-guidelines", ".openhands_instructions",
        ".mcp.json", "mcp.json", "mcp_config.json", "mcp_settings.json", ".claude.json", "claude_desktop_config.json",
        "opencode.json", "opencode.jsonc", "crush.json", ".crush.json", "firebender.json",
        # Files that agents may not read
        ".cursorignore", ".cursorindexingignore", ".aiignore", ".aiexclude", ".codeiumignore", ".clineignore",
        ".rooignore", ".kilocodeignore", ".geminiignore", ".claudeignore", ".augmentignore", ".hermesignore",
    }
)  # fmt: skip
PROTECTED_PATTERNS: Final = (
    "*.code-workspace", "*.sublime-project", "*.sublime-workspace", ".aider*", ".roorules-*", ".clinerules-*",
    ".kilocoderules-*", "lefthook.*", ".lefthook.*", "lefthook-local.*", ".lefthook-local.*", ".lintstagedrc.*",
    "lint-staged.config.*", ".huskyrc.*", ".simple-git-hooks.*", "simple-git-hooks.*",
)  # fmt: skip
PROTECTED_PLACES: Final = (
    ".yarn/releases", ".yarn/plugins", ".yarn/sdks", ".mvn/wrapper", ".bundle/config", ".hg/hgrc", ".sl/config",
    ".jj/repo/config.toml", ".config/autostart", ".config/direnv", ".config/environment.d", ".config/fish",
    ".config/git", ".config/mise", ".config/nvim", ".config/helix", ".config/systemd", ".config/lefthook.yml",
)  # fmt: skip

SECRET_FOLDERS: Final = frozenset(
    {
        ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".gcloud", ".oci", ".aliyun", ".bluemix",
        ".terraform.d", ".password-store", ".secrets",
    }
)  # fmt: skip
SECRET_FILES: Final = (
    # Variables
    ".env", ".env.*", ".env-*", ".env_*", "*.env", ".envrc", ".envrc.*", ".dev.vars", ".dev.vars.*", ".secret",
    ".secrets", ".secrets.*", ".token", ".apikey", ".api_key", ".api-key",
    # Private keys and key stores
    "*.pem", "*.key", "*.p8", "*.ppk", "*.pvk", "*.p12", "*.pfx", "*.pkcs12", "*.jks", "*.bks", "*.keystore", "*.kdb",
    "*.kdbx", "*.keychain", "*.keychain-db", "*.agekey", "*.ovpn", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*",
    "ssh_host_*_key", "secring.gpg", "wallet.dat", "key.properties", "keystore.properties", "signing.properties",
    # Cloud and service accounts
    "credentials", "credentials.json", "credentials.toml", "credentials.yaml", "credentials.yml", "credentials.xml",
    "credentials.csv", "credentials.ini", "credentials.properties", "credentials.db", "access_tokens.db",
    ".credentials", ".credentials.json", "credentials-config.json", "credentials.tfrc.json",
    "application_default_credentials.json", "*accesskeys.csv", "client_secret*.json", "service-account*.json",
    "service_account*.json", "serviceaccountkey*.json", "*-firebase-adminsdk-*.json", "gha-creds-*.json",
    "token.json", "token.pickle", "oauth_creds.json", "kaggle.json", "kubeconfig", ".kubeconfig", "*.kubeconfig",
    "kubeconfig.yaml", "kubeconfig.yml", "kubeconfig.json", "local.settings.json", "*.publishsettings",
    "*.pubxml.user", ".dockercfg", ".dockerconfigjson", ".boto", ".s3cfg", ".passwd-s3fs", ".ossutilconfig",
    ".databrickscfg", "rclone.conf", "ngrok.yml", ".arcrc", ".twurlrc", ".pause", "*.tfvars", "*.tfvars.json",
    "*.tfstate", "*.tfstate.*", "*.tfplan", ".terraformrc", "terraform.rc", "secrets.json", "secrets.toml",
    "secrets.yaml", "secrets.yml", "secrets.ini", "secrets.properties", "secrets.xml", "arduino_secrets.h",
    "secret_token.rb", "wp-config.php", "localsettings.php", "password.txt", "passwords.txt", "secret.txt",
    "secrets.txt", "apikey.txt", "api_key.txt", "api-key.txt", ".vault-token", ".vault_pass*", ".vault-pass*",
    "vault_pass*.txt", "vault-pass*.txt",
    # Passwords for other machines
    ".netrc", "_netrc", ".authinfo", ".authinfo.gpg", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd",
    "htpasswd", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".cqlshrc", ".msmtprc", ".esmtprc",
    ".fetchmailrc", ".offlineimaprc", ".mbsyncrc", ".xauthority", "sftp-config.json", "sftp.json", ".ftpconfig",
    ".ftppass", ".remote-sync.json", "filezilla.xml", "sitemanager.xml", "recentservers.xml", "winscp.ini",
    "settings-security.xml", "datasources.local.xml",
    # Shell histories and browser profiles
    ".*_history", ".histfile", "fish_history", "cookies.txt", "cookies.sqlite", "key4.db", "logins.json",
    # Agent settings, which contain servers' keys
    ".mcp.json", "mcp.json", "mcp_config.json", "mcp_settings.json", "*_mcp_settings.json", ".claude.json",
    "claude_desktop_config.json",
)  # fmt: skip
SECRET_PLACES: Final = (
    ".cargo/credentials", ".config/gcloud", ".config/gh/hosts.yml", ".config/hub", ".config/glab-cli",
    ".config/doctl", ".config/hcloud", ".config/stripe", ".config/ngrok", ".config/op", ".config/sops",
    ".config/github-copilot", ".config/netlify", ".config/rclone", ".config/solana", ".config/containers/auth.json",
    ".config/git/credentials", ".config/composer/auth.json", ".config/pypoetry/auth.toml", ".composer/auth.json",
    ".codex/auth.json", ".local/share/opencode/auth.json", ".local/share/com.vercel.cli/auth.json",
    ".local/share/keyrings", ".cache/huggingface/token", ".huggingface/token", ".supabase/access-token",
    ".wrangler/config", ".fly/config.yml", ".railway/config.json", ".circleci/cli.yml", ".m2/settings.xml",
    ".gradle/gradle.properties", ".hex/hex.config", ".snowsql/config", ".snowflake/connections.toml",
    ".dbt/profiles.yml", ".mc/config.json", ".purple/accounts.xml",
)  # fmt: skip
SECRET_NAME_EXCEPTIONS: Final = (
    ".env?example", ".env?example.*", ".env?sample", ".env?template", ".env?dist", ".env?defaults", ".env.*.example",
    ".env.*.sample", ".env.*.template", ".envrc?example", ".envrc?sample", ".envrc?template", ".dev.vars?example",
    ".dev.vars?sample", "example.env", "sample.env", "template.env", "*.example.env", "*.example.tfvars",
    ".secrets.baseline", "*.pub",
    # CA certificates, which programs need in order to verify their peers
    "cacert.pem", "cacerts.pem", "ca-cert.pem", "ca-bundle.pem", "ca-certificates.pem", "roots.pem",
)  # fmt: skip
# Names that a pattern may match in order to find keys, whether or not such files exist.
_KNOWN_SECRETS: Final = (
    *(name for name in SECRET_FILES if "*" not in name and name.startswith((".", "credentials", "secrets"))),
    *SECRET_FOLDERS,
    *("id_rsa", "id_dsa", "id_ed25519", "id_ecdsa"),
)
_SPELLED_OUT: Final = re.compile(r"\..*\w.*|[^*?\[]{3}.*")


def _any_of(globs: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, globs)))


def _consecutive_parts(places: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?:^|/)(?:{'|'.join(map(re.escape, places))})(?:/|$)")


_PROTECTED_NAME: Final = _any_of(PROTECTED_PATTERNS)
# The names that the sandbox gives to quarantined files; no program looks for them.
_SET_ASIDE: Final = re.compile(r".+\.unapproved\d*")
_PROTECTED_PLACE: Final = _consecutive_parts(PROTECTED_PLACES)
_SECRET_NAMES: Final = frozenset(name for name in SECRET_FILES if "*" not in name)
_SECRET_NAME: Final = _any_of(name for name in SECRET_FILES if "*" in name)
_SECRET_PLACE: Final = _consecutive_parts(SECRET_PLACES)
_HARMLESS_NAME: Final = _any_of(SECRET_NAME_EXCEPTIONS)
# Repository settings, including those of submodules and work trees, may contain an address with a password.
_OF_REPOSITORY: Final = re.compile(r"(?:^|/)\.git/(?:.+/)?config(?:\.worktree)?$")


def _spelled_in_index(glob: str) -> bytes:
    """Return the longest part of a glob as it appears in a git index, where a path ends with a NUL."""
    parts = f"{glob}{'' if glob.endswith('*') else chr(0)}".split("*")
    return max(parts, key=len).encode()


_IN_INDEX: Final = (
    *dict.fromkeys(map(_spelled_in_index, SECRET_FILES)),
    *(f"{folder}/".encode() for folder in sorted(SECRET_FOLDERS)),
    *(place.encode() for place in SECRET_PLACES),
)


def may_name_secrets(index: bytes) -> bool:
    """Return whether a git index with unabbreviated paths (version 2 or 3) may name a file that contains keys."""
    folded = index.lower()
    return any(name in folded for name in _IN_INDEX)


def is_protected(path: str) -> bool:
    """Return whether writing a path can later run code or loosen rules; the path's case and existence do not matter."""
    parts = [_plain(part) for part in PurePosixPath(path).parts]
    if not parts:
        return False
    if not PROTECTED_FOLDERS.isdisjoint(parts) or parts[-1] in PROTECTED_FILES:
        return True
    if _SET_ASIDE.fullmatch(parts[-1]):
        return False
    return bool(_PROTECTED_NAME.fullmatch(parts[-1]) or _PROTECTED_PLACE.search("/".join(parts)))


def _plain(name: str) -> str:
    """Normalise a name as file systems do that ignore case, hidden characters, and trailing dots and blanks."""
    if not name.isprintable():
        name = "".join(each for each in name if each.isprintable())
    shown = name.casefold()
    return shown.rstrip(" .") or shown


def holds_secrets(path: str) -> bool:
    """Return whether a file with this name usually contains keys."""
    name = _plain(path.rstrip("/").rpartition("/")[2])
    is_secret = name in _SECRET_NAMES or bool(_SECRET_NAME.fullmatch(name))
    return is_secret and not _HARMLESS_NAME.fullmatch(name)


def secret_name_matching(pattern: str) -> str:
    """Return the first key file name that part of a pattern matches and partly spells out.

    Returns an empty string if there is none.
    """
    for part in pattern.casefold().split("/"):
        if set(part) & set("*?[") and _SPELLED_OUT.fullmatch(part):
            for name in _KNOWN_SECRETS:
                if fnmatchcase(name, part.replace("[^", "[!")):
                    return name
    return ""


def is_sensitive(path: str) -> bool:
    """Return whether reading a path may reveal keys: by its name, its folder, or as a repository's configuration."""
    parts: Sequence[str] = [_plain(part) for part in path.split("/")]
    if not SECRET_FOLDERS.isdisjoint(parts):
        return True
    if path.startswith("/proc/") and parts[-1] == "environ":
        return True
    whole = "/".join(parts)
    return holds_secrets(path) or bool(_SECRET_PLACE.search(whole) or _OF_REPOSITORY.search(whole))
