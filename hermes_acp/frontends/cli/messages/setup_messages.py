"""What `hermes-acp setup` asks and says."""

from typing import Final

WHICH_PROVIDER: Final = "Which provider?"
ENDED_EARLY: Final = "The input ended before all questions were answered. Nothing was changed."
ENDED_EARLY_HINT: Final = "Run `hermes-acp setup` in a terminal."
NOTHING_CHANGED: Final = "Nothing was changed."
AGAIN_HINT: Final = "Run `hermes-acp setup` to start again."


def provider_line(number: int, label: str) -> str:
    """Return one line of the list of providers."""
    return f"  {number}. {label}"


def number_prompt(most: int) -> str:
    """Return the question for a provider."""
    return f"Number [1-{most}]: "


def number_wanted(most: int) -> str:
    """Return the reply to an invalid number."""
    return f"Enter a number from 1 to {most}."


def url_prompt(usual: str) -> str:
    """Return the question for the address."""
    return f"Base URL [{usual}]: "


def key_prompt(variable: str) -> str:
    """Return the question for the key."""
    return f"API key ({variable}; leave empty for none): "


def model_prompt(usual: str) -> str:
    """Return the question for the model; `usual` is empty if the provider has no default."""
    return f"Model [{usual or 'the first one that the provider lists'}]: "


def environment_wins(names: str) -> str:
    """Return the note on variables that override what was written."""
    return f"Your environment sets {names}, which takes precedence over what was just written."


def written(home: str) -> str:
    """Return the confirmation."""
    return f"Written to {home}. Start a session in your editor, or try: hermes-acp run -p 'Say hello'"
