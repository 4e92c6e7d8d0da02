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
DELETE_FILES: Final = "Delete files there; many small ones, such as caches, count most."
FREE_SPACE: Final = "Free some space: a turn that cannot be recorded stops."
LEFT_SOCKET_HINT: Final = "It does no harm: the next `hermes-acp daemon start` removes it."
SET_CLOCK: Final = (
    "Set the clock, for example with `timedatectl set-ntp true`: keys and signatures are refused otherwise."
)
REINSTALL: Final = "Run `hermes-acp update --back`, or install hermes-acp again."
UPDATE_AGAIN: Final = "The next `hermes-acp update` removes that."
KINDS: Final = MappingProxyType(
    {"uv_tool": "installed by uv", "pipx": "installed by pipx", "venv": "virtual environment"}
)
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


def installed(version: str, kind: str, folder: str) -> str:
    """Return which version runs, and where it is installed."""
    return f"This is hermes-acp {version} in {folder} ({KINDS.get(kind, kind)})."


def incomplete_version(folder: str) -> str:
    """Return that the version in use is damaged."""
    return f"The version in use, {folder}, is incomplete."


def other_version_runs(version: str, now: str) -> str:
    """Return that this process was started from a version that is not the one in use."""
    return f"This process runs {version}; new ones start {now}."


def unfinished_update(names: Sequence[str]) -> str:
    """Return that an update was interrupted."""
    return f"An update was interrupted and left {', '.join(names)}."


def not_on_path(command: str) -> str:
    """Return that a shell does not find the command."""
    return f"`hermes-acp` is not on your PATH: editors and scripts need the full path, {command}."


def command_found(command: str) -> str:
    """Return that a shell starts this installation."""
    return f"`hermes-acp` on your PATH is {command}, of this installation."


def other_installation(command: str) -> str:
    """Return that a shell starts another installation of hermes-acp."""
    return f"`hermes-acp` on your PATH is {command}, another installation."


def foreign_command(command: str, owner: str) -> str:
    """Return that a shell starts another project's program of the same name."""
    return f"`hermes-acp` on your PATH is {command}, a program of another project ({owner})."


def unknown_command(command: str) -> str:
    """Return that a shell starts something that cannot be recognised."""
    return f"`hermes-acp` on your PATH is {command}, which does not lead to this installation."


def use_ours(folder: str) -> str:
    """Return how to start this installation instead."""
    return f"Put {folder} before it on your PATH, or remove it."


def space_left(folder: str, free: int) -> str:
    """Return how much space is free."""
    return f"{folder} has {free / 1e9:,.1f} GB free."


def little_space(folder: str, free: int) -> str:
    """Return that a disk is almost full."""
    return f"{folder} has only {free / 1e6:,.0f} MB free."


def few_files(folder: str, free: int) -> str:
    """Return that a disk can hold hardly any more files."""
    return f"{folder} can hold only {free:,} more files."


def resident_answers(pid: int) -> str:
    """Return that the process in the background works."""
    return f"The process in the background ({pid}) answers."


def silent_resident(pid: int) -> str:
    """Return that the process in the background hangs."""
    return f"The process in the background ({pid}) holds its lock but does not answer."


def end_resident(pid: int) -> str:
    """Return how to end it."""
    return f"End it: `kill {pid}`, and `kill -9 {pid}` if it stays." if pid else "End it."


def left_socket(path: str) -> str:
    """Return that a killed process left its socket."""
    return f"{path} was left by a process that was killed."


def not_a_socket(path: str) -> str:
    """Return that something else has the socket's name."""
    return f"{path} is not a socket."


def not_a_lock(path: str) -> str:
    """Return that something else has a lock's name."""
    return f"{path} is a folder where a lock is needed."


def remove_it(path: str) -> str:
    """Return how to remove something."""
    return f"Move it away: `mv {path} {path}.moved`."


def held_lock(path: str) -> str:
    """Return that another process holds a lock."""
    return f"Another process holds {path}."


def who_holds(path: str) -> str:
    """Return how to find that process."""
    return f"If it stays like this: `fuser {path}` names it."


def clock_agrees(host: str) -> str:
    """Return that the clocks agree."""
    return f"The clock agrees with that of {host}."


def clock_differs(host: str, seconds: float) -> str:
    """Return how far the clock is off."""
    direction = "ahead of" if seconds > 0 else "behind"
    return (
        f"This machine's clock is {counted(round(abs(seconds) / 60), 'minute')} {direction} that of {host}."
    )


def editor_starts_this(file: str) -> str:
    """Return that an editor starts this installation."""
    return f"{file} starts this installation."


def editor_starts_nothing(file: str, command: str) -> str:
    """Return that an editor starts something that is not there."""
    return f"{file} starts {command}, which does not exist."


def editor_starts_other(file: str, command: str) -> str:
    """Return that an editor starts another program."""
    return f"{file} starts {command}, which is not this installation."


def editor_starts_version(file: str, command: str) -> str:
    """Return that an editor is bound to one version, which an update can remove."""
    return f"{file} starts {command}, one version that a later update removes."


def mend_editor(editor: str) -> str:
    """Return how to change the settings of an editor."""
    return f"Run `hermes-acp setup --editor {editor}`."
