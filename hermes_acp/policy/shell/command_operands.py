"""Check a command's operands against its program's table, and find the files among them."""

import os
import re
from typing import Final

from hermes_acp.policy.sensitive_names import secret_name_matching
from hermes_acp.policy.shell.command_arguments import ParsedArguments
from hermes_acp.policy.shell.command_paths import broadened, paths_of
from hermes_acp.policy.shell.command_variables import is_script_variable
from hermes_acp.policy.shell.parsing.shell_words import Word
from hermes_acp.policy.shell.program_tables import ProgramSpec
from hermes_acp.policy.shell.read_access import ReadAccess
from hermes_acp.policy.shell.script_languages import is_harmless
from hermes_acp.policy.shell.secret_exposure import EXCLUSION

OLD_PS: Final = re.compile(r"[afluwx]+")
SECRET_KEY: Final = re.compile(r"extraheader|credential|password|token|secret", re.IGNORECASE)


def count_mistake(name: str, program_spec: ProgramSpec, found: ParsedArguments) -> str:
    """Describe the mistake if the number of operands is wrong or a flag is missing, else return an empty string."""
    number = len(found.operands)
    if number < program_spec.least or (program_spec.most is not None and number > program_spec.most):
        return f"{name} with {number} operands may do more than read"
    needs = program_spec.needs.split()
    is_needed = bool(needs) and (number > 0 or not program_spec.needs_for_operands)
    if is_needed and not any(set(each.split("+")) <= set(found.flags) for each in needs):
        return f"{name} without {' or '.join(needs).replace('+', ' ')} may do more than read"
    return ""


def read_operands(
    name: str, program_spec: ProgramSpec, found: ParsedArguments, cwds: tuple[str, ...]
) -> ReadAccess:
    """Check the operands, and return what would be read."""
    parted = _part_scripts(name, program_spec, found)
    if isinstance(parted, str):
        return ReadAccess(parted)
    scripts, operands = parted
    if why := _operand_mistake(name, program_spec, operands):
        return ReadAccess(why)
    paths = list(found.paths)
    if program_spec.may_name_file:
        paths += (word for word in scripts if _exists(word, cwds))
    if program_spec.operands in ("paths", "folders", "script", "database"):
        paths += [word for word in operands if word.text != "-"]
    elif program_spec.operands in ("revisions", "pattern and revisions"):
        named = [word for word in operands if not EXCLUSION.fullmatch(word.text or "")]
        paths += [Word(word.raw, _path_in_revision(word.text or ""), word.globs) for word in named]
    elif name == "tar" and any(":" in (path.text or "") for path in paths):
        return ReadAccess("tar would connect to another machine")
    read: list[str] = []
    for path in paths:
        places = paths_of(path, cwds)
        if places is None:
            return ReadAccess(f"the files that {path.raw[:60]} names are not known")
        if (
            path.globs
            and program_spec.shows == "contents"
            and (secret := secret_name_matching(broadened(path.text or "")))
        ):
            return ReadAccess(f"{path.raw[:60]} matches {secret}, which usually contains secrets")
        read += places
    stray = next(
        (path for path in read if program_spec.operands == "folders" and not os.path.isdir(path)), ""
    )
    if stray:
        return ReadAccess(f"{name} {stray[:60]} may do more than read")
    flags = set(found.flags)
    is_deep = program_spec.deep == "always" or bool(set(program_spec.deep.split()) & flags)
    folders = (
        (tuple(read[len(found.paths) :]) or cwds)
        if is_deep and not _stands_alone(program_spec, found)
        else ()
    )
    if program_spec.shows == "public":
        read = [os.path.dirname(path) for path in read]
    is_listing = program_spec.shows == "names" and not flags & {"-R", "--recursive"}
    wanted = program_spec.names.split()
    patterns = [value for flag, value in found.values if flag in wanted and not value.startswith("!")]
    if program_spec.tells == "always" and program_spec.language == "pattern":
        patterns += (script.text or "" for script in scripts)
    return ReadAccess(
        paths=tuple(read),
        beneath=folders,
        patterns=tuple(patterns),
        is_narrow=not program_spec.single,
        skips_hidden=program_spec.skips_hidden and flags.isdisjoint(program_spec.unhides.split()),
        is_listing=is_listing,
    )


def _exists(word: Word, cwds: tuple[str, ...]) -> bool:
    return any(os.path.lexists(os.path.join(cwd, word.text or "")) for cwd in cwds)


def _stands_alone(program_spec: ProgramSpec, found: ParsedArguments) -> bool:
    return not set(program_spec.stands_alone.split()).isdisjoint(found.flags)


def _part_scripts(
    name: str, program_spec: ProgramSpec, found: ParsedArguments
) -> tuple[list[Word], list[Word]] | str:
    """Separate the scripts and patterns from the other operands, or say why one of them is not harmless."""
    scripts, operands = list(found.scripts), list(found.operands)
    if program_spec.operands == "database":
        scripts, operands = operands[1:], operands[:1]
    elif program_spec.operands in ("script", "pattern and revisions"):
        is_given = (
            scripts
            or (found.paths and program_spec.language == "pattern")
            or _stands_alone(program_spec, found)
        )
        if not is_given:
            scripts, operands = operands[:1], operands[1:]
            if not scripts:
                return f"{name} needs a script or a pattern"
    for script in scripts:
        is_known = script.text is not None and (program_spec.language == "pattern" or not script.globs)
        if not is_known or not is_harmless(script.text or "", program_spec.language):
            return f"the script of {name} may do more than read"
    return scripts, operands


def _operand_mistake(name: str, program_spec: ProgramSpec, operands: list[Word]) -> str:
    texts = [word.text or "" for word in operands]
    wrong = next(
        (text for text in texts if program_spec.refuses and re.match(program_spec.refuses, text)), ""
    )
    match program_spec.operands:
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
            wrong = next((text for text in texts if not is_script_variable(text)), "")
        case "plus":
            wrong = next((text for text in texts if not text.startswith("+")), "")
        case "ps":
            wrong = next((text for text in texts if not OLD_PS.fullmatch(text)), "")
        case "words":
            wrong = next(
                (text for text in texts if text not in program_spec.words and "stash@{" not in text), ""
            )
        case "revisions" | "pattern and revisions":
            odd = (text for text in texts if text.startswith(":") and not EXCLUSION.fullmatch(text))
            wrong = next(odd, "")
        case _:
            if name == "git config":
                wrong = next((text for text in texts if SECRET_KEY.search(text) or "." not in text), "")
            told = operands[:1] if program_spec.language == "format" else operands
            for word in told if program_spec.operands == "text" else ():
                if word.globs or not is_harmless(word.text or "", program_spec.language):
                    wrong = word.raw
    return f"{name} {wrong[:60]} may do more than read" if wrong else ""


def _path_in_revision(text: str) -> str:
    """Return the path in `revision:path`, or the word itself, which may be a path."""
    return text.rpartition(":")[2] or text
