"""Check whether a command goes beyond a rule that allows its first words.

A rule such as `allow: git` means ordinary use of git, not every option that makes git run something else.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from hermes_acp.policy.shell.parsing.shell_words import Word
from hermes_acp.policy.shell.parsing.simple_command import Command
from hermes_acp.policy.shell.program_tables import ProgramHazard, load_tables
from hermes_acp.policy.shell.script_languages import is_harmless


def find_hazard(command: Command, covered: int) -> str:
    """Return what in a command goes beyond a rule for its first `covered` words, or an empty string if nothing does."""
    table, program = load_tables(), command.program
    words = command.args
    rest = words[max(0, covered - 1) :]
    head = " ".join((program, *(word.text or "" for word in words[:1])))
    hazard = table.hazards.get(head if covered > 1 and head in table.hazards else program)
    if hazard is None:
        is_wrapper = program in table.wrappers.words or program in table.wrappers.scripts
        names_what = any(not (word.text or "-").startswith("-") for word in words[: max(0, covered - 1)])
        return f"{program} starts other programs" if is_wrapper and not names_what else ""
    named = {word.text for word in words[: max(0, covered - 1)]}
    found = next((word.raw for word in rest if word.text not in named and is_hazardous(word, hazard)), "")
    if not found and hazard.script and not _has_plain_script(rest, hazard):
        found = "its script"
    return f"{program} with {found[:60]} is not covered by the rule" if found else ""


def is_hazardous(word: Word, hazard: ProgramHazard) -> bool:
    """Return whether a single word can make a program run something else."""
    text = word.text
    if text is None:
        return True
    if any(part in text for part in hazard.within):
        return True
    if any(fnmatchcase(text, pattern) for pattern in hazard.words):
        return True
    if text.startswith("--"):
        name = text.partition("=")[0]
        return any(flag.startswith(name) for flag in hazard.long if len(name) > 2)
    if text.startswith("-"):
        return any(letter in hazard.letters for letter in text[1:]) or text in hazard.long
    return False


def _has_plain_script(rest: Sequence[Word], hazard: ProgramHazard) -> bool:
    script = next((word.text for word in rest if word.text and not word.text.startswith("-")), None)
    return script is None or is_harmless(script, hazard.script)
