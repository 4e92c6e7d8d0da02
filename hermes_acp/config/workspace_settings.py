"""The agent settings that a workspace may contain: rules, MCP servers and hooks.

A workspace never determines how a model is reached, which mode applies, or which keys are used.
"""

import hashlib
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

import msgspec
from msgspec import Struct
from pydantic import ValidationError

from hermes_acp.config.sections.claude_hooks import HOOK_FILES, foreign_hooks
from hermes_acp.config.sections.hook_settings import HookSettings
from hermes_acp.config.sections.rule_settings import with_lines
from hermes_acp.config.server_dependencies import digest_dependencies
from hermes_acp.config.settings import McpServerSettings, ProjectSettings
from hermes_acp.config.settings_text import one_line, read_text
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.policy_rules import Rule
from hermes_acp.core.ports.trust_ports import TrustItem

OWN_FILES: Final = (".hermes/config.yaml", ".hermes/policy.yaml")
SERVER_FILES: Final[Mapping[str, str]] = MappingProxyType(
    {".mcp.json": "mcpServers", ".cursor/mcp.json": "mcpServers", ".vscode/mcp.json": "servers"}
)
NO_SETTING: Final = "{file} sets {names}, which only your own settings can; it is ignored."


class ServerEntry(Struct, frozen=True):
    """An MCP server configured by a workspace, with the file that configures it."""

    file: str
    name: str
    settings: McpServerSettings
    item: TrustItem


class HookEntry(Struct, frozen=True):
    """A hook configured by a workspace, with the file that configures it."""

    file: str
    name: str
    settings: HookSettings
    item: TrustItem


class WorkspaceSettings(Struct, frozen=True):
    """The settings found; `rules_item` is the trust item for those rules that would allow something."""

    rules: tuple[Rule, ...] = ()
    rules_item: TrustItem | None = None
    servers: tuple[ServerEntry, ...] = ()
    hooks: tuple[HookEntry, ...] = ()
    checks: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def items(self) -> tuple[TrustItem, ...]:
        """All items that require the user's trust."""
        own = (self.rules_item,) if self.rules_item else ()
        return (*own, *(each.item for each in (*self.servers, *self.hooks)))


def read_workspace(cwd: str, home: str) -> WorkspaceSettings:
    """Read the settings in a working directory; blocks on disk access. Invalid ones are skipped, with a notice.

    `home` is the folder that contains the homes of all profiles, whose files belong to no workspace.
    """
    reader = _Reader(cwd, home)
    for file in OWN_FILES:
        reader.read_own(file)
    for file, key in SERVER_FILES.items():
        reader.read_servers(file, key)
    for file, prefix in HOOK_FILES.items():
        reader.read_foreign_hooks(file, prefix)
    return reader.found()


