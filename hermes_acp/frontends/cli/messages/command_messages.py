"""The text of `hermes-acp --help`, and text shared by several commands."""

from types import MappingProxyType
from typing import Final

USAGE: Final = "%(prog)s [-h] [--version] [--profile NAME] COMMAND ..."
DESCRIPTION: Final = (
    "A coding agent for any editor that speaks the Agent Client Protocol. Without a command, it serves an editor "
    "over standard input and output. With --allow-bypass, the user of that editor may choose a mode that asks no "
    "questions."
)
EPILOG: Final = "Start with `hermes-acp setup`. `hermes-acp help COMMAND` explains the options of a command."
COMMAND_GROUPS: Final = MappingProxyType(
    {
        "Getting started": {
            "setup": "choose a provider, an API key and a model",
            "model": "list the models of an endpoint, try one, or set the one to use",
            "chat": "talk to the agent in this terminal",
            "run": "run one prompt without an editor, for scripts and CI",
            "doctor": "find what is wrong with the settings, the model, the stored data and this installation",
            "update": "install a newer version, or go back to the previous one",
            "help": "explain a command: `hermes-acp help run`",
        },
        "Other clients": {
            "acp": "serve an editor over stdio (the same as no command)",
            "lsp": "serve an editor over the Language Server Protocol",
            "serve": "serve clients over HTTP and WebSocket",
            "gateway": "reach the agent from chat platforms: set up, status, people",
        },
        "Work that continues without a client": {
            "daemon": "run the agent in the background, for sessions that outlive their clients",
            "service": "have systemd or launchd start the agent in the background",
            "status": "show what the agent in the background is doing",
            "runs": "start work that continues without a client; answer its questions",
            "batch": "work on many prompts from a file; continue after an interruption",
            "schedule": "start runs at certain times",
            "board": "plan work on cards that agents carry out; answer, review and approve",
            "worker": "work on cards and other runs, each in its own process",
            "train": "train a model on exported sessions; only a person can start it",
            "notifications": "list what was sent to you, test the targets, resend what failed",
        },
        "What happened": {
            "sessions": "list, search, show, rename, archive, export and delete stored sessions",
            "checkpoints": "show which files each turn changed; undo one turn",
            "undo": "undo the file changes of the last turns",
            "usage": "show the tokens and money that sessions used, by day, model, workspace, profile or tool",
            "logs": "show what sessions did, and what was changed in memory, skills, tools and settings",
        },
        "What the agent knows and may do": {
            "policy": "show how commands are checked and which answers are remembered",
            "trust": "trust what a folder contains; list or revoke that trust",
            "memory": "show, search, add, edit and forget notes; approve pending ones",
            "skills": "show skills and their versions; install, update and audit them",
            "tools": "show the tools that you or the agent wrote; check one or roll it back",
            "hooks": "list and test your hooks: commands that run at certain points in a session",
            "mcp": "show your MCP servers; sign in to one or sign out",
            "voice": "show how speech is transcribed, download a model for it, try a recording",
            "backends": "list, stop and remove the sandboxes that are kept for sessions",
            "scan": "check files for hidden or hostile instructions",
        },
        "Users and profiles": {
            "profiles": "list, create, show and remove profiles, each with its own home folder",
            "hub": "serve several users at one address, each with their own profile and process",
            "users": "add and remove the users of a hub; tokens and quotas",
            "audit": "show what was done on a hub; check that its log was not changed",
        },
    }
)
"""The commands, grouped as `hermes-acp --help` shows them, each with its summary."""
COMMANDS: Final = MappingProxyType(
    {name: summary for group in COMMAND_GROUPS.values() for name, summary in group.items()}
)
JSON_HELP: Final = "print one JSON document"
WORKSPACE_HELP: Final = "the workspace (default: the current folder)"
FOLDER_HELP: Final = "the folder (default: the current folder)"
FORCE_HELP: Final = "replace the file if it already exists"
FILE_EXISTS_HINT: Final = "Name another file, or add --force to replace it."
UNTITLED: Final = "Untitled"
NOTHING_FOUND: Final = "Nothing was found."


INTERRUPTED: Final = "Interrupted."


def not_a_number_from(text: str, least: int, most: int) -> str:
    """Say why an argument is out of range."""
    return f"must be a whole number from {least} to {most}, not {text}"


def not_a_positive_number(text: str) -> str:
    """Say why an argument is out of range."""
    return f"must be a positive number, not {text}"


def file_exists(file: str) -> str:
    """Return the error for a file that would be replaced."""
    return f"{file} already exists."


def start_menu(*, has_model: bool) -> str:
    """Return the menu for a person who starts the program without a command."""
    about = "" if has_model else "No model is set up yet.\n"
    return f"""\
hermes-acp is a coding agent for editors and terminals. {about}
  c  talk to it in this terminal      (hermes-acp chat)
  s  set up a model and your editor   (hermes-acp setup)
  h  list all commands                (hermes-acp --help)
  q  quit

Editors start `hermes-acp` themselves and talk to it over pipes."""


def start_prompt(usual: str) -> str:
    """Return the question for a menu item."""
    return f"Your choice [{usual}]: "
