"""All skills of a place in words: whose each is, whether it can be used, how it did.

Knows: what a person wants to know of their skills. Does not know: who asks, how it is shown. Blocks on the disk.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.knowledge.history import Version
from hermes_acp.knowledge.skills.collection import Collection, Skill
from hermes_acp.knowledge.skills.likeness import Twins
from hermes_acp.knowledge.skills.practice import Practice, Usage

MOST_TWINS: Final = 20
WHOSE: Final = MappingProxyType({"workspace": "this workspace", "user": "yours", "builtin": "built in"})


State = Literal["in use", "not trusted", "not used", "hidden", "put away"]


class Line(Struct, frozen=True):
    """One skill, how it stands, and why. Of one that is not in use there is only its place."""

    name: str
    whose: str
    place: str
    state: State
    why: str = ""
    usage: Usage = Usage()
    versions: int = 0
    writer: str = ""


class Overview(Struct, frozen=True):
    """All of them, and what stands out."""

    lines: tuple[Line, ...]
    remarks: tuple[str, ...] = ()


def overview(
    collection: Collection,
    practice: Practice,
    is_trusted: Callable[[Skill], bool],
    twins: Sequence[Twins],
    findings: Mapping[str, Sequence[str]],
) -> Overview:
    """Gather it; `twins` are skills that are much alike, `findings` what the scanner blocks, by a skill's folder.

    Raises StorageTrouble.
    """
    usages = practice.usages()
    lines = [
        _line(skill, practice, usages, "in use" if is_trusted(skill) else "not trusted", findings)
        for skill in collection.skills
    ]
    lines += [Line("", "", each.place, "not used", each.why) for each in collection.unusable]
    lines += [Line("", "", each.place, "hidden", each.why) for each in collection.hidden]
    present = {skill.name for skill in collection.skills}
    for history in practice.histories():
        newest = history.versions()[-1]
        if newest.is_gone and history.folder.name not in present:
            name = history.folder.name
            lines.append(
                Line(name, "", str(history.folder), "put away", newest.cause.why, versions=newest.number)
            )
    remarks = [
        f"{each.one} and {each.other} are much alike {each.how}: could they be one?"
        for each in twins[:MOST_TWINS]
    ]
    if (more := len(twins) - MOST_TWINS) > 0:
        remarks.append(f"{more} more pairs are much alike.")
    return Overview(tuple(lines), tuple(remarks))


def _line(
    skill: Skill,
    practice: Practice,
    usages: Mapping[str, Usage],
    state: State,
    findings: Mapping[str, Sequence[str]],
) -> Line:
    versions = practice.history(skill.folder).versions()
    return Line(
        skill.name,
        WHOSE[skill.scope],
        skill.label,
        state,
        "; ".join((*skill.mistakes, *findings.get(skill.folder, ()))),
        usages.get(os.path.realpath(skill.folder), Usage()),
        len(versions),
        versions[-1].cause.who if versions else "",
    )


def told(found: Overview) -> str:
    """Give it as Markdown."""
    if not found.lines:
        return "There are no skills. Ask for one, or install one with `hermes-acp skills install`."
    lines = [line_text(line, bold="**") for line in found.lines]
    return "\n".join((*(f"- {line}" for line in lines), *(f"\n{remark}" for remark in found.remarks)))


def line_text(line: Line, *, bold: str = "") -> str:
    """Give one skill in a line."""
    whose = ", ".join(dict.fromkeys(filter(None, (line.whose, line.place))))
    head = f"{bold}{line.name}{bold} ({whose})" if line.whose else f"{bold}{line.name or line.place}{bold}"
    facts = [line.state]
    if line.usage.uses:
        facts.append(_counted(line.usage))
    elif line.state in ("in use", "not trusted"):
        facts.append("never used")
    if line.versions:
        facts.append(f"version {line.versions}{f' by the {line.writer}' if line.writer else ''}")
    return f"{head}: {', '.join(facts)}{f'. {line.why}' if line.why else ''}"


def _counted(usage: Usage) -> str:
    times = "once" if usage.uses == 1 else f"{usage.uses} times"
    failed = f", {usage.failures} failed" if usage.failures else ""
    return f"used {times}{failed}, last on {_day(usage.last_used_at)}"


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))


def version_text(version: Version) -> str:
    """Give one version in a line: when, who, in which session, why."""
    cause = version.cause
    at = time.strftime("%Y-%m-%d %H:%M", time.localtime(cause.at))
    back = f", back to version {version.returns_to}" if version.returns_to else ""
    what = "put away" if version.is_gone else f"{len(version.files)} files"
    session = f", session {cause.session_id}" if cause.session_id else ""
    return f"{version.number}. {at}, {what}{back}, by the {cause.who}{session}: {cause.why}"
