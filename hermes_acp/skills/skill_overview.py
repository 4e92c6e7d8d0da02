"""An overview of a place's skills: their origin, state and results. Functions block on disk I/O."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.skills.skill_collection import Skill, SkillCollection
from hermes_acp.skills.skill_usage import SkillUsage, SkillUsageTracker
from hermes_acp.skills.suggestions.lexical_similarity import SimilarSkills
from hermes_acp.storage.version_history import Version

MAX_SIMILAR_PAIRS: Final = 20
WHOSE: Final = MappingProxyType({"workspace": "this workspace", "user": "yours", "builtin": "built in"})


State = Literal["enabled", "not trusted", "not used", "hidden", "archived"]


class SkillLine(Struct, frozen=True):
    """A skill, its state, and the reason. For an unused skill, only its location is known."""

    name: str
    whose: str
    place: str
    state: State
    why: str = ""
    usage: SkillUsage = SkillUsage()
    versions: int = 0
    writer: str = ""


class SkillOverview(Struct, frozen=True):
    """All skills and notes about them."""

    lines: tuple[SkillLine, ...]
    remarks: tuple[str, ...] = ()


def overview(
    collection: SkillCollection,
    usage_tracker: SkillUsageTracker,
    is_trusted: Callable[[Skill], bool],
    similar_skills: Sequence[SimilarSkills],
    findings: Mapping[str, Sequence[str]],
) -> SkillOverview:
    """Build the overview.

    `similar_skills` contains pairs of similar skills; `findings` contains what the scanner blocks, by skill folder.

    Raises StorageError.
    """
    usages = usage_tracker.usages()
    lines = [
        _line(skill, usage_tracker, usages, "enabled" if is_trusted(skill) else "not trusted", findings)
        for skill in collection.skills
    ]
    lines += [SkillLine("", "", each.place, "not used", each.why) for each in collection.unusable]
    lines += [SkillLine("", "", each.place, "hidden", each.why) for each in collection.hidden]
    present = {skill.name for skill in collection.skills}
    for history in usage_tracker.histories():
        newest = history.versions()[-1]
        if newest.is_gone and history.folder.name not in present:
            name = history.folder.name
            lines.append(
                SkillLine(name, "", str(history.folder), "archived", newest.cause.why, versions=newest.number)
            )
    remarks = [
        f"{each.one} and {each.other} are very similar {each.how}: consider merging them."
        for each in similar_skills[:MAX_SIMILAR_PAIRS]
    ]
    if (more := len(similar_skills) - MAX_SIMILAR_PAIRS) > 0:
        remarks.append(f"{more} more pairs are very similar.")
    return SkillOverview(tuple(lines), tuple(remarks))


def _line(
    skill: Skill,
    usage_tracker: SkillUsageTracker,
    usages: Mapping[str, SkillUsage],
    state: State,
    findings: Mapping[str, Sequence[str]],
) -> SkillLine:
    versions = usage_tracker.history(skill.folder).versions()
    return SkillLine(
        skill.name,
        WHOSE[skill.scope],
        skill.label,
        state,
        "; ".join((*skill.mistakes, *findings.get(skill.folder, ()))),
        usages.get(os.path.realpath(skill.folder), SkillUsage()),
        len(versions),
        versions[-1].cause.who if versions else "",
    )


def to_markdown(found: SkillOverview) -> str:
    """Return the overview as Markdown."""
    if not found.lines:
        return "There are no skills. Ask for one, or install one with `hermes-acp skills install`."
    lines = [line_text(line, bold="**") for line in found.lines]
    return "\n".join((*(f"- {line}" for line in lines), *(f"\n{remark}" for remark in found.remarks)))


def line_text(line: SkillLine, *, bold: str = "") -> str:
    """Format a skill as one line."""
    whose = ", ".join(dict.fromkeys(filter(None, (line.whose, line.place))))
    head = f"{bold}{line.name}{bold} ({whose})" if line.whose else f"{bold}{line.name or line.place}{bold}"
    facts = [line.state]
    if line.usage.uses:
        facts.append(_counted(line.usage))
    elif line.state in ("enabled", "not trusted"):
        facts.append("not used yet")
    if line.versions:
        facts.append(f"version {line.versions}{f' by the {line.writer}' if line.writer else ''}")
    return f"{head}: {', '.join(facts)}{f'. {line.why}' if line.why else ''}"


def _counted(usage: SkillUsage) -> str:
    times = "once" if usage.uses == 1 else f"{usage.uses} times"
    failed = f", {usage.failures} failed" if usage.failures else ""
    return f"used {times}{failed}, last on {_day(usage.last_used_at)}"


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))


def describe_version(version: Version) -> str:
    """Format a version as one line with its time, author, session and reason."""
    cause = version.cause
    at = time.strftime("%Y-%m-%d %H:%M", time.localtime(cause.at))
    back = f", back to version {version.returns_to}" if version.returns_to else ""
    what = "archived" if version.is_gone else f"{len(version.files)} files"
    session = f", session {cause.session_id}" if cause.session_id else ""
    return f"{version.number}. {at}, {what}{back}, by the {cause.who}{session}: {cause.why}"
