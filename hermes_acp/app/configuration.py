"""From what is configured to the kit that turns are made with, made once and kept.

Knows: how a model is chosen and reached, when a kit is made and when it is outlived.
Does not know: sessions, faces, what a kit is made of. What is built is kept until the configuration is read afresh.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from msgspec import Struct

from hermes_acp.assembly.employer import Employer
from hermes_acp.assembly.tailor import Tailor
from hermes_acp.config.access import Access
from hermes_acp.core.errors import AuthRequired
from hermes_acp.core.offers import ModelOffer
from hermes_acp.core.ports import Clock
from hermes_acp.core.terms import Mode
from hermes_acp.world import start_collecting

if TYPE_CHECKING:
    from hermes_acp.agent.delegation import CrewBounds
    from hermes_acp.agent.turn import Kit, Limits
    from hermes_acp.assembly.model_ways import Connect, ModelWays
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.config.settings import Settings

NOTHING_SET_UP = "No model is set up."
HOW_TO_SET_UP = (
    "Run `hermes-acp setup`, or set OPENAI_API_KEY or ANTHROPIC_API_KEY (OPENAI_BASE_URL and HERMES_MODEL for any "
    "other endpoint), or start Ollama, llama.cpp, vLLM or LM Studio on its usual port."
)


class Configured(Struct, frozen=True):
    """What is configured: the settings, the way to the model in use and its fallbacks, after so many changes."""

    settings: "Settings"
    choices: "tuple[ModelChoice, ...]"
    changes: int


class Outfitter:
    """Has the kit of turns made, once, in a worker thread."""

    def __init__(
        self,
        access: Access,
        tailor: Tailor,
        employer: Employer,
        *,
        clock: Clock,
        connect: "Connect | None",
        on_models: Callable[[], None],
    ) -> None:
        """Make nothing yet; `on_models` is called whenever it has become known which models there are."""
        self.access = access
        self.is_signed_out = False
        self._on_models = on_models
        self._environment = access.environment
        self._tailor = tailor
        self._employer = employer
        self._clock = clock
        self._connect = connect
        self._building = anyio.Lock()
        self._waiting: set[anyio.CancelScope] = set()
        self._changes = 0
        self._kit: Kit | None = None
        self._settings: Settings | None = None
        self._ways: list[ModelWays] = []

    async def require_model(self) -> None:
        """Raise AuthRequired unless a model is set up or one answers on this machine, BadConfig for bad settings.

        Without a settings file this costs next to nothing.
        """
        is_likely = self._environment.mentions_a_model() and not self.access.is_changed
        if self.is_signed_out or not (self._kit or is_likely):
            await self.find_model()
        elif self._settings is None and self._environment.config_file.is_file():
            settings, _ = await anyio.to_thread.run_sync(self.access.read)
            await anyio.to_thread.run_sync(self.access.fallbacks)
            self._settings = settings

    async def find_model(self) -> None:
        """Find out which endpoint is used, and make the kit unless that endpoint must be asked for its models.

        Raises AuthRequired, BadConfig.
        """
        self._require_sign_in()
        if self._kit is None:
            found = await self._find()
            self._settings = found.settings
            if found.choices[0].model:
                await self.kit(found)

    async def read_again(self) -> None:
        """Read the configuration afresh. Raises AuthRequired, BadConfig."""
        self.is_signed_out = False
        self.forget_model()
        await self.find_model()

    def forget_model(self) -> None:
        """Choose the model afresh at its next use: the way to it has changed. Running turns keep theirs."""
        self._kit = None
        self._changes += 1
        for scope in self._waiting:
            scope.cancel()

    def sign_out(self) -> None:
        """Use no model until the configuration is read afresh."""
        self.is_signed_out = True
        self.forget_model()

    async def kit(self, found: "Configured | None" = None) -> "Kit":
        """Give what turns are made with, built on first use. Raises AuthRequired, BadConfig, ModelTrouble.

        It may wait for an endpoint; whoever waits begins anew when the configuration changes meanwhile, which itself
        waits for nobody.
        """
        while True:
            self._require_sign_in()
            if self._kit is not None:
                return self._kit
            with anyio.CancelScope() as scope:
                self._waiting.add(scope)
                try:
                    await self._build_in_turn(scope, found)
                finally:
                    self._waiting.discard(scope)

    async def _build_in_turn(self, scope: anyio.CancelScope, found: "Configured | None") -> None:
        async with self._building:
            if self._kit is not None:
                return
            try:
                kit = await self._build(found)
            finally:
                start_collecting()
            if scope.cancel_called:
                return  # of a configuration that was left behind while this was built
            self._kit = kit
        self._on_models()

    def _require_sign_in(self) -> None:
        if self.is_signed_out:
            raise AuthRequired("You are signed out.", hint="Authenticate to use the configured model again.")

    async def _build(self, found: "Configured | None") -> "Kit":
        from hermes_acp.assembly.model_ways import ModelWays

        if found is None or found.changes != self._changes:
            found = await self._find()
        self._settings = found.settings
        await self._employer.share(found.settings)
        ways = ModelWays(found.settings, found.choices, self._clock, self._connect)
        if self._ways:
            ways.inherit(self._ways[-1])
        self._ways.append(ways)
        news = await ways.prepare()
        return await anyio.to_thread.run_sync(self._tailor.make, found.settings, ways, news)

    async def _find(self) -> "Configured":
        from hermes_acp.assembly.model_ways import with_usual_model

        changes = self._changes
        settings, choice = await anyio.to_thread.run_sync(self.access.read)
        choice = await self._detect() if choice is None else with_usual_model(choice)
        choices = (choice, *await anyio.to_thread.run_sync(self.access.fallbacks))
        return Configured(settings, choices, changes)

    async def _detect(self) -> "ModelChoice":
        from hermes_acp.config.model_choice import ModelChoice
        from hermes_acp.models.detection import detect_local

        found = await detect_local() if self.access.may_detect() else None
        if found is None:
            raise AuthRequired(NOTHING_SET_UP, hint=HOW_TO_SET_UP)
        return ModelChoice(provider="openai_compatible", model=found.model, base_url=found.base_url)

    def limits(self) -> "Limits":
        """Give what one turn may use; asked for in a turn."""
        from hermes_acp.agent.turn import Limits

        assert self._settings, "limits are asked for in a turn, which has a kit"
        budget = self._settings.budget
        return Limits(
            max_steps=budget.max_steps,
            max_tokens=budget.max_tokens,
            max_cost_usd=budget.max_cost_usd,
            timeout_s=budget.timeout_s,
            max_refunds=budget.max_refunds,
            tool_timeout_s=budget.tool_timeout_s,
            question_timeout_s=self._settings.questions.timeout_s,
        )

    def crew_bounds(self) -> "CrewBounds":
        """Give what the child agents of one call are bound by; asked for in a turn."""
        from hermes_acp.agent.delegation import CrewBounds

        assert self._settings, "bounds are asked for in a turn, which has a kit"
        section = self._settings.delegation
        return CrewBounds(section.max_parallel, section.max_children, section.max_steps)

    @property
    def settings(self) -> "Settings | None":
        """The settings, once they were read."""
        return self._settings

    def allows_bypass(self) -> bool:
        """Tell whether the user allowed the mode that asks about nothing, on the command line or in their settings."""
        return self._environment.allows_bypass or bool(self._settings and self._settings.allow_bypass)

    def default_mode(self) -> Mode:
        """Give the mode new sessions begin in; without a settings file nothing has to be read to know it."""
        return self._settings.mode if self._settings else "ask"

    def models(self) -> tuple[ModelOffer, ...]:
        """Give the models that can be chosen, the configured one first; empty until it is known."""
        return () if self._kit is None else self._ways[-1].offers()

    async def list_models(self) -> None:
        """Ask the endpoint which models it has, again where it was changed meanwhile. Raises ModelTrouble."""
        asked = None
        while asked is not self._ways[-1]:
            asked = self._ways[-1]
            await asked.list_models()
            self._on_models()

    async def aclose(self) -> None:
        """Close the ways to models."""
        for ways in self._ways:
            await ways.aclose()
