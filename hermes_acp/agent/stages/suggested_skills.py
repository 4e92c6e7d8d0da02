"""Suggest skills that match the prompt in a note, without changing the frozen prompt.

Only the first step waits for the search, and only briefly.
"""

from typing import Final

from hermes_acp.agent.turn.turn import Stage, Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.core.events import NoteAdded, Noticed
from hermes_acp.core.messages import UserMessage, words_in
from hermes_acp.core.ports.skill_ports import SkillSuggester

FIRST_WAIT_S: Final = 0.4
MIN_PROMPT_CHARACTERS: Final = 12
LOADS: Final = "skill"
NAMED: Final = (
    "[The user's request resembles {which}. If it applies, load it with the tool skill before you start; otherwise "
    "ignore this:\n{lines}]"
)


def skill_suggestion_stages(suggester: SkillSuggester) -> tuple[Stage, Stage]:
    """Return two stages: one starts the search at the start of a turn, the other adds the note."""

    async def start_skill_search(turn: Turn) -> Ending | None:
        """Start a search for skills that match the prompt."""
        words = "" if turn.depth or LOADS not in turn.deps.toolbox.names else _asked(turn)
        if len(words) >= MIN_PROMPT_CHARACTERS and not words.startswith("/"):
            record = turn.record
            suggester.look(record.session_id, turn.workspace, turn.deps.redactor.clean(words), record.surface)
        return None

    async def name_fitting_skills(turn: Turn) -> Ending | None:
        """Add a note that lists the skills found."""
        if turn.depth:
            return None
        found = await suggester.fitting(turn.record.session_id, 0.0 if turn.spent.steps else FIRST_WAIT_S)
        if found:
            lines = "\n".join(f"- {each.name}: {each.about}" for each in found)
            resembled = (
                "what these skills are for, most likely first" if len(found) > 1 else "what this skill is for"
            )
            turn.emit(NoteAdded(NAMED.format(which=resembled, lines=turn.deps.redactor.clean(lines))))
        if likely := [each.name for each in found if each.is_likely]:
            which = "This skill" if len(likely) == 1 else "These skills"
            turn.emit(Noticed("info", f"{which} may fit: {', '.join(likely)}."))
        return None

    return start_skill_search, name_fitting_skills


def _asked(turn: Turn) -> str:
    """Return the text of the turn's prompt, or an empty string if the turn resumes an earlier one."""
    for message in reversed(turn.record.messages):
        if not isinstance(message, UserMessage):
            return ""
        if message.origin == "user":
            return words_in(message.parts, "\n").strip()
    return ""
