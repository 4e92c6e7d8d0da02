"""Messages of `hermes-acp setup`."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

# Flags
PROVIDER_HELP: Final = "the provider; if any answer is given as a flag, setup asks nothing"
MODEL_HELP: Final = "the model (default: the provider's usual one, or the first that it lists)"
KEY_HELP: Final = "store the key that this environment variable holds"
URL_HELP: Final = "the address of the endpoint (default: the provider's own)"
NO_VERIFY_HELP: Final = "do not call the model"
MEND_HELP: Final = "keep a copy of an invalid settings file, and remove what is wrong"
EPILOG: Final = """\
exit codes: 0 done; 2 a flag or a settings file is wrong; 3 the model did not answer; 4 a file cannot be written.
With 2 and 3, no settings were written.

example for scripts:
  hermes-acp setup --provider anthropic --model claude-sonnet-5-5 --key-from-env ANTHROPIC_API_KEY"""

# Start and end
GREETING: Final = (
    "This sets up a model for hermes-acp. Press Enter to accept a value in [brackets]. Ctrl+C quits without "
    "changes."
)
NEEDS_TERMINAL: Final = "`hermes-acp setup` asks questions and needs a terminal."
NEEDS_TERMINAL_HINT: Final = (
    "In scripts, pass the answers: hermes-acp setup --provider NAME --model NAME --key-from-env VARIABLE "
    "[--base-url URL] [--no-verify]."
)
NOTHING_CHANGED: Final = "Nothing was changed."
NOTHING_WRITTEN: Final = (
    "The model could not be used, so no settings were written. --no-verify writes them anyway."
)
AGAIN_HINT: Final = "Run `hermes-acp setup` to start again."
NOTHING_TO_MEND: Final = "The settings are valid. Nothing was changed."
ONLY_MENDED: Final = "The settings file was repaired as you chose. Nothing else was changed."
MODEL_SAVED: Final = "The model is set up. Editor settings were changed only where stated above."
EDITORS_LEFT: Final = "Editor settings were changed only where stated above."
EDITORS_HINT: Final = "`hermes-acp setup --editor NAME` sets up an editor."
NEXT_STEPS: Final = """
What next?
  hermes-acp chat                 talk to the agent in this terminal
  hermes-acp run -p "Say hello"   run one prompt
  hermes-acp setup --editor NAME  set up an editor; --help lists them"""

# Unusable settings
MEND_HINT: Final = "Correct the file, or pass --mend to keep a copy and remove what is wrong."
EDIT_HINT: Final = "Correct the file, then run `hermes-acp setup` again."
MENDING: Final = (
    ("r", "remove these settings, keep the others, and keep a copy of the file"),
    ("n", "start with a new file, and keep the old one under another name"),
    ("q", "leave everything as it is"),
)

# Questions
WHICH_PROVIDER: Final = "\nWhich provider?"
IN_USE: Final = "in use"
RUNNING: Final = "running now"
LISTING: Final = "\nAsking the endpoint for its models …"
NO_LIST: Final = "The endpoint lists no models. Enter the name of one."
USE_ANYWAY: Final = "Use this name anyway?"
MODEL_MISSING: Final = "The endpoint lists no models. Name one with --model."
CORRECTIONS: Final = (
    ("r", "try again"),
    ("k", "enter another key"),
    ("u", "enter another base URL"),
    ("m", "choose another model"),
    ("p", "choose another provider"),
    ("s", "save it as it is"),
    ("q", "quit without changes"),
)
_DEFAULTS: Final = MappingProxyType({True: "[Y/n]", False: "[y/N]"})


def interrupted(state: str) -> str:
    """Say what an interrupted setup has changed."""
    return f"Interrupted. {state}"


def numbered(number: int, text: str) -> str:
    """Format one line of a numbered list."""
    return f"  {number:>2}. {text}"


def lettered(letter: str, meaning: str) -> str:
    """Format one line of a list of actions."""
    return f"  {letter}  {meaning}"


def number_prompt(most: int, default: int) -> str:
    """Ask for a number; a `default` of 0 means that there is none."""
    return f"Number [{default}]: " if default else f"Number (1-{most}): "


def number_wanted(most: int) -> str:
    """Return the reply to an invalid number."""
    return f"Enter a number from 1 to {most}."


def letter_prompt(letters: Sequence[str]) -> str:
    """Ask which action to take."""
    return f"What now ({'/'.join(letters)})? "


def yes_or_no(question: str, *, default: bool) -> str:
    """Add the possible answers to a yes-or-no question."""
    return f"{question} {_DEFAULTS[default]} "


def provider_label(label: str, marks: Sequence[str]) -> str:
    """Format a provider in the list, with its details."""
    return f"{label} ({'; '.join(marks)})" if marks else label


def key_found(variable: str) -> str:
    """Return the marker for a provider whose key was found."""
    return f"key in {variable}"


def url_prompt(usual: str, *, is_derived: bool) -> str:
    """Ask for the address; `usual` is empty if there is no default, or if the default depends on a region."""
    if is_derived and not usual:
        return "\nBase URL [the one for your region or project]: "
    return f"\nBase URL [{usual}]: " if usual else "\nBase URL, such as http://localhost:8000/v1: "


def key_prompt(variable: str) -> str:
    """Ask for the API key."""
    return f"API key for {variable} (hidden while you type; Enter for none): "


def other_key_prompt(variable: str) -> str:
    """Ask for an API key to replace the current one."""
    return f"API key [keep the one in {variable}] (hidden while you type): "


def store_question(variable: str) -> str:
    """Ask whether to store a key that is only in the environment."""
    return f"Store the key of {variable} in ~/.hermes/.env too, for editors that this shell does not start?"


def models_found(count: int) -> str:
    """Say how many models the endpoint has."""
    return "It has 1 model:" if count == 1 else f"It has {count:,} models:"


def model_line(number: int, name: str, window_tokens: int | None) -> str:
    """Format a model in the list."""
    window = f"  ({window_tokens:,} tokens)" if window_tokens else ""
    return numbered(number, f"{name}{window}")


def more_models(count: int) -> str:
    """Say how many models are not shown."""
    return f"      and {count:,} more: type part of a name to see the matches"


def model_choice_prompt(usual: str) -> str:
    """Ask for one of the listed models."""
    default = f" [{usual}]" if usual else ""
    return f"Model: a number, a name or part of one{default}: "


def model_prompt(usual: str) -> str:
    """Ask for the name of a model that is not listed."""
    return f"Model [{usual}]: " if usual else "Model: "


def no_such_model(name: str) -> str:
    """Return the reply to a name that is not in the list."""
    return f"The endpoint lists no model {name[:80]!r}."


def trying(model: str) -> str:
    """Announce the trial call."""
    return f"\nTrying {model} with one small call …"


def answered(text: str, seconds: float) -> str:
    """Say that the model works; `text` may be empty, since a model may call a tool instead."""
    said = f": {text[:60]}" if text else ""
    return f"It works. The model answered in {seconds:.1f} s{said}"


def failed(sentence: str) -> str:
    """Say what failed."""
    return f"That failed: {sentence}"


def broken_file(path: str, problems: Sequence[str]) -> str:
    """List the problems of a settings file."""
    return "\n".join([f"{path} cannot be used:", *(f"  {problem}" for problem in problems)])


def copy_kept(path: str) -> str:
    """Say where the copy of the old file is."""
    return f"The old file was copied to {path}."


def environment_wins(names: str) -> str:
    """Warn that environment variables override the new settings."""
    return f"Your environment sets {names}, which takes precedence over what was just written."


def unknown_provider(name: str, names: str) -> str:
    """Say why a provider is refused."""
    wanted = f"{name!r} is not a provider." if name else "--provider is missing."
    return f"{wanted} Providers: {names}."


NOT_A_VARIABLE: Final = (
    "--key-from-env needs the name of an environment variable, such as OPENAI_API_KEY, "
    "and not the key itself."
)


def variable_not_set(name: str) -> str:
    """Say why a key cannot be stored."""
    return f"The environment variable {name} is not set, so there is no key to store."


def url_missing(provider: str) -> str:
    """Say that a provider needs an address."""
    return f"{provider} needs --base-url, a URL starting with http:// or https://."


def written(home: str, place: str, model: str) -> str:
    """Return the confirmation; `place` is a provider or an address."""
    chosen = f"{model} at {place}" if model else place
    return f"\nSaved in {home}: {chosen}."
