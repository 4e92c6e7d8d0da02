"""From what is configured to what a turn is made with.

Knows: how a model is chosen and reached, which tools and stages a turn has, in which order.
Does not know: sessions, faces, how any part works. What is built is kept until the configuration is read afresh.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from msgspec import structs

from hermes_acp.assembly.employer import Employer
from hermes_acp.config.access import Access
from hermes_acp.config.environment import Environment
from hermes_acp.core.drawers import Drawer
from hermes_acp.core.errors import AuthRequired, BadConfig
from hermes_acp.core.events import Mode
from hermes_acp.core.ports import Clock
from hermes_acp.world import start_collecting

if TYPE_CHECKING:
    from hermes_acp.agent.turn import Briefing, Kit, Limits
    from hermes_acp.config.settings import ModelChoice, Settings
    from hermes_acp.models.endpoints import Connection
    from hermes_acp.telemetry.redaction import Redactor

    Connect = Callable[[Settings, ModelChoice], Connection]

NOTHING_SET_UP = "No model is set up."
HOW_TO_SET_UP = (
    "Run `hermes-acp setup`, or set OPENAI_API_KEY or ANTHROPIC_API_KEY (OPENAI_BASE_URL and HERMES_MODEL for any "
    "other endpoint), or start Ollama, llama.cpp, vLLM or LM Studio on its usual port."
)


class Outfitter:
    """Makes the kit of turns, once, in a worker thread."""

    def __init__(
        self,
        environment: Environment,
        access: Access,
        employer: Employer,
        *,
        clock: Clock,
        connect: "Connect | None",
    ) -> None:
        self.access = access
        self.is_signed_out = False
        self._environment = environment
        self._employer = employer
        self._clock = clock
        self._connect = connect or _connect
        self._building = anyio.Lock()
        self._kit: Kit | None = None
        self._settings: Settings | None = None
        self._connections: list[Connection] = []
        self._listed: tuple[str, ...] = ()

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
        await self._employer.share(settings)
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
        from hermes_acp.assembly.briefing import write_briefing

        assert self._kit, "a briefing is asked for in a turn, which has a kit"
        tools = self._kit.toolbox.schemas
        return await anyio.to_thread.run_sync(write_briefing, cwd, tools, self._clock.now())

    def limits(self) -> "Limits":
        """Give what one turn may use; asked for in a turn."""
        from hermes_acp.agent.turn import Limits

        assert self._settings, "limits are asked for in a turn, which has a kit"
        budget = self._settings.budget
        return Limits(budget.max_steps, budget.max_cost_usd, budget.timeout_s)

    def default_mode(self) -> Mode:
        """Give the mode new sessions begin in; without a settings file nothing has to be read to know it."""
        return self._settings.mode if self._settings else "ask"

    def models(self) -> tuple[str, ...]:
        """Give the models of the endpoint, the configured one first; empty until it is known."""
        if self._kit is None:
            return ()
        return tuple(dict.fromkeys((self._kit.model, *self._listed)))

    async def list_models(self) -> None:
        """Ask the endpoint which models it has. Raises ModelTrouble."""
        self._listed = await self._connections[-1].models()

    async def aclose(self) -> None:
        """Close the ways to models."""
        for connection in self._connections:
            await connection.aclose()


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
