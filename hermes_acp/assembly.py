"""The only place where parts are chosen.

Knows: every part by name, and the order of a turn's stages. Does not know: how any part works, or which face asks.
Nothing heavy is imported before it is needed: what a first turn needs is built in a worker thread, once.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from msgspec import structs

from hermes_acp.config.access import Access
from hermes_acp.config.environment import Environment
from hermes_acp.core.drawers import Drawer
from hermes_acp.core.errors import AuthRequired, BadConfig, HermesError
from hermes_acp.core.events import Mode
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports import Clock, Editor, Ids, Workspace
from hermes_acp.core.record import Record
from hermes_acp.sessions.commands import Command, Commands
from hermes_acp.sessions.manager import SessionManager
from hermes_acp.sessions.registrar import Registrar
from hermes_acp.sessions.session import Means, Session
from hermes_acp.sessions.tool_sources import Workshop
from hermes_acp.storage.sessions import SessionStore
from hermes_acp.telemetry.bug_log import BugLog
from hermes_acp.world import RandomIds, SystemClock, start_collecting

if TYPE_CHECKING:
    from hermes_acp.agent.turn import Briefing, Kit, Limits
    from hermes_acp.config.settings import ModelChoice, Settings
    from hermes_acp.mcp.servers import Servers
    from hermes_acp.mcp.specs import ServerSpec
    from hermes_acp.models.endpoints import Connection
    from hermes_acp.telemetry.redaction import Redactor

    Connect = Callable[[Settings, ModelChoice], Connection]

NOTHING_SET_UP = "No model is set up."
HOW_TO_SET_UP = (
    "Run `hermes-acp setup`, or set OPENAI_API_KEY or ANTHROPIC_API_KEY (OPENAI_BASE_URL and HERMES_MODEL for any "
    "other endpoint), or start Ollama, llama.cpp, vLLM or LM Studio on its usual port."
)


class House:
    """One process's parts, put together as they are needed."""

    def __init__(
        self,
        environment: Environment,
        *,
        clock: Clock | None = None,
        ids: Ids | None = None,
        overrides: Mapping[str, Any] | None = None,
        connect: "Connect | None" = None,
    ) -> None:
        """Prepare without touching disk or network.

        `overrides` are settings that flags set; `connect` opens the way to a chosen model, by default the vendor's.
        """
        self._environment = environment
        self.access = Access(environment, dict(overrides or {}))
        self.offers_unstable = environment.offers_unstable
        self.offers_draft_v2 = environment.offers_draft_v2
        self._clock = clock or SystemClock()
        self._ids = ids or RandomIds()
        self._connect = connect or _connect
        self._bugs = BugLog(environment.home)
        self._building = anyio.Lock()
        self._kit: Kit | None = None
        self._settings: Settings | None = None
        self._connections: list[Connection] = []
        self._listed: tuple[str, ...] = ()
        self.is_signed_out = False
        self._workshop = Workshop()
        self._servers: Servers | None = None
        store = SessionStore(environment.home)
        means = Means(
            kit=self.kit,
            default_mode=self.default_mode,
            models=self.models,
            shared_tools=lambda: self._servers,
            commands=self._commands(),
            limits=self._limits,
            clock=self._clock,
            ids=self._ids,
        )
        self.sessions = SessionManager(store, means)
        self.registrar = Registrar(store, self.sessions, means)

    async def run(self) -> None:
        """Do what goes on beside the serving: warm up for the first turn, and keep house."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.keep)
            tasks.start_soon(self._warm_up)

    async def keep(self) -> None:
        """Keep the list of sessions, and the sources of further tools at work; runs beside everything else."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.sessions.keep_index)
            tasks.start_soon(self._workshop.run)

    async def _warm_up(self) -> None:
        if not self._environment.mentions_a_model():
            start_collecting()
            return
        try:
            await self.kit()
            self.sessions.announce_options()
            self._listed = await self._connections[-1].models()
        except HermesError:
            return
        self.sessions.announce_options()

    async def require_model(self) -> None:
        """Raise AuthRequired unless a model is set up or one answers on this machine, BadConfig for bad settings.

        Without a settings file this costs next to nothing.
        """
        is_likely = self._environment.mentions_a_model() and not self.access.is_changed
        if self.is_signed_out or not (self._kit or is_likely):
            await self.kit()
        elif self._settings is None and self._environment.config_file.is_file():
            self._settings, _ = await anyio.to_thread.run_sync(self.access.read)

    async def read_again(self) -> None:
        """Read the configuration afresh. Raises AuthRequired, BadConfig."""
        async with self._building:
            self._kit = self._settings = None
            self.is_signed_out = False
        await self.kit()

    async def forget_model(self) -> None:
        """Choose the model afresh at its next use: the way to it has changed. Running turns keep theirs."""
        async with self._building:
            self._kit = None
            self._listed = ()

    async def sign_out(self) -> None:
        """Use no model until the configuration is read afresh."""
        async with self._building:
            self._kit = None
            self.is_signed_out = True

    async def kit(self) -> "Kit":
        """Give what turns are made with, built on first use. Raises AuthRequired, BadConfig, ModelTrouble."""
        async with self._building:
            if self.is_signed_out:
                raise AuthRequired(
                    "You are signed out.", hint="Authenticate to use the configured model again."
                )
            if self._kit is None:
                try:
                    self._kit = await self._build()
                finally:
                    start_collecting()
            return self._kit

    async def _build(self) -> "Kit":
        settings, choice = await anyio.to_thread.run_sync(self.access.read)
        if choice is None:
            choice = await self._detect()
        self._settings = settings
        await self._share_servers(settings)
        connection = await anyio.to_thread.run_sync(self._connect, settings, choice)
        self._connections.append(connection)
        model = choice.model or await _default_model(choice, connection)
        return await anyio.to_thread.run_sync(self._assemble, settings, choice, connection, model)

    async def _detect(self) -> "ModelChoice":
        from hermes_acp.config.settings import ModelChoice
        from hermes_acp.models.detection import detect_local

        found = await detect_local() if self.access.may_detect() else None
        if found is None:
            raise AuthRequired(NOTHING_SET_UP, hint=HOW_TO_SET_UP)
        return ModelChoice(provider="openai_compatible", model=found.model, base_url=found.base_url)

    def _assemble(
        self, settings: "Settings", choice: "ModelChoice", connection: "Connection", model: str
    ) -> "Kit":
        from hermes_acp.agent.stages.budget import keep_within_budget
        from hermes_acp.agent.stages.frozen_prompt import freeze_prompt
        from hermes_acp.agent.stages.mode_notes import note_mode
        from hermes_acp.agent.stages.steering import read_inbox
        from hermes_acp.agent.turn import Kit, Patience
        from hermes_acp.models.catalog import facts_of
        from hermes_acp.policy.rules import Policy
        from hermes_acp.tools.toolbox import Toolbox

        toolbox = Toolbox(_builtin_tools())
        facts = facts_of(model, choice.provider)
        if settings.window_tokens:
            facts = structs.replace(facts, window_tokens=settings.window_tokens)
        retry = settings.retry
        return Kit(
            provider=connection,
            model=model,
            facts=facts,
            toolbox=toolbox,
            policy=Policy(str(self._environment.home.resolve())),
            patience=Patience(retry.attempts, retry.first_wait_s, retry.longest_wait_s),
            stages=(freeze_prompt, note_mode, read_inbox, keep_within_budget),
            redactor=self._redactor(choice),
            brief=self._brief,
            max_output_tokens=settings.max_output_tokens,
        )

    def _redactor(self, choice: "ModelChoice") -> "Redactor":
        from hermes_acp.config.settings import load_variables
        from hermes_acp.telemetry.redaction import Redactor, secrets_among

        return Redactor((choice.api_key, *secrets_among(load_variables(self._environment))))

    async def _brief(self, cwd: str) -> "Briefing":
        assert self._kit, "a briefing is asked for in a turn, which has a kit"
        return await anyio.to_thread.run_sync(self._write_briefing, cwd, self._kit.toolbox.schemas)

    def _write_briefing(self, cwd: str, tools: tuple[ToolSchema, ...]) -> "Briefing":
        import platform
        from datetime import UTC, datetime

        from hermes_acp.agent.prompt import prompt_layers
        from hermes_acp.agent.turn import Briefing
        from hermes_acp.knowledge.context_files import gather
        from hermes_acp.sessions.answers import context_notices

        date = datetime.fromtimestamp(self._clock.now(), UTC).date().isoformat()
        context = gather(cwd)
        layers = prompt_layers(tools, context.render(), cwd=cwd, platform=platform.system(), date=date)
        return Briefing(layers, context_notices(context))

    def _limits(self) -> "Limits":
        from hermes_acp.agent.turn import Limits

        assert self._settings, "limits are asked for in a turn, which has a kit"
        budget = self._settings.budget
        return Limits(budget.max_steps, budget.max_cost_usd, budget.timeout_s)

    def _commands(self) -> Commands:
        return Commands(
            (
                Command(
                    "status", "Show the model, the mode and what the session has used", self._answer_status
                ),
                Command(
                    "context",
                    "Show which context files are in force and what the scanner found",
                    _answer_context,
                ),
            )
        )

    async def _answer_status(self, record: Record) -> str:
        from hermes_acp.sessions.answers import status_text

        kit = await self.kit()
        return status_text(record, kit.model, kit.provider.name)

    def open_workspace(self, cwd: str, roots: tuple[str, ...], editor: Editor | None = None) -> Workspace:
        """Open a session's workspace, seen through an editor where there is one."""
        from hermes_acp.workspaces.backends.local import BACKEND
        from hermes_acp.workspaces.editor_first import EditorFirst

        local = BACKEND.open(cwd, roots, self._environment.variables, str(self._environment.home.resolve()))
        return EditorFirst(editor, local) if editor else local

    async def use_servers(self, session: Session, specs: "Sequence[ServerSpec]") -> None:
        """Let a session use the MCP servers its editor named; they are connected to in the background."""
        if not specs and session.sources.own is None:
            return
        from hermes_acp.mcp.servers import Servers

        own = session.sources.own
        if isinstance(own, Servers) and own.specs == tuple(specs):
            return
        place = session.workspace
        await session.sources.replace(self._employ(specs, place.cwd, place.roots))

    async def _share_servers(self, settings: "Settings") -> None:
        """Connect to the servers of the user's own, once for all sessions."""
        before, specs = self._servers, _server_specs(settings)
        if specs == (before.specs if before else ()):
            return
        self._servers = self._employ(specs, str(self._environment.home), ())
        if before:
            await before.close()

    def _employ(self, specs: "Sequence[ServerSpec]", cwd: str, roots: tuple[str, ...]) -> "Servers | None":
        if not specs:
            return None
        from hermes_acp.mcp.servers import Servers
        from hermes_acp.mcp.specs import Surroundings
        from hermes_acp.workspaces.backends.local import command_environment

        environment = command_environment(self._environment.variables)
        logs = self._environment.home / "logs" / "mcp"
        servers = Servers(specs, Surroundings(cwd, roots, environment, logs, _clean))
        self._workshop.take_in(servers)
        return servers

    def default_mode(self) -> Mode:
        """Give the mode new sessions begin in; without a settings file nothing has to be read to know it."""
        return self._settings.mode if self._settings else "ask"

    def models(self) -> tuple[str, ...]:
        """Give the models of the endpoint, the configured one first; empty until it is known."""
        if self._kit is None:
            return ()
        return tuple(dict.fromkeys((self._kit.model, *self._listed)))

    def report_bug(self, error: BaseException, trace: str) -> None:
        """Keep a fault of the program's own for its makers."""
        self._bugs.report(error, trace)

    async def aclose(self) -> None:
        """Close every session, the index and the way to the model."""
        await self.sessions.close_all()
        if self._servers:
            await self._servers.close()
        for connection in self._connections:
            await connection.aclose()


