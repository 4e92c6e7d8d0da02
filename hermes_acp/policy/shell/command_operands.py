"""A command's operands, as the table of its program has them.

Knows: how operands of each kind are checked, which of them are files. Does not know: flags, which paths may be read.
"""

import os
import re
from typing import Final

from hermes_acp.policy.names import secret_fitting
from hermes_acp.policy.shell.arguments import Arguments
from hermes_acp.policy.shell.exposure import EXCLUSION
from hermes_acp.policy.shell.languages import is_harmless
from hermes_acp.policy.shell.places import paths_of, widened
from hermes_acp.policy.shell.readings import Reading
from hermes_acp.policy.shell.tables import Habit
from hermes_acp.policy.shell.variables import is_own
from hermes_acp.policy.shell.words import Word

OLD_PS: Final = re.compile(r"[afluwx]+")
SECRET_KEY: Final = re.compile(r"extraheader|credential|password|token|secret", re.IGNORECASE)


def count_mistake(name: str, habit: Habit, found: Arguments) -> str:
    """Say whether there are too few or too many operands, or a flag is missing; empty where all is well."""
    number = len(found.operands)
    if number < habit.least or (habit.most is not None and number > habit.most):
        return f"{name} with {number} operands may do more than read"
    needs = habit.needs.split()
    is_needed = bool(needs) and (number > 0 or not habit.needs_for_operands)
    if is_needed and not any(set(each.split("+")) <= set(found.flags) for each in needs):
        return f"{name} without {' or '.join(needs).replace('+', ' ')} may do more than read"
    return ""


def read_operands(name: str, habit: Habit, found: Arguments, cwds: tuple[str, ...]) -> Reading:
    """Judge the operands, and give what of them is read."""
    parted = _part_scripts(name, habit, found)
    if isinstance(parted, str):
        return Reading(parted)
    scripts, operands = parted
    if why := _operand_mistake(name, habit, operands):
        return Reading(why)
    paths = list(found.paths)
    if habit.may_name_file:
        paths += (word for word in scripts if _is_there(word, cwds))
    if habit.operands in ("paths", "folders", "script", "database"):
        paths += [word for word in operands if word.text != "-"]
    elif habit.operands in ("revisions", "pattern and revisions"):
        named = [word for word in operands if not EXCLUSION.fullmatch(word.text or "")]
        paths += [Word(word.raw, _path_in_revision(word.text or ""), word.globs) for word in named]
    elif name == "tar" and any(":" in (path.text or "") for path in paths):
        return Reading("tar would ask another machine")
    read: list[str] = []
    for path in paths:
        places = paths_of(path, cwds)
        if places is None:
            return Reading(f"which files {path.raw[:60]} names is not known")
        if path.globs and habit.shows == "contents" and (secret := secret_fitting(widened(path.text or ""))):
            return Reading(f"{path.raw[:60]} fits {secret}, which usually holds secrets")
        read += places
    stray = next((path for path in read if habit.operands == "folders" and not os.path.isdir(path)), "")
    if stray:
        return Reading(f"{name} {stray[:60]} may do more than read")
    flags = set(found.flags)
    is_deep = habit.deep == "always" or bool(set(habit.deep.split()) & flags)
    folders = (tuple(read[len(found.paths) :]) or cwds) if is_deep and not _stands_alone(habit, found) else ()
    if habit.shows == "public":
        read = [os.path.dirname(path) for path in read]
    is_listing = habit.shows == "names" and not flags & {"-R", "--recursive"}
    wanted = habit.names.split()
    patterns = [value for flag, value in found.values if flag in wanted and not value.startswith("!")]
    if habit.tells == "always" and habit.language == "pattern":
        patterns += (script.text or "" for script in scripts)
    return Reading(
        paths=tuple(read),
        beneath=folders,
        patterns=tuple(patterns),
        is_narrow=not habit.single,
        skips_hidden=habit.skips_hidden and flags.isdisjoint(habit.unhides.split()),
        is_listing=is_listing,
    )


def _is_there(word: Word, cwds: tuple[str, ...]) -> bool:
    return any(os.path.lexists(os.path.join(cwd, word.text or "")) for cwd in cwds)


def _stands_alone(habit: Habit, found: Arguments) -> bool:
    return not set(habit.stands_alone.split()).isdisjoint(found.flags)


def _part_scripts(name: str, habit: Habit, found: Arguments) -> tuple[list[Word], list[Word]] | str:
    """Give the scripts and patterns, all harmless, and the other operands; or why one is not."""
    scripts, operands = list(found.scripts), list(found.operands)
    if habit.operands == "database":
        scripts, operands = operands[1:], operands[:1]
    elif habit.operands in ("script", "pattern and revisions"):
        is_given = scripts or (found.paths and habit.language == "pattern") or _stands_alone(habit, found)
        if not is_given:
            scripts, operands = operands[:1], operands[1:]
            if not scripts:
                return f"{name} without a script or pattern makes no sense"
    for script in scripts:
        is_known = script.text is not None and (habit.language == "pattern" or not script.globs)
        if not is_known or not is_harmless(script.text or "", habit.language):
            return f"the script of {name} may do more than read"
    return scripts, operands


def _operand_mistake(name: str, habit: Habit, operands: list[Word]) -> str:
    texts = [word.text or "" for word in operands]
    wrong = next((text for text in texts if habit.refuses and re.match(habit.refuses, text)), "")
    match habit.operands:
        case _ if wrong:
            pass
        case "none" if operands:
            wrong = texts[0]
        case "paths" | "folders" | "script" | "database" if any("://" in text for text in texts):
            wrong = next(text for text in texts if "://" in text)
        case "paths" if name == "cd":
            wrong = next((text for text in texts if text.startswith("-")), "")
            wrong = next((word.raw for word in operands if word.globs), wrong)
        case "variables":
            wrong = next((text for text in texts if not is_own(text)), "")
        case "plus":
            wrong = next((text for text in texts if not text.startswith("+")), "")
        case "ps":
            wrong = next((text for text in texts if not OLD_PS.fullmatch(text)), "")
        case "words":
            wrong = next((text for text in texts if text not in habit.words and "stash@{" not in text), "")
        case "revisions" | "pattern and revisions":
            odd = (text for text in texts if text.startswith(":") and not EXCLUSION.fullmatch(text))
            wrong = next(odd, "")
        case _:
            if name == "git config":
                wrong = next((text for text in texts if SECRET_KEY.search(text) or "." not in text), "")
            told = operands[:1] if habit.language == "format" else operands
            for word in told if habit.operands == "text" else ():
                if word.globs or not is_harmless(word.text or "", habit.language):
                    wrong = word.raw
    return f"{name} {wrong[:60]} may do more than read" if wrong else ""


def _path_in_revision(text: str) -> str:
    """Give the path of `revision:path`, or the word itself, which may be a path."""
    return text.rpartition(":")[2] or text
