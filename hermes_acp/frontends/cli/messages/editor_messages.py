"""Messages of `hermes-acp setup --editor`."""

from types import MappingProxyType
from typing import Final

EDITOR_HELP: Final = "write the settings of an editor, after showing them as a diff (repeatable)"
YES_HELP: Final = "write editor settings without asking"
BACKUP_HELP: Final = "keep a copy of each editor's file before it is changed"
NO_HOME: Final = "HOME is not set, so editor settings cannot be found."
YES_HINT: Final = "Pass --yes to write it without being asked."
EMACS_COMMAND: Final = "Start hermes-acp in an agent-shell buffer."
NOT_ALONE: Final = "the setting cannot be changed without touching others"
WHICH_EDITOR: Final = "\nSet up an editor too? The changes to its settings are shown first."
NO_EDITOR: Final = "none"
NEXT: Final = MappingProxyType(
    {
        "acpx": 'Next: run `acpx hermes exec "Explain this folder."`',
        "emacs": "Next: install the package agent-shell, restart Emacs, and run M-x hermes-agent-shell.",
        "jetbrains": "Next: choose Hermes in the agent selector of the AI Chat tool window.",
        "jupyter": "Next: install jupyter-ai-acp-client with JupyterLab's pip, open a chat and mention @Hermes.",
        "marimo": "Next: run `hermes-acp-marimo` in your notebooks' folder, and enable External Agents in marimo's "
        "user settings, Labs. Choose New OpenCode session there.",
        "neovim": "Next: restart Neovim. In CodeCompanion: `:CodeCompanionChat adapter=hermes`. In avante.nvim and "
        'agentic.nvim: set provider = "hermes" in your setup.',
        "toad": "Next: run `hermes-acp-toad FOLDER`.",
        "vscode": "Next: install the extension ACP Client and choose Hermes in its panel. Our own extension needs no "
        "settings.",
        "zed": "Next: open the Agent Panel, press + and choose Hermes.",
    }
)


def already(editor: str) -> str:
    """Say that there is nothing to change."""
    return f"{editor}: already set up."


def written(editor: str) -> str:
    """Say that an editor is set up."""
    return f"{editor}: set up."


def not_written(editor: str) -> str:
    """Say that nothing was written."""
    return f"{editor}: nothing was changed."


def failed(editor: str, sentence: str) -> str:
    """Say why an editor was not set up."""
    return f"{editor}: not set up. {sentence}"


def write_question(count: int) -> str:
    """Ask whether to write the files."""
    return "Write this file?" if count == 1 else f"Write these {count} files?"


def profile_hint(name: str) -> str:
    """Say how to make an editor start the agent in a profile other than the default one."""
    return (
        f"The editor starts the default profile. To use {name} there, add --profile {name} to the arguments of the "
        "command, or set HERMES_PROFILE."
    )


def copied(path: str) -> str:
    """Say where the copy of the old file is."""
    return f"The old file was copied to {path}."


def unreadable(path: str, reason: str) -> str:
    """Say that a file was left alone."""
    return f"{path} was left as it is: {' '.join(reason.split())}."


def not_json(line: int) -> str:
    """Say why a settings file cannot be read."""
    return f"line {line} is not valid JSON"


def not_an_object(name: str) -> str:
    """Say why a setting cannot be added."""
    return f"{name!r} must be in an object, but something else is there"