async def _answer_context(record: Record) -> str:
    from hermes_acp.knowledge.context_files import gather
    from hermes_acp.sessions.answers import context_text

    return context_text(await anyio.to_thread.run_sync(gather, record.cwd))


async def _default_model(choice: "ModelChoice", connection: "Connection") -> str:
    """Choose where nobody did: the vendor's usual model, or the first one the endpoint lists."""
    from hermes_acp.config.settings import DEFAULT_BASE_URLS
    from hermes_acp.models.catalog import default_model

    if choice.base_url == DEFAULT_BASE_URLS[choice.provider] and (name := default_model(choice.provider)):
        return name
    listed = await connection.models()
    if not listed:
        raise BadConfig(f"{choice.base_url} lists no model.", hint="Name one: set HERMES_MODEL.")
    return listed[0]


def _clean(text: str) -> str:
    from hermes_acp.knowledge.injection import scan

    return scan(text).clean_text


def _server_specs(settings: "Settings") -> "tuple[ServerSpec, ...]":
    """Give the MCP servers of the user's own, by name."""
    if not settings.mcp_servers:
        return ()
    from hermes_acp.mcp.specs import HttpServer, SseServer, StdioServer

    specs: list[ServerSpec] = []
    for name, section in sorted(settings.mcp_servers.items()):
        if section.command:
            specs.append(StdioServer(name, section.command, section.args, tuple(section.env.items())))
        elif section.url:
            way = SseServer if section.transport == "sse" else HttpServer
            specs.append(way(name, section.url, tuple(section.headers.items())))
    return tuple(specs)


def _builtin_tools() -> dict[str, Any]:
    drawer: Drawer[Any] = Drawer("hermes_acp.tools.builtin", "TOOL")
    return {name: drawer.open(name) for name in drawer}


def _connect(settings: "Settings", choice: "ModelChoice") -> "Connection":
    from hermes_acp.config.settings import ProviderSettings
    from hermes_acp.models.endpoints import Endpoint
    from hermes_acp.models.providers import PROVIDERS

    section = settings.providers.get(choice.provider, ProviderSettings())
    endpoint = Endpoint(
        base_url=choice.base_url,
        api_key=choice.api_key,
        key_variable=choice.key_variable,
        connect_s=section.connect_timeout_s,
        silence_s=section.silence_timeout_s,
        headers=section.headers,
    )
    return PROVIDERS.open(choice.provider).connect(endpoint)
