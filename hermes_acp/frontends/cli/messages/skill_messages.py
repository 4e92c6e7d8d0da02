"""Messages of `hermes-acp skills`; the lines of its list come from `skills/skill_overview.py`."""

from typing import Final

from hermes_acp.frontends.cli.messages.word_forms import counted

LIST_HELP: Final = "list the skills in this folder and how often each was used (the default)"
SEARCH_HELP: Final = "search the names, descriptions and texts of skills, and the indexes of taps"
WORDS_HELP: Final = "words to search for; skills that contain any of them are listed, best match first"
BY_MEANING_HELP: Final = "also find skills with a similar meaning, if `recall.embeddings` is set"
HISTORY_HELP: Final = "list the versions of a skill: who changed it, when and why"
ROLLBACK_HELP: Final = "restore an earlier version of a skill"
NAME_HELP: Final = "the skill"
VERSION_HELP: Final = "a number from its history (default: the version before the current one)"
INSTALL_HELP: Final = "download a skill, show its content, and install it if you agree"
SOURCE_HELP: Final = (
    "a skill from a tap (NAME or TAP/NAME), GIT_URL[#path][@branch, tag or commit], or a folder"
)
UPDATE_HELP: Final = "download installed skills again, show what changed, and install it if you agree"
AUDIT_HELP: Final = "compare installed skills with what you approved, and scan them again"
REMOVE_HELP: Final = "remove an installed skill; its versions are kept"
NAMES_HELP: Final = "installed skills (default: all)"
INSTALLED_NAME_HELP: Final = "an installed skill"
YES_HELP: Final = "install without asking, unless the scan found something"

SEVERAL_HINT: Final = "Use --cwd to choose one."
VERSIONS_HINT: Final = "Versions are kept for skills that the agent changed or you installed."
NO_EARLIER_HINT: Final = (
    "`hermes-acp skills history` lists all versions. Choose version 0 to archive the skill."
)
ROLLED_BACK: Final = "rolled back on the command line"
NO_INSTALLED: Final = "You have not installed any skills."
RENAMED_HINT: Final = "Install it under that name."
NOTHING_INSTALLED: Final = "Nothing was installed."
NOTHING_UPDATED: Final = "Nothing was updated."
UPDATE_NEEDED: Final = "Updating a skill needs your approval, but there is no terminal to ask in."
NOT_COMPARED: Final = "(not text, or too long to compare)"
APPROVAL_NEEDED: Final = "Installing a skill needs your approval, but there is no terminal to ask in."
USE_A_TERMINAL_HINT: Final = (
    "The scan found something, or the skill can do more than before, so --yes is not enough. "
    "Run the command in a terminal."
)
USE_YES_HINT: Final = "Use --yes, or run the command in a terminal."
AS_APPROVED: Final = "as approved"
NOT_AS_APPROVED: Final = "not as approved"


def several_kept(name: str, folders: str) -> str:
    """Return the error for a name that several skills share."""
    return f"There are versions of several skills named {name}: {folders}."


def is_built_in(name: str) -> str:
    """Return the error for removing a built-in skill."""
    return f"{name} is a built-in skill and cannot be removed."


def turn_off_hint(name: str) -> str:
    """Say how to turn a skill off."""
    return f"To turn it off, set `skills: {{disabled: [{name}]}}` in config.yaml."


def no_version(name: str) -> str:
    """Return the error for a skill without stored versions."""
    return f"There are no stored versions of the skill {name!r}."


def no_skill(name: str) -> str:
    """Return the error for an unknown skill."""
    return f"There is no skill {name!r}."


def no_earlier_version(name: str) -> str:
    """Return the error for a skill whose first version is in use."""
    return f"{name} has no earlier version."


def archived(name: str, new_version: int) -> str:
    """Confirm a rollback that archived the skill."""
    return f"{name} is archived, as version {new_version}."


def restored(name: str, version: int, new_version: int) -> str:
    """Confirm a rollback."""
    return f"{name} is back at version {version}, stored as version {new_version}."


def removed(name: str) -> str:
    """Confirm that a skill was removed."""
    return f"{name} was removed. To restore it as a skill of your own: hermes-acp skills rollback {name}"


def update_failed(name: str, reason: str) -> str:
    """Say why one of several skills was not updated."""
    return f"{name}: {reason}"


def renamed(source: str, name: str) -> str:
    """Return the error for a source whose skill now has another name."""
    return f"The skill from {source} is now named {name}."


def up_to_date(name: str) -> str:
    """Say that there is no update."""
    return f"{name}: up to date"


def refused(name: str, faults: str, *, is_update: bool) -> str:
    """Say why a skill cannot be installed or updated."""
    return f"{name} was not {'updated' if is_update else 'installed'}: {faults}"


def may_install(name: str, *, is_update: bool) -> str:
    """Ask whether to install or update a skill."""
    action = "Update" if is_update else "Install"
    return f"{action} {name}? The agent will follow its text as if you had written it. [y/N] "


def installed(name: str, *, is_update: bool) -> str:
    """Confirm that a skill was installed or updated."""
    return f"{name} is {'updated' if is_update else 'installed'}."


def new_version(old: str, new: str) -> str:
    """Return the installed and the new version of a skill of a tap."""
    return f"version {old} → {new}"


def new_commit(old: str, new: str) -> str:
    """Return the installed and the new commit of a skill."""
    return f"commit {old} → {new}"


def mode_changed(*, is_executable: bool) -> str:
    """Say that a file became executable or no longer is."""
    return "(now executable)" if is_executable else "(no longer executable)"


def line_cut(characters: int) -> str:
    """Return the marker at the end of a truncated line."""
    return f" … +{characters:,} characters"


def diff_cut(lines: int) -> str:
    """Say that a diff is not shown in full."""
    return f"+{counted(lines, 'line')}; read them in the quarantine folder"


def from_source(source: str, commit: str = "") -> str:
    """Say where a skill was downloaded from."""
    return f"from {source}, commit {commit}" if commit else f"from {source}"


def in_quarantine(path: str) -> str:
    """Say where a downloaded skill waits for approval."""
    return f"in quarantine at {path}"


def file_line(path: str, size: int, *, is_program: bool) -> str:
    """Describe a file of a downloaded skill; the size is in bytes."""
    return f"{path}, {counted(size, 'byte')}{' (a program)' if is_program else ''}"


def capability(text: str, *, is_new: bool) -> str:
    """Describe a capability of a downloaded skill; `is_new` means that the installed version lacks it."""
    return f"can use: {text}{', which the installed version cannot' if is_new else ''}"


def audited(name: str, state: str, source: str, when: str, commit: str = "") -> str:
    """Return the result of an audit."""
    at = f" at {commit}" if commit else ""
    return f"{name}: {state} ({source}{at}, {when})"
