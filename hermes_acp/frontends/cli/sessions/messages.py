"""Messages of `hermes-acp sessions export` and `hermes-acp sessions import`."""

from collections.abc import Sequence
from typing import Final

from hermes_acp.frontends.cli.messages.word_forms import counted

EXPORT_HELP: Final = "write sessions for reading or as data sets, with secrets masked"
EXPORT_EPILOG: Final = (
    "markdown, html and json contain one session each. atif (trajectories), messages and sharegpt (conversations) and "
    "dpo (pairs of answers) are data sets: names are replaced, and you see what a data set contains before you are "
    "asked whether to write it."
)
ALL_HELP: Final = "export all sessions"
FORMAT_HELP: Final = "default: markdown"
UNTRUSTED_HELP: Final = "also export untrusted text in data sets: web pages and results of MCP servers"
IMPORT_HELP: Final = "add sessions from a file of ATIF trajectories"
IMPORT_FILE_HELP: Final = "a trajectory as JSON, or several, one per line"
IMPORT_CWD_HELP: Final = "the folder in which imported sessions continue (default: the working directory)"
NO_IDS: Final = "No sessions were named."
NO_IDS_HINT: Final = "Pass IDs, as `hermes-acp sessions list` prints them, or --all."
ONE_HINT: Final = "Export them one by one, or as --format atif, messages, sharegpt or dpo."
NEEDS_FILE: Final = "A data set is written to a file, not to standard output."
NEEDS_FILE_HINT: Final = "Add --out FILE."
NEEDS_YES: Final = "Exporting a data set needs your approval, but there is no terminal to ask in."
NEEDS_YES_HINT: Final = "Look at the numbers above, then add --yes."
NOTHING_WRITTEN: Final = "Nothing was written."
QUESTION: Final = 'Type "yes" to write it: '
ANSWER: Final = "yes"
TOO_LARGE_HINT: Final = "Split it: trajectories, one per line, can be spread over several files."


def several_readable(form: str) -> str:
    """Return the error for several sessions in a format that holds one."""
    return f"--format {form} exports one session at a time."


def is_a_folder(file: str) -> str:
    """Return the error for a folder where a file is expected."""
    return f"{file} is a folder."


def contents(sessions: int, children: int, prompts: int, answers: int, tool_calls: int) -> str:
    """Describe the content of a data set."""
    below = f" with {counted(children, 'child agent')}" if children else ""
    return (
        f"{counted(sessions, 'session')}{below}: {counted(prompts, 'prompt')}, {counted(answers, 'answer')}, "
        f"{counted(tool_calls, 'tool call')}."
    )


def records(form: str, number: int, unpaired: int) -> str:
    """Count the records of a format."""
    more = f" {counted(unpaired, 'decision')} without a counterpart." if form == "dpo" else ""
    return f"{counted(number, 'record')} in the format {form}.{more}"


def replaced(secrets: int, names: int, masks: int) -> str:
    """Count the replacements. `masks` is the number of masked secrets in the file."""
    recorded = (
        f" The file contains {counted(masks, 'masked secret')}, including those masked when they were recorded."
        if masks
        else ""
    )
    return f"Masked now: {counted(secrets, 'secret')}.{recorded} Replaced: {counted(names, 'name')} and home folders."


def untrusted(left_out: int, *, is_included: bool) -> str:
    """Describe how text written by others is handled."""
    if is_included:
        return "Web pages and results of MCP servers are included: text that other people wrote."
    return f"Left out: {counted(left_out, 'result')} with untrusted text (--include-untrusted)."


def models(named: Sequence[str]) -> str:
    """Name the models whose answers are in a data set."""
    return f"Answers from {', '.join(named)}." if named else "No answers from a model."


def images(number: int) -> str:
    """Warn that images are not masked."""
    return f"{counted(number, 'image')} included unchanged: nothing in images is masked."


def damaged(number: int) -> str:
    """Warn about damaged records."""
    return f"{counted(number, 'session')} with a damaged record: exported up to the damage."


def running(number: int) -> str:
    """Warn about turns that have not ended."""
    return f"{counted(number, 'session')} with an unfinished turn: exported up to the last event."


PROMPT_INCLUDED: Final = (
    "The file includes prompts, the system prompt with your context files, and what the agent read in your files. Read "
    "it before you share it."
)


def written(file: str, size_bytes: int, manifest: str) -> str:
    """Confirm an export."""
    return f"Wrote {file} ({size_bytes:,} bytes). {manifest} describes its contents."


def imported(session_id: str, children: int) -> str:
    """Confirm an import."""
    below = f" with {counted(children, 'child agent')}" if children else ""
    return f"Imported {session_id}{below}."


def import_unreadable(file: str, reason: str) -> str:
    """Return the error for a file that cannot be read."""
    return f"{file} cannot be read: {reason}."


def import_too_large(file: str, most: int) -> str:
    """Return the error for a file that is too large."""
    return f"{file} is larger than {most >> 20:,} MiB."


def not_importable(file: str, reason: str) -> str:
    """Return the error for a file that is not a trajectory."""
    return f"{file} cannot be imported. {reason}"


def already_there(session_id: str) -> str:
    """Return the error for a session that already exists."""
    return f"There is already a session {session_id!r}."


ALREADY_THERE_HINT: Final = "Delete it first, or import into another home (HERMES_HOME)."
PAGE: Final = """<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }}
h2 {{ border-top: 1px solid; padding-top: 1rem; }}
pre {{ overflow-x: auto; padding: 0.75rem; border: 1px solid; border-radius: 4px; }}
code {{ font-family: ui-monospace, monospace; font-size: 0.9em; }}
</style>
</head>
<body>
{body}</body>
</html>
"""
"""A session as a page, without scripts or anything loaded from elsewhere."""