class _Reader:
    def __init__(self, cwd: str, home: str) -> None:
        self._cwd = Path(cwd)
        self._home = home
        self._rules: list[Rule] = []
        self._servers: list[ServerEntry] = []
        self._hooks: list[HookEntry] = []
        self._checks: list[str] = []
        self._notices: list[str] = []

    def read_own(self, file: str) -> None:
        """Read one of the agent's own settings files."""
        path = self._cwd / file
        if self._is_private(path):
            return
        try:
            content = read_text(path)
            plain = _yaml_of(content, file)
        except ConfigError as error:
            self._notices.append(error.sentence())
            return
        names = [name for name in plain if name not in ProjectSettings.model_fields]
        if names:
            self._notices.append(NO_SETTING.format(file=file, names=", ".join(sorted(names)[:5])))
        self._read_hooks(file, plain.get("hooks"))
        kept = {name: plain[name] for name in ("rules", "mcp_servers", "checks") if name in plain}
        try:
            own = ProjectSettings.model_validate(with_lines(content, kept))
        except ValidationError as error:
            self._notices.append(f"{file} is not used: {_mistakes_in(error)}.")
            return
        self._rules += (rule.rule(file, is_users=False) for rule in own.rules)
        self._checks += own.checks
        for name, server in own.mcp_servers.items():
            self._take(file, name, server)

    def _is_private(self, path: Path) -> bool:
        real = os.path.realpath(path)
        return real.startswith(self._home.rstrip("/") + "/")

    def _read_hooks(self, file: str, written: object) -> None:
        """Read the hooks in a file one by one, so that an invalid hook does not disable any rules."""
        if written is not None and not isinstance(written, dict):
            self._notices.append(f"{file}: hooks is not used: it must be `name: value` lines.")
            return
        for name, hook in cast("dict[object, object]", written or {}).items():
            try:
                own = ProjectSettings.model_validate({"hooks": {name: hook}})
            except ValidationError as error:
                self._notices.append(
                    f"{file}: the hook {str(name)[:40]!r} is not used: {_mistakes_in(error)}."
                )
                continue
            for named, settings in own.hooks.items():
                if settings.enabled:
                    self._take_hook(file, named, settings)

    def read_servers(self, file: str, key: str) -> None:
        """Read a file in which editors configure MCP servers."""
        servers = self._json_of(file).get(key)
        for name, written in cast("dict[str, Any]", servers if isinstance(servers, dict) else {}).items():
            try:
                server = McpServerSettings.model_validate(_plain_server(written))
            except ValidationError:
                self._notices.append(f"{file}: the server {name[:40]!r} has neither a command nor a URL.")
                continue
            self._take(file, name, server)

    def read_foreign_hooks(self, file: str, prefix: str) -> None:
        """Read the hooks in another agent's file; report those that have no counterpart in this program."""
        content = self._toml_of(file) if file.endswith(".toml") else self._json_of(file)
        for hook in foreign_hooks(prefix, content.get("hooks")):
            fault = hook.fault
            if not fault:
                try:
                    self._take_hook(file, hook.name, HookSettings.model_validate(hook.settings))
                except ValidationError as error:
                    fault = _mistakes_in(error)
            if fault:
                self._notices.append(f"{file}: the hook {hook.name} is not used: {fault}.")

    def _json_of(self, file: str) -> dict[str, Any]:
        """Return the content of an optional JSON file in the workspace; an unreadable one is reported."""
        try:
            return msgspec.json.decode(self._text_of(file) or "{}", type=dict[str, Any])
        except (ConfigError, msgspec.MsgspecError, RecursionError):
            self._notices.append(f"{file} is not used: it does not contain a JSON object.")
            return {}

    def _toml_of(self, file: str) -> dict[str, Any]:
        """Return the content of an optional TOML file in the workspace; an unreadable one is reported."""
        try:
            if "hooks" not in (text := self._text_of(file)):
                return {}
            import tomllib

            return tomllib.loads(text)
        except (ConfigError, ValueError, RecursionError):
            self._notices.append(f"{file} is not used: it is not TOML.")
            return {}

    def _text_of(self, file: str) -> str:
        path = self._cwd / file
        if path.is_dir() or self._is_private(path):  # a running sandbox puts an empty folder here
            return ""
        return read_text(path)

    def _take(self, file: str, name: str, settings: McpServerSettings) -> None:
        if any(server.name == name for server in self._servers):
            self._notices.append(f"{file}: another file also has a server {name[:40]!r}; that one is used.")
            return
        digest = hashlib.sha256(settings.model_dump_json(exclude={"enabled", "tools"}).encode())
        if settings.command:
            digest.update(
                digest_dependencies(
                    str(self._cwd), (settings.command, *settings.args, *settings.env.values())
                )
            )
        item = TrustItem("mcp_server", name, digest.hexdigest(), f"{_line_of(settings)}  ({file})")
        self._servers.append(ServerEntry(file, name, settings, item))

    def _take_hook(self, file: str, name: str, settings: HookSettings) -> None:
        if any(hook.name == name for hook in self._hooks):
            self._notices.append(f"{file}: another file also has a hook {name!r}; that one is used.")
            return
        about = f"{_occasion_of(settings)}: {settings.command}  ({file})"
        item = TrustItem("hook", name, hook_digest(str(self._cwd), settings), about)
        self._hooks.append(HookEntry(file, name, settings, item))

    def found(self) -> WorkspaceSettings:
        """Return everything that has been read."""
        loose = [rule for rule in self._rules if rule.decision == "allow"]
        item = None
        if loose:
            digest = hashlib.sha256(msgspec.json.encode(loose)).hexdigest()
            item = TrustItem("rules", "rules", digest, "; ".join(_told(rule) for rule in loose))
        return WorkspaceSettings(
            tuple(self._rules),
            item,
            tuple(self._servers),
            tuple(self._hooks),
            tuple(self._checks),
            tuple(self._notices),
        )


def _mistakes_in(error: ValidationError) -> str:
    return "; ".join(str(mistake["msg"]) for mistake in error.errors(include_input=False)[:3])


def hook_digest(cwd: str, settings: HookSettings) -> str:
    """Return the digest of everything that determines what a workspace's hook does; blocks on disk access."""
    left_out = (
        {"enabled", "format"} if settings.format == "hermes" else {"enabled"}
    )  # keeps the digest of hooks that were trusted before this field existed
    digest = hashlib.sha256(settings.model_dump_json(exclude=left_out).encode())
    digest.update(digest_dependencies(cwd, (settings.command,)))
    return digest.hexdigest()


def _occasion_of(settings: HookSettings) -> str:
    """Describe when a hook runs, with its patterns."""
    patterns = ", ".join((*settings.tools, *settings.paths))
    return f"{settings.event} ({patterns})" if patterns else settings.event


def _line_of(settings: McpServerSettings) -> str:
    """Return the command or address with all its variables, because variables can run code too."""
    if not settings.command:
        sent = f" with the headers {', '.join(settings.headers)}" if settings.headers else ""
        return f"{settings.url}{sent}"
    variables = (f"{name}={shlex.quote(value)}" for name, value in settings.env.items())
    return " ".join((*variables, *(shlex.quote(word) for word in (settings.command, *settings.args))))


def _told(rule: Rule) -> str:
    named = {"tool": rule.tool, "path": rule.path, "command": " ".join(rule.command), "host": rule.host}
    about = ", ".join(f"{name} {value}" for name, value in named.items() if value)
    return f"allow {about} ({rule.source})"


def _yaml_of(content: str, file: str) -> dict[str, Any]:
    if not content.strip():
        return {}
    import yaml

    try:
        plain: object = yaml.load(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{file} is not YAML: {one_line(str(error))[:200]}.") from error
    if plain is None:
        return {}
    if not isinstance(plain, dict):
        raise ConfigError(f"{file} must hold settings as `name: value` lines.")
    return {str(name): value for name, value in cast("dict[object, Any]", plain).items()}


def _plain_server(written: object) -> object:
    """Convert an entry to the form of our own settings."""
    if not isinstance(written, dict):
        return written
    entry = cast("dict[str, Any]", written)
    kept = {name: entry[name] for name in ("command", "args", "env", "url", "headers") if name in entry}
    if entry.get("type") == "sse":
        kept["transport"] = "sse"
    return kept
