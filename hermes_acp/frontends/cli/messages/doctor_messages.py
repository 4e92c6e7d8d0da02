"""What `hermes-acp doctor` says; the findings themselves come from the checks."""

from types import MappingProxyType
from typing import Final

from hermes_acp.frontends.cli.messages.word_forms import counted

REBUILD_HELP: Final = "first rebuild the list of sessions and the search indexes from the session records"
LEVELS: Final = MappingProxyType({"fine": "ok", "note": "note", "problem": "PROBLEM"})
SANDBOXED: Final = "Commands that nobody approved run in a sandbox (bubblewrap)."


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
    return f"{sentence if file in sentence else f'{file}: {sentence}'} Run `hermes-acp setup` to mend it."


def no_model(sentence: str) -> str:
    """Return why no model can be chosen."""
    return f"{sentence} `hermes-acp setup` sets up a model."
