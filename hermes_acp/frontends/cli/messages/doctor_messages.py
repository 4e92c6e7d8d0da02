"""Messages of `hermes-acp doctor`; the findings themselves come from the checks."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from hermes_acp.frontends.cli.messages.word_forms import counted
from hermes_acp.frontends.command_line.profile_flag import command_for

REBUILD_HELP: Final = "first rebuild the list of sessions and the search indexes from the session records"
ONLINE_HELP: Final = "also try the model with one small call, which may cost a little"
MAX_MODELS: Final = 5
NO_MODEL: Final = "No model is set up, and no model server runs on this machine."
SET_UP: Final = "Next: `hermes-acp setup`."
REPAIR: Final = "Run `hermes-acp setup` to repair it."
CHOOSE_MODEL: Final = "`hermes-acp setup` sets up a model."
CHANGE_MODEL: Final = "`hermes-acp setup` changes the model, key and address."
MERGE_SETTINGS: Final = "Merge them, or remove one."
KEYS_LINE: Final = "Write `NAME=value` there, or remove the line."
TELEMETRY_HINT: Final = "Correct or remove the variable."
NO_TELEMETRY: Final = "Telemetry is configured but not installed, so nothing is exported."
TELEMETRY_ON: Final = "Traces or metrics are exported, as configured in the `OTEL_*` variables."
REPAIR_JSON: Final = "Repair that line, or move the file away."
INSTALL_SERVICE: Final = "Run `hermes-acp service install` again, or `hermes-acp service remove`."
LEVELS: Final = MappingProxyType({"fine": "ok", "note": "note", "problem": "PROBLEM"})
DELETE_FILES: Final = "Delete files there; many small ones, such as caches, count most."
FREE_SPACE: Final = "Free some space: a turn that cannot be recorded stops."
LEFT_SOCKET_HINT: Final = "It does no harm: the next `hermes-acp daemon start` removes it."
SET_CLOCK: Final = (
    "Set the clock, for example with `timedatectl set-ntp true`: keys and signatures are refused otherwise."
)
REINSTALL: Final = "Run `hermes-acp update --back`, or install hermes-acp again."
UPDATE_AGAIN: Final = "The next `hermes-acp update` removes these leftovers."
KINDS: Final = MappingProxyType(
    {"uv_tool": "installed by uv", "pipx": "installed by pipx", "venv": "virtual environment"}
)
SANDBOXED: Final = "Commands that nobody approved run in a sandbox (bubblewrap)."
GATEWAY_RUNS: Final = "The gateway for chat platforms is running."
GATEWAY_STOPPED: Final = "The gateway for chat platforms is not running."


def profile_in_use(name: str, keys_from: str) -> str:
    """Say which profile is checked, and whose keys it may use."""
    return f"This is the profile {name}." + (f" It may use the keys of {keys_from}." if keys_from else "")


def not_embedded(reason: str) -> str:
    """Return the note about a failed rebuild of the semantic index."""
    return f"The semantic index was not rebuilt: {reason}"


def embedded_later(number: int) -> str:
    """Return the note about sessions that will be embedded later."""
    return (
        f"{counted(number, 'session')} will be added to the semantic index later: recall.most_texts limits how many "
        "texts are embedded at a time."
    )


def broken_setting(file: str, sentence: str) -> str:
    """Say what is wrong with a settings file."""
    return sentence if file in sentence else f"{file}: {sentence}"


def ignored_line(file: str, line: int) -> str:
    """Say that a line of the keys file sets nothing."""
    return f"Line {line} of {file} sets no variable, so it is ignored."


def repeated_setting(file: str, key: str, lost: int, used: int) -> str:
    """Say that a setting occurs twice in the same mapping of a file."""
    return f"{file}: `{key}` is set in line {lost} and again in line {used}. Only line {used} counts."


def no_mcp_program(name: str, command: str) -> str:
    """Say that the program of an MCP server does not exist."""
    return f"The MCP server {name} cannot be started: there is no program {command}."


def mend_mcp_program(name: str) -> str:
    """Say how to make the program of an MCP server available."""
    return f"Install it, or write its full path in `mcp_servers.{name}.command`."


def service_starts_nothing(unit: str, program: str) -> str:
    """Say that a service starts a program that does not exist."""
    return f"{unit} starts {program}, which does not exist."


def model_set(model: str, base_url: str) -> str:
    """Say which model is used; the model may have no name."""
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
    return f"No model is configured, and {base_url} lists none."


def model_failed(model: str, message: str) -> str:
    """Say why a call failed."""
    return f"A call to {model} failed: {message}"


def unknown_model(model: str, base_url: str, message: str, names: Sequence[str]) -> str:
    """Say that the endpoint does not have the model, and name some that it has."""
    return f"{base_url} does not list the model {model}: {message} It lists {', '.join(names)}."


def installed(version: str, kind: str, folder: str) -> str:
    """Say which version runs, and where it is installed."""
    return f"This is hermes-acp {version} in {folder} ({KINDS.get(kind, kind)})."


def incomplete_version(folder: str) -> str:
    """Say that the version in use is damaged."""
    return f"The version in use, {folder}, is incomplete."


def other_version_runs(version: str, now: str) -> str:
    """Say that this process runs another version than the current one."""
    return f"This process runs {version}; new processes run {now}."


def unfinished_update(names: Sequence[str]) -> str:
    """Say that an update was interrupted."""
    return f"An update was interrupted and left {', '.join(names)}."


def not_on_path(command: str) -> str:
    """Say that the command is not on the PATH."""
    return f"`hermes-acp` is not on your PATH: editors and scripts need the full path, {command}."


def command_found(command: str) -> str:
    """Say that the command on the PATH belongs to this installation."""
    return f"`hermes-acp` on your PATH is {command}, from this installation."


def other_installation(command: str) -> str:
    """Say that the command on the PATH belongs to another installation of hermes-acp."""
    return f"`hermes-acp` on your PATH is {command}, another installation."


def foreign_command(command: str, owner: str) -> str:
    """Say that the command on the PATH is another project's program of the same name."""
    return f"`hermes-acp` on your PATH is {command}, a program from another project ({owner})."


