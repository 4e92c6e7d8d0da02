"""One simple command: a program and its arguments, assignments, redirections and input."""

from pathlib import PurePosixPath

from msgspec import Struct

from hermes_acp.policy.shell.parsing.command_parts import Redirect
from hermes_acp.policy.shell.parsing.shell_words import Word


class Command(Struct, frozen=True):
    """A program and its arguments or, without a `name`, only assignments and redirections.

    `cwds` are the folders in which it may run; `feed` is the text that it is known to read from its input. `is_piped`
    means that another command writes its input: `source`, if there is only one. `in_word` means that its output becomes
    part of another command's word. The output of `told_by`, or one word of it, becomes its last argument.
    """

    name: Word | None
    args: tuple[Word, ...] = ()
    assignments: tuple[tuple[str, str | None], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    cwds: tuple[str, ...] = ()
    is_piped: bool = False
    feed: str | None = None
    source: "Command | None" = None
    in_word: bool = False
    told_by: "Command | None" = None

    @property
    def text(self) -> str:
        """The approximate source text of the command; without a program, its assignments and redirections."""
        words = [word.raw for word in (self.name, *self.args) if word]
        if not words:
            words = [f"{name}={'…' if value is None else value}" for name, value in self.assignments]
            words += (f"{each.operator} {each.target.raw}" for each in self.redirects if each.target)
        return " ".join(words)

    @property
    def program(self) -> str:
        """The program's name without its folder, or an empty string if it is not known."""
        return PurePosixPath(self.name.text).name if self.name and self.name.text else ""


def output_of(command: Command) -> str | None:
    """Return a command's output if it is predictable, that is, the arguments of `echo` or `printf`; else None."""
    if command.program not in ("echo", "printf") or command.redirects:
        return None
    texts = [word.text for word in command.args]
    return " ".join(text for text in texts if text) if all(text is not None for text in texts) else None
