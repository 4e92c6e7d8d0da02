"""What can be told of a command whose files are on a machine that cannot be looked at.

Knows: which programs do the same whatever lies in their folder, and show no more of it than names. Does not know: how
commands get to a machine elsewhere.
A link there may lead to a key, a pattern fit one, a repository's configuration start a program.
"""

from typing import Final

from hermes_acp.policy.shell.commands import Command
from hermes_acp.policy.shell.readings import Reading
from hermes_acp.policy.shell.tables import Habit, tables

FAR: Final = "what it would find is not known, as its files are on another machine"


def unseen_mistake(command: Command, reading: Reading) -> str:
    """Say why a command that seems to just read may do more with files that nobody looked at; empty for none."""
    habit = tables().habit(command.program)
    if reading.is_listing or command.program == "cd":
        return ""
    if habit is None or _goes_by_files(habit):
        return FAR
    if habit.tells == "always":
        return FAR if any(word.text == habit.starts for word in command.args) else ""
    return FAR if reading.paths or reading.beneath else ""


def _goes_by_files(habit: Habit) -> bool:
    """Tell whether a program looks in its folder for what it is to do, as git does."""
    return habit.globals is not None or bool(habit.guards or habit.imports) or habit.is_fed