def unknown_command(command: str) -> str:
    """Say that the command on the PATH cannot be identified."""
    return f"`hermes-acp` on your PATH is {command}, which does not lead to this installation."


def use_ours(folder: str) -> str:
    """Say how to put this installation first on the PATH."""
    return f"Put {folder} before it on your PATH, or remove it."


def space_left(folder: str, free: int) -> str:
    """Say how much space is free."""
    return f"{folder} has {free / 1e9:,.1f} GB free."


def little_space(folder: str, free: int) -> str:
    """Say that a disk is almost full."""
    return f"{folder} has only {free / 1e6:,.0f} MB free."


def few_files(folder: str, free: int) -> str:
    """Say that a disk has room for only a few more files."""
    return f"{folder} can hold only {free:,} more files."


def resident_answers(pid: int) -> str:
    """Say that the background process responds."""
    return f"The background process ({pid}) is responding."


def silent_resident(pid: int) -> str:
    """Say that the background process does not respond."""
    return f"The background process ({pid}) holds its lock but does not respond."


def end_resident(pid: int) -> str:
    """Say how to kill the background process."""
    return f"End it: `kill {pid}`, and `kill -9 {pid}` if it keeps running." if pid else "End it."


def left_socket(path: str) -> str:
    """Say that a killed process left its socket."""
    return f"{path} was left by a process that was killed."


def not_a_socket(path: str) -> str:
    """Say that the socket's path is not a socket."""
    return f"{path} is not a socket."


def not_a_lock(path: str) -> str:
    """Say that a lock's path is a folder."""
    return f"{path} is a folder, but must be a lock file."


def remove_it(path: str) -> str:
    """Say how to move a file or folder out of the way."""
    return f"Move it away: `mv {path} {path}.moved`."


def gateway_failed(reason: str) -> str:
    """Say why the gateway for chat platforms is not running."""
    return f"The gateway last ended with an error: {reason}"


def start_gateway(profile: str) -> str:
    """Say how to start a profile's gateway."""
    return f"Start it with the resident process: `{command_for(profile, 'daemon start')}`."


def faulty_platform(name: str, fault: str) -> str:
    """Say what prevents a chat platform from working."""
    return f"{name}: {fault}"


def no_gateway_status(reason: str) -> str:
    """Say that the gateway's status could not be read."""
    return f"`hermes-acp gateway status` failed: {reason}"


def held_lock(path: str) -> str:
    """Say that another process holds a lock."""
    return f"Another process holds {path}."


def who_holds(path: str) -> str:
    """Say how to find the process that holds a lock."""
    return f"If this persists, `fuser {path}` shows which process it is."


def clock_agrees(host: str) -> str:
    """Say that the clocks agree."""
    return f"The clock agrees with that of {host}."


def clock_differs(host: str, seconds: float) -> str:
    """Say how far the clock is off."""
    direction = "ahead of" if seconds > 0 else "behind"
    return (
        f"This machine's clock is {counted(round(abs(seconds) / 60), 'minute')} {direction} that of {host}."
    )


def editor_starts_this(file: str) -> str:
    """Say that an editor starts this installation."""
    return f"{file} starts this installation."


def editor_starts_nothing(file: str, command: str) -> str:
    """Say that an editor starts a program that does not exist."""
    return f"{file} starts {command}, which does not exist."


def editor_starts_other(file: str, command: str) -> str:
    """Say that an editor starts another program."""
    return f"{file} starts {command}, which is not this installation."


def editor_starts_version(file: str, command: str) -> str:
    """Say that an editor starts one specific version, which an update can remove."""
    return f"{file} starts {command}, a specific version that a later update will remove."


def transcribed_by(name: str) -> str:
    """Say what transcribes speech."""
    return f"Spoken prompts are transcribed by {name}."


def mend_editor(editor: str) -> str:
    """Say how to change the settings of an editor."""
    return f"Run `hermes-acp setup --editor {editor}`."
