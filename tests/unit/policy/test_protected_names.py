"""Names of files that contain keys, run code later or steer agents."""

import pytest

from hermes_acp.context.context_search import load_kinds
from hermes_acp.policy.sensitive_names import (
    PROTECTED_FILES,
    PROTECTED_FOLDERS,
    PROTECTED_PATTERNS,
    PROTECTED_PLACES,
    SECRET_FILES,
    SECRET_FOLDERS,
    SECRET_PLACES,
    holds_secrets,
    is_protected,
    is_sensitive,
    may_name_secrets,
)

SECRET = """
.env .env.local .env.production app/.env-prod prod.env .envrc sub/.dev.vars .dev.vars.staging .secrets .secrets.toml
id_dsa id_rsa_work ssh_host_ed25519_key server.pem tls/private.key AuthKey_1A2B.p8 putty.ppk release.keystore
client.ovpn key.properties credentials.csv rootkey_accessKeys.csv client_secret.json
client_secret_12.apps.googleusercontent.com.json serviceAccountKey.json service-account-prod.json
app-firebase-adminsdk-x1.json gha-creds-99.json token.json token.pickle kubeconfig prod.kubeconfig kubeconfig.yaml
local.settings.json terraform.tfstate terraform.tfstate.backup prod.tfvars prod.tfvars.json .terraformrc
.cargo/credentials.toml .cargo/credentials .docker/config.json .kube/config .aws/config home/.config/gcloud/access.db
.config/gh/hosts.yml .composer/auth.json .m2/settings.xml .gradle/gradle.properties .mcp.json .cursor/mcp.json
.roo/mcp_settings.json cline_mcp_settings.json .claude.json wp-config.php .bash_history .psql_history cookies.txt
.git/config .git/config.worktree .git/modules/a/b/config .git/worktrees/x/config.worktree .vault_pass.txt htpasswd
"""
NO_SECRET = """
.env.example .env.sample .env.template .env-example .env.production.example example.env .envrc.example .dev.vars.example
id_rsa.pub keyboard.py tokens.json token.py token.ts secrets.py settings.py credentials.py config config.json
venv/certifi/cacert.pem grpc/roots.pem
kubeconfig.go kubeconfig_test.go auth.json package.json settings.xml gradle.properties environment.ts env.py
.gitignore .secrets.baseline history.md src/key.rs src/git/config passwords.go docs/tfstate.md mcp.py .gitconfig
"""
PROTECTED = """
.git/hooks/x .github/workflows/ci.yml .gitea/workflows/x.yml .forgejo/workflows/x.yml bitbucket-pipelines.yml
.woodpecker.yml lefthook.yml lefthook.yaml .lefthook.toml lefthook-local.yml .lefthook/pre-commit/run.sh .githooks/x
.devcontainer.json .devcontainer/devcontainer.json .helix/config.toml .helix/languages.toml my.code-workspace
rust-toolchain.toml rust-toolchain .yarn/releases/yarn-4.cjs .yarn/plugins/x.cjs .envrc .mise.toml .ycm_extra_conf.py
AGENTS.md src/AGENT.md QWEN.md WARP.md GEMINI.md CLAUDE.local.md .junie/guidelines.md .kilocode/rules/a.md
.clinerules .clinerules/a.md .windsurfrules .roo/rules/x .roorules-code .aider.conf.yml .aider.model.settings.yml
.goosehints .amazonq/rules/x.md .qwen/settings.json .warp/x .augment-guidelines .continue/config.yaml .mcp.json
.cursorignore .hg/hgrc .config/systemd/user/x.service
.ghci app/.ocamlinit .octaverc .iex.exs .erlang .rspec paper/.latexmkrc .pnp.cjs .pnp.loader.mjs .ctags.d/a.ctags
ansible.cfg .idx/dev.nix .codesandbox/tasks.json codemagic.yaml netlify.toml web/vercel.json
"""
UNPROTECTED = """
src/main.py README.md CONVENTIONS.md Makefile package.json .gitignore .yarn/cache/x.zip .yarn/install-state.gz
.editorconfig agent.py agents.py docs/agent-guide.md workspace.code.md lefthook/index.js .hg/store/data .config/app.toml
rust/toolchain.rs src/helix/mod.rs flake.nix
"""


@pytest.mark.parametrize("path", SECRET.split())
def test_files_that_contain_keys_are_recognised_by_name(path: str) -> None:
    assert is_sensitive(f"/project/{path}")
    assert is_sensitive(f"/project/{path}".upper())


@pytest.mark.parametrize("path", NO_SECRET.split())
def test_names_similar_to_those_of_keys_are_not_protected(path: str) -> None:
    assert not is_sensitive(f"/project/{path}")


@pytest.mark.parametrize("path", PROTECTED.split())
def test_files_that_run_later_or_steer_agents_are_recognised_by_name(path: str) -> None:
    assert is_protected(f"/project/{path}")
    assert is_protected(f"/project/{path}".swapcase())


@pytest.mark.parametrize("path", UNPROTECTED.split())
def test_ordinary_files_are_not_protected(path: str) -> None:
    assert not is_protected(f"/project/{path}")


@pytest.mark.parametrize("name", [".env.", ".env ", ".e\u200bnv", "\u202e.env", "ID_RSA"])
def test_a_secret_is_recognised_in_every_spelling_a_file_system_accepts(name: str) -> None:
    assert holds_secrets(f"/project/{name}")
    assert is_sensitive(f"/project/{name}")


def test_a_folder_of_keys_is_recognised_despite_a_hidden_character() -> None:
    assert is_sensitive("/work/.s\u200bsh/known_hosts")


@pytest.mark.parametrize("name", [name for kind in load_kinds() for name in kind.candidates])
def test_every_file_that_is_read_as_instructions_is_protected(name: str) -> None:
    assert is_protected(f"/project/{name}")


def test_tables_are_lower_case_and_in_the_declared_forms() -> None:
    plain = (*PROTECTED_FOLDERS, *PROTECTED_FILES, *SECRET_FOLDERS)
    everything = (*plain, *PROTECTED_PATTERNS, *PROTECTED_PLACES, *SECRET_FILES, *SECRET_PLACES)
    assert all(name == name.casefold() for name in everything)
    assert not any(set(name) & set("*?[/") for name in plain)
    assert not any("/" in glob or set(glob) & set("?[") for glob in (*PROTECTED_PATTERNS, *SECRET_FILES))
    assert all("/" in place and not set(place) & set("*?[") for place in (*PROTECTED_PLACES, *SECRET_PLACES))


@pytest.mark.parametrize("path", SECRET.split())
def test_an_index_that_names_a_secret_is_examined(path: str) -> None:
    if "/.git/" in f"/{path}":
        return
    entry = b"\0" * 8 + path.encode() + b"\0" * 3
    assert may_name_secrets(entry)
    assert may_name_secrets(entry.upper())


def test_an_index_of_ordinary_names_is_not_examined() -> None:
    assert not may_name_secrets(b"\0src/main.py\0\0README.md\0docs/keys/index.md\0tokens.json\0")
