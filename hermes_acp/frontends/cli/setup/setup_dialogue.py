"""Ask the questions of setup: provider, address, key and model, each with the current value as its default.

The endpoint's models are listed, and one is tried with a small call. Failures can be corrected at once.
"""

import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

import anyio
from msgspec import structs

from hermes_acp.config.provider_presets import presets
from hermes_acp.core.errors import BadRequest, HermesError
from hermes_acp.core.ports.model_ports import ListedModel
from hermes_acp.frontends.cli.messages import setup_messages
from hermes_acp.frontends.cli.setup.setup_console import (
    ask,
    ask_secret,
    choose,
    choose_letter,
    confirm,
    say,
)
from hermes_acp.models.model_setup.model_trial import list_models, try_model
from hermes_acp.models.model_setup.setup_answers import (
    CUSTOM,
    PresentValues,
    SetupAnswers,
    checked_url,
    is_only_in_environment,
    usual_model,
    with_own_key,
)

MAX_SHOWN: Final = 20
Step = Literal["provider", "url", "key", "listing", "model", "trial", "done"]
CORRECTIONS: Final[Mapping[str, Step]] = MappingProxyType(
    {"r": "listing", "k": "key", "u": "url", "m": "model", "p": "provider", "s": "done"}
)


class SetupDialogue:
    """A setup dialogue; it collects answers but writes nothing."""

    def __init__(self, present: PresentValues, running: str = "") -> None:
        """Start with the current values; `running` is the provider of a model server found on this machine."""
        self._present = present
        self._running = running
        self._answers = SetupAnswers("")
        self._listed: tuple[ListedModel, ...] = ()
        self._step: Step = "provider"

    def hold(self) -> SetupAnswers:
        """Ask until everything works or the user saves the answers anyway. Raises BadRequest if they quit."""
        while self._step != "done":
            match self._step:
                case "provider":
                    self._ask_provider()
                case "url":
                    self._ask_url()
                case "key":
                    self._ask_key()
                case "listing":
                    self._list()
                case "model":
                    self._ask_model()
                case _:
                    self._try()
        if is_only_in_environment(self._present, self._answers):
            self._offer_to_store()
        return self._answers

    def _offer_to_store(self) -> None:
        variable = self._answers.key_variable
        if confirm(setup_messages.store_question(variable), default=True):
            key = self._present.key(self._answers.provider)
            self._answers = structs.replace(self._answers, key=key)

    def _ask_provider(self) -> None:
        names = provider_names()
        say(setup_messages.WHICH_PROVIDER)
        usual = self._answers.provider or self._present.provider or self._running
        number = choose(
            [self._provider_line(name) for name in names], names.index(usual) + 1 if usual in names else 0
        )
        self._answers = SetupAnswers(names[number], key_variable=self._present.key_variable(names[number]))
        self._listed = ()
        self._step = "url"

    def _provider_line(self, name: str) -> str:
        preset = presets()[name]
        marks: list[str] = []
        if name == self._present.provider:
            marks.append(setup_messages.IN_USE)
        if name not in CUSTOM and self._present.key(name):
            marks.append(setup_messages.key_found(self._present.key_variable(name)))
        if name == self._running:
            marks.append(setup_messages.RUNNING)
        return setup_messages.provider_label(preset.label, marks)

    def _ask_url(self) -> None:
        usual = self._answers.base_url or self._present.base_url(self._answers.provider)
        preset = self._answers.preset
        is_derived = bool(preset.region_variables or preset.lender)
        while True:
            text = ask(setup_messages.url_prompt(usual, is_derived=is_derived), usual)
            if not text and is_derived:
                break
            try:
                text = checked_url(text)
                break
            except BadRequest as error:
                say(error.sentence())
        # The provider's own address is not written, so that it still changes with the region.
        is_own = text == preset.base_url.rstrip("/") and self._answers.provider not in CUSTOM
        is_regional = bool(preset.region_variables) and text == usual
        self._answers = structs.replace(self._answers, base_url="" if is_own or is_regional else text)
        self._step = "key"

    def _ask_key(self) -> None:
        self._step = "listing"
        provider = self._answers.provider
        if not self._answers.key_variable:
            return
        held, variable = self._present.key(provider), self._answers.key_variable
        if self._answers.key:
            held = self._answers.key
        if held:
            key = ask_secret(setup_messages.other_key_prompt(variable))
        else:
            key = ask_secret(setup_messages.key_prompt(variable))
        if key:
            self._answers = with_own_key(self._present, self._answers, key)

    def _list(self) -> None:
        say(setup_messages.LISTING)
        try:
            self._listed = anyio.run(list_models, self._present, self._answers)
        except HermesError as error:
            self._correct(error)
        else:
            self._step = "model"

    def _ask_model(self) -> None:
        self._step = "trial"
        usual = usual_model(self._present, self._answers, self._listed)
        if not self._listed:
            say(setup_messages.NO_LIST)
            model = ""
            while not model:
                model = ask(setup_messages.model_prompt(usual), usual)
        else:
            model = self._choose_model(usual)
        self._answers = structs.replace(self._answers, model=model)

    def _choose_model(self, usual: str) -> str:
        names = [model.name for model in self._listed]
        shown: Sequence[ListedModel] = self._listed
        say(setup_messages.models_found(len(names)))
        while True:
            for number, model in enumerate(shown[:MAX_SHOWN], 1):
                say(setup_messages.model_line(number, model.name, model.window_tokens))
            if len(shown) > MAX_SHOWN:
                say(setup_messages.more_models(len(shown) - MAX_SHOWN))
            answer = ask(setup_messages.model_choice_prompt(usual), usual)
            if answer in names:
                return answer
            if answer.isascii() and answer.isdecimal() and 1 <= int(answer[:6]) <= min(len(shown), MAX_SHOWN):
                return shown[int(answer) - 1].name
            matching = [model for model in self._listed if answer.lower() in model.name.lower()]
            if matching:
                shown = matching
                continue
            say(setup_messages.no_such_model(answer))
            if confirm(setup_messages.USE_ANYWAY, default=False):
                return answer

    def _try(self) -> None:
        say(setup_messages.trying(self._answers.model))
        begun = time.monotonic()
        try:
            text = anyio.run(try_model, self._present, self._answers)
        except HermesError as error:
            self._correct(error)
        else:
            say(setup_messages.answered(" ".join(text.split()), time.monotonic() - begun))
            self._step = "done"

    def _correct(self, error: HermesError) -> None:
        """Show what failed, and let the user choose what to change. Raises BadRequest if they quit."""
        say(setup_messages.failed(error.sentence()))
        letters = [
            pair for pair in setup_messages.CORRECTIONS if pair[0] != "k" or self._answers.key_variable
        ]
        letter = choose_letter(letters)
        if letter == "q":
            raise BadRequest(setup_messages.NOTHING_CHANGED, hint=setup_messages.AGAIN_HINT)
        is_tried = letter == "r" and self._step == "trial"
        self._step = "trial" if is_tried else CORRECTIONS[letter]


def provider_names() -> list[str]:
    """Return the provider names in the order of the list: named providers, then any other endpoint."""
    return [*(name for name in presets() if name not in CUSTOM), *CUSTOM]
