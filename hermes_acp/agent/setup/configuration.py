"""The current configuration: the model in use, and the turn dependencies derived from it.

Both are cached until the configuration is reloaded; running turns keep those they started with.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from msgspec import Struct

from hermes_acp.config.named_model import named_models
from hermes_acp.config.provider_access import ProviderAccess
from hermes_acp.core.available_options import AvailableModel
from hermes_acp.core.errors import AuthRequired
from hermes_acp.core.event_types import Mode
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.garbage_collection import enable_garbage_collection
from hermes_acp.mcp.server_manager import McpServerManager

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import TurnDependencies
    from hermes_acp.agent.turn.turn_limits import TurnLimits
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.config.settings import Settings
    from hermes_acp.models.model_connections import Connect, ModelConnections

    MakeDependencies = Callable[[Settings, ModelConnections, str], TurnDependencies]

NO_MODEL_CONFIGURED = "No model is set up."
SETUP_HINT = (
    "Run `hermes-acp setup`, or set OPENAI_API_KEY or ANTHROPIC_API_KEY (OPENAI_BASE_URL and HERMES_MODEL for any "
    "other endpoint), or start Ollama, llama.cpp, vLLM or LM Studio on its usual port."
)


class LoadedConfiguration(Struct, frozen=True):
    """The loaded settings, and how to reach the model in use and its fallbacks; `changes` is the revision number."""

    settings: "Settings"
    choices: "tuple[ModelChoice, ...]"
    changes: int


class Configuration:
    """Builds the dependencies of turns once, in a worker thread."""

    def __init__(
        self,
        access: ProviderAccess,
        make: "MakeDependencies",
        mcp_manager: McpServerManager,
        *,
        clock: Clock,
        connect: "Connect | None",
        on_models: Callable[[], None],
    ) -> None:
        """Store the arguments; nothing is built until first use.

        `on_models` is called whenever the available models become known. `make` builds the dependencies of turns from
        settings, model connections and a notice about how the model was found. It blocks.
        """
        self.access = access
        self.is_signed_out = False
        self._on_models = on_models
        self._environment = access.environment
        self._make = make
        self._mcp_manager = mcp_manager
        self._clock = clock
        self._connect = connect
        self.has_own_connection = connect is not None
        """Whether the models of this process are out of reach for another process with the same settings."""
        self._building = anyio.Lock()
        self._waiting: set[anyio.CancelScope] = set()
        self._changes = 0
        self._deps: TurnDependencies | None = None
        self._settings: Settings | None = None
        self._expected: tuple[AvailableModel, ...] = ()
        self._connections: list[ModelConnections] = []

    async def require_model(self) -> None:
        """Raise AuthRequired unless a model is configured or answers on this machine.

        Raises ConfigError for invalid settings. Very cheap if there is no settings file.
        """
        is_likely = self._environment.mentions_a_model() and not self.access.is_changed
        if self.is_signed_out or not (self._deps or is_likely):
            await self.find_model()
        else:
            await self.read_settings()

    async def read_settings(self) -> None:
        """Read the settings file if there is one and it has not been read yet. Raises ConfigError."""
        if self._settings is None and self._environment.config_file.is_file():
            settings, choice = await anyio.to_thread.run_sync(self.access.read)
            fallbacks = await anyio.to_thread.run_sync(self.access.fallbacks)
            self._settings = settings
            if choice:
                self._expected = _expected_models(settings, (choice, *fallbacks))

    async def find_model(self) -> None:
        """Find the endpoint in use, and build the dependencies unless that endpoint must first be asked for its models.

        Raises AuthRequired or ConfigError.
        """
        self._require_sign_in()
        if self._deps is None:
            found = await self._find()
            self._settings = found.settings
            if found.choices[0].model:
                await self.deps(found)

    async def read_again(self) -> None:
        """Reload the configuration. Raises AuthRequired or ConfigError."""
        self.is_signed_out = False
        self.forget_model()
        await self.find_model()

    def forget_model(self) -> None:
        """Choose the model again on next use, because access to it has changed. Running turns keep theirs."""
        self._deps = None
        self._expected = ()
        self._changes += 1
        for scope in self._waiting:
            scope.cancel()

    def sign_out(self) -> None:
        """Use no model until the configuration is reloaded."""
        self.is_signed_out = True
        self.forget_model()

    async def deps(self, found: "LoadedConfiguration | None" = None) -> "TurnDependencies":
        """Return the dependencies of turns, built on first use. Raises AuthRequired, ConfigError or ModelError.

        May wait for an endpoint. If the configuration changes in the meantime, a waiting caller starts over; the change
        itself does not wait.
        """
        while True:
            self._require_sign_in()
            if self._deps is not None:
                return self._deps
            with anyio.CancelScope() as scope:
                self._waiting.add(scope)
                try:
                    await self._build_in_turn(scope, found)
                finally:
                    self._waiting.discard(scope)

    async def _build_in_turn(self, scope: anyio.CancelScope, found: "LoadedConfiguration | None") -> None:
        async with self._building:
            if self._deps is not None:
                return
            try:
                deps = await self._build(found)
            finally:
                enable_garbage_collection()
            if scope.cancel_called:
                return  # these belong to a configuration that has since been replaced
            self._deps = deps
        self._on_models()

    def _require_sign_in(self) -> None:
        if self.is_signed_out:
            raise AuthRequired("You are signed out.", hint="Authenticate to use the configured model again.")

    async def _build(self, found: "LoadedConfiguration | None") -> "TurnDependencies":
        from hermes_acp.models.model_connections import ModelConnections

        if found is None or found.changes != self._changes:
            found = await self._find()
        self._settings = found.settings
        await self._mcp_manager.share(found.settings)
        connections = ModelConnections(found.settings, found.choices, self._clock, self._connect)
        if self._connections:
            connections.inherit(self._connections[-1])
        self._connections.append(connections)
        news = await connections.prepare()
        return await anyio.to_thread.run_sync(self._make, found.settings, connections, news)

    async def _find(self) -> "LoadedConfiguration":
        from hermes_acp.models.model_connections import with_usual_model

        changes = self._changes
        settings, choice = await anyio.to_thread.run_sync(self.access.read)
        choice = await self._detect() if choice is None else with_usual_model(choice)
        choices = (choice, *await anyio.to_thread.run_sync(self.access.fallbacks))
        return LoadedConfiguration(settings, choices, changes)

    async def _detect(self) -> "ModelChoice":
        from hermes_acp.config.model_choice import ModelChoice
        from hermes_acp.models.wire.local_detection import detect_local

        found = await detect_local() if self.access.may_detect() else None
        if found is None:
            raise AuthRequired(NO_MODEL_CONFIGURED, hint=SETUP_HINT)
        return ModelChoice(provider="openai_compatible", model=found.model, base_url=found.base_url)

    def limits(self) -> "TurnLimits":
        """Return the limits of a turn; may only be called during a turn."""
        from hermes_acp.agent.turn.turn_limits import TurnLimits

        assert self._settings, "limits may only be read during a turn"
        budget = self._settings.budget
        return TurnLimits(
            max_steps=budget.max_steps,
            max_tokens=budget.max_tokens,
            max_cost_usd=budget.max_cost_usd,
            timeout_s=budget.timeout_s,
            max_refunds=budget.max_refunds,
            tool_timeout_s=budget.tool_timeout_s,
            question_timeout_s=self._settings.questions.timeout_s,
            without_clients=self._settings.questions.without_clients,
            max_schema_tokens=budget.max_schema_tokens,
        )

    def settings(self) -> "Settings | None":
        """Return the settings, or None if they have not been read yet."""
        return self._settings

    def allows_bypass(self) -> bool:
        """Return whether the user allowed bypass mode, which never asks, on the command line or in their settings."""
        return self._environment.allows_bypass or bool(self._settings and self._settings.allow_bypass)

    def default_mode(self) -> Mode:
        """Return the mode for new sessions; it comes from the settings once they have been read."""
        return self._settings.mode if self._settings else "ask"

    def models(self) -> tuple[AvailableModel, ...]:
        """Return the models to choose from, the configured one first; empty until they are known.

        Models named in the settings or the environment are known before any endpoint is reached.
        """
        if self._deps is not None:
            return self._connections[-1].offers()
        if self._expected or self.access.is_changed or self.is_signed_out:
            return self._expected
        return () if self._environment.config_file.is_file() else named_models(self._environment)

    async def list_models(self) -> tuple[str, ...]:
        """Ask the endpoint for its models; ask again if the endpoint changes in the meantime. Raises ModelError."""
        asked, listed = None, tuple[str, ...]()
        while asked is not self._connections[-1]:
            asked = self._connections[-1]
            listed = await asked.list_models()
            self._on_models()
        return listed

    async def aclose(self) -> None:
        """Close the model connections."""
        for connections in self._connections:
            await connections.aclose()


def _expected_models(settings: "Settings", choices: "tuple[ModelChoice, ...]") -> tuple[AvailableModel, ...]:
    """Return the models that the settings name, or none if the endpoint must be asked for its models."""
    from hermes_acp.models.model_connections import available_models, with_usual_model

    first, *fallbacks = choices
    first = with_usual_model(first)
    return available_models((first, *fallbacks), (), settings) if first.model else ()
