"""The options of an agent, and the environment, settings and folders that result from them."""

import os
from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypedDict

from msgspec import Struct

from hermes_acp.config.environment import Environment, environment_of
from hermes_acp.config.home_folders import process_variables
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import CallEffect, Diff, Mode
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.frontends.command_line.deleted_folder import explain_deleted_folder
from hermes_acp.frontends.library import messages
from hermes_acp.storage.session_store import SESSION_ID


class Approval(Struct, frozen=True):
    """A call that needs approval: its tool, what it would do, and why it asks."""

    tool: str
    title: str
    input: object
    why: str
    effects: tuple[CallEffect, ...] = ()
    diffs: tuple[Diff, ...] = ()


Approve = Callable[[Approval], bool | Awaitable[bool]]


class AgentOptions(TypedDict, total=False):
    """The options of an agent.

    `cwd` is the folder in which the agent works (default: the current one). `home` is the folder with its state and
    settings (default: the user's). `model` and `provider` override those in the environment. `mode` applies to a new
    session. `builtin_tools` are the names of the built-in tools that the agent may use (default: all). `instructions`
    are appended to the system prompt. `settings` override those in `config.yaml`; a dotted name sets a field of a
    section. `variables` are added to the environment variables, for example keys. `approve` decides about calls that
    need approval; without it, they do not run.
    """

    cwd: str | os.PathLike[str]
    home: str | os.PathLike[str]
    model: str
    provider: str
    mode: Mode
    builtin_tools: Collection[str]
    instructions: str
    settings: Mapping[str, Any]
    variables: Mapping[str, str]
    approve: Approve


class AgentPlan(Struct, frozen=True):
    """The resolved options from which an agent is built."""

    name: str
    cwd: str
    environment: Environment
    overrides: Mapping[str, Any]
    instructions: str = ""
    approve: Approve | None = None


BUILTIN_TOOLS: Final = "hermes_acp.tools.builtin"
OPTION_NAMES: Final = tuple(AgentOptions.__annotations__)


def resolve_options(name: str, options: AgentOptions) -> AgentPlan:
    """Resolve the options of an agent. Raises BadRequest, ConfigError, or TypeError for an unknown option."""
    for each in options:
        if each not in OPTION_NAMES:
            raise TypeError(messages.unknown_option(each, OPTION_NAMES))
    if not SESSION_ID.fullmatch(name) or "." in name:
        raise BadRequest(messages.bad_agent_name(name))
    with explain_deleted_folder():
        cwd = os.path.normpath(Path(options.get("cwd", ".")).absolute())
    variables = {**process_variables(), **options.get("variables", {})}
    if home := options.get("home"):
        variables["HERMES_HOME"] = os.path.abspath(home)
    for option, variable in (("model", "HERMES_MODEL"), ("provider", "HERMES_PROVIDER")):
        if chosen := options.get(option):
            variables[variable] = str(chosen)
    overrides = dict(options.get("settings", {}))
    if "mode" in options:
        overrides["mode"] = options["mode"]
    if "builtin_tools" in options:
        tools = options["builtin_tools"]
        if isinstance(tools, str):
            raise BadRequest(messages.not_a_collection(tools))
        known = PluginFolder[object](BUILTIN_TOOLS, "TOOL")
        for each in tools:
            if each not in known:
                raise BadRequest(messages.unknown_builtin_tool(each), hint=messages.choices(known))
        overrides["builtin_tools"] = tuple(sorted(tools))
    return AgentPlan(
        name,
        cwd,
        environment_of(variables),
        MappingProxyType(overrides),
        options.get("instructions", "").strip(),
        options.get("approve"),
    )
