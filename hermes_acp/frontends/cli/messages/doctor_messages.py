"""Texts of `hermes-acp doctor`; the findings themselves come from the checks."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from hermes_acp.frontends.cli.messages.word_forms import counted

REBUILD_HELP: Final = "first rebuild the list of sessions and the search indexes from the session records"
ONLINE_HELP: Final = "also try the model with one small call, which may cost a little"
MAX_MODELS: Final = 5
NO_MODEL: Final = "No model is set up, and no model server runs on this machine. Next: `hermes-acp setup`."
LEVELS: Final = MappingProxyType({"fine": "ok", "note": "note", "problem": "PROBLEM"})
SANDBOXED: Final = "Commands that nobody approved run in a sandbox (bubblewrap)."


def profile_in_use(name: str, keys_from: str) -> str:
    """Say which profile is checked, and whose keys it may use."""
    return f"This is the profile {name}." + (f" It may use the keys of {keys_from}." if keys_from else "")


def not_embedded(reason: str) -> str:
    """Return the note on a failed rebuild of the index by meaning."""
    return f"The index by meaning was not rebuilt: {reason}"


def embedded_later(number: int) -> str:
    """Return the note on sessions that are left for later."""
    return (
        f"{counted(number, 'session')} will be indexed by meaning later: recall.most_texts limits how many texts "
        "are embedded at a time."
    )


def broken_setting(file: str, sentence: str) -> str:
    """Return what is wrong with a settings file; `hermes-acp setup` can mend it."""
    return f"{sentence if file in sentence else f'{file}: {sentence}'} Run `hermes-acp setup` to repair it."


def no_model(sentence: str) -> str:
    """Say why no model can be chosen."""
    return f"{sentence} `hermes-acp setup` sets up a model."


def model_set(model: str, base_url: str) -> str:
    """Say which model is used; it may be unnamed."""
    chosen = f"{model} at {base_url}" if model else f"the first that {base_url} lists"
    return f"The model is {chosen}. `hermes-acp doctor --online` tries it."


def model_answered(model: str, base_url: str, seconds: float) -> str:
    """Say that a call succeeded."""
    return f"{model} at {base_url} answered in {seconds:.1f} s."


def no_answer(model: str, base_url: str, seconds: float) -> str:
    """Say that a call took too long."""
    return f"{model} at {base_url} did not answer within {seconds:.0f} s."


def unlisted(base_url: str) -> str:
    """Say that there is no model to try."""
    return f"No model is configured, and {base_url} lists none. `hermes-acp setup` sets one."


def model_failed(model: str, sentence: str) -> str:
    """Say why a call failed."""
    return f"A call of {model} failed: {sentence} `hermes-acp setup` changes model, key and address."


def unknown_model(model: str, base_url: str, message: str, names: Sequence[str]) -> str:
    """Say that the endpoint does not have the model, with some that it has."""
    return (
        f"{base_url} does not list the model {model}: {message} It lists {', '.join(names)}. "
        "`hermes-acp setup` changes the model."
    )
