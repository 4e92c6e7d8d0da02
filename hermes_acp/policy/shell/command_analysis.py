"""Analyse a command line step by step: parse and unwrap it, look up programs, and resolve words to paths."""

import os
import re
from collections.abc import Iterator
from shlex import quote
from typing import Final

from msgspec import Struct, structs

from hermes_acp.policy.sensitive_names import holds_secrets, is_protected
from hermes_acp.policy.shell.command_dependencies import dependencies_of, script_files_of
from hermes_acp.policy.shell.command_effects import paths_touched_by
from hermes_acp.policy.shell.command_hazards import find_hazard
from hermes_acp.policy.shell.command_paths import (
    ShellEnvironment,
    is_inside,
    paths_of,
    resolve,
    workspace_program,
)
from hermes_acp.policy.shell.command_step import Step
from hermes_acp.policy.shell.command_variables import assignment_mistake
from hermes_acp.policy.shell.command_wrappers import WrappedCommands, possible_commands, unwrap_plain
from hermes_acp.policy.shell.destructive_commands import destruction_by_command, destruction_by_script
from hermes_acp.policy.shell.parsing.script_parser import parse_script
from hermes_acp.policy.shell.parsing.shell_words import Word
from hermes_acp.policy.shell.parsing.simple_command import Command
from hermes_acp.policy.shell.program_tables import load_tables
from hermes_acp.policy.shell.read_access import ReadAccess, searched_secret, tracked_secrets
from hermes_acp.policy.shell.secret_exposure import denied_beneath
from hermes_acp.policy.shell.started_programs import access_of_command

MAX_SCRIPT_DEPTH: Final = 6
MAX_STEPS: Final = 4_000
MAX_GUESSES: Final = 150
SHOWN_CHARACTERS: Final = 300
PLAIN_EXTRA: Final = re.compile(r"[A-Za-z0-9_./:=,@%+\[\]-]+")
CUT_SHORT: Final = ("it is longer", "it contains more", "it contains too many", "it wraps", "it is nested")
NETWORK_PATH: Final = re.compile(r"/dev/(?:tcp|udp)/([^/]*)")


class CommandAnalysis(Struct, frozen=True):
    """The steps of a command line and what was not understood; `destruction` says why it is never allowed."""

    steps: tuple[Step, ...]
    obstacles: tuple[str, ...] = ()
    destruction: str = ""

    @property
    def was_cut_short(self) -> bool:
        """Whether part of it was not analysed because the command line is too long."""
        return any(why.startswith(CUT_SHORT) for why in self.obstacles)

    @property
    def is_harmless(self) -> bool:
        """Whether all of its programs only read; paths are checked separately."""
        return not self.obstacles and all(step.judgement == "harmless" for step in self.steps)


def analyze_command(
    text: str, cwd: str, environment: ShellEnvironment, watched: frozenset[str] = frozenset()
) -> CommandAnalysis:
    """Analyse a command line that starts in `cwd` (absolute, resolved).

    Programs in `watched` are looked for wherever they might be started, whatever the tables say.
    """
    analyst = _Analyzer(environment, watched)
    analyst.add_script(text, (cwd,), 0)
    return CommandAnalysis(tuple(analyst.steps), tuple(dict.fromkeys(analyst.obstacles)), analyst.destruction)


class _Analyzer:
    """Collects the steps of one command line and of the scripts inside it."""

    def __init__(self, environment: ShellEnvironment, watched: frozenset[str]) -> None:
        self._environment = environment
        self._watched = watched
        self.steps: list[Step] = []
        self._guesses = 0
        self.obstacles: list[str] = []
        self.destruction = ""

    def add_script(self, text: str, cwds: tuple[str, ...], depth: int) -> None:
        """Analyse a text that a shell would run."""
        if depth > MAX_SCRIPT_DEPTH:
            self.obstacles.append("it wraps commands too deeply")
            return
        script = parse_script(text, cwds, self._environment.home)
        self.obstacles += script.obstacles
        self.destruction = self.destruction or destruction_by_script(script, text)
        for command in script.commands:
            self._take(command, depth)

    def _take(self, command: Command, depth: int, *, is_guess: bool = False) -> None:
        """Analyse one command; `is_guess` marks one that a wrapper may start."""
        if len(self.steps) > MAX_STEPS or depth > MAX_SCRIPT_DEPTH:
            self.obstacles.append("it contains too many commands")
            return
        self.destruction = self.destruction or destruction_by_command(command, self._environment)
        surely = None if is_guess else unwrap_plain(command)
        if surely and workspace_program(command.program, command.cwds, self._environment):
            surely = None
        step = self._unclassified_step(command) if surely else self._judge(command)
        step = self._with_redirects(step, command)
        if is_guess and step.judgement == "harmless" and command.program not in self._watched:
            return
        self.steps.append(structs.replace(step, prefix="", origin=None) if is_guess else step)
        if surely:
            self._take(surely, depth + 1)
            return
        if depth >= MAX_SCRIPT_DEPTH:
            return
        inside = possible_commands(command)
        if step.judgement != "unknown":
            # Whatever the program starts has been analysed with it, but rules for watched programs still apply.
            inside = WrappedCommands(tuple(each for each in inside.commands if each.program in self._watched))
        for started in inside.commands:
            self._guess(started, depth + 1)
        for script in inside.scripts:
            self.add_script(script, command.cwds, depth + 1)

    def _guess(self, command: Command, depth: int) -> None:
        """Analyse what a wrapper may start; only programs in the tables become steps."""
        self._guesses += 1
        if self._guesses > MAX_GUESSES:
            return
        table = load_tables()
        known = (
            table.changes.all,
            table.changes.last,
            table.wrappers.words,
            table.wrappers.scripts,
            self._watched,
        )
        self.destruction = self.destruction or destruction_by_command(command, self._environment)
        if any(command.program in names for names in known):
            self._take(command, depth, is_guess=True)

    def _unclassified_step(self, command: Command) -> Step:
        """Return a step of which only the words are known so far."""
        named = (command.name, *command.args) if command.name else ()
        return Step(
            command.text[:SHOWN_CHARACTERS],
            command.program,
            "harmless",
            words=tuple(word.text for word in named),
            is_plain=all(word.text is not None and not word.oddity for word in named)
            and bool(command.name and command.name.is_plain),
            origin=command,
        )

    def _judge(self, command: Command) -> Step:
        """Classify a command by its program and its arguments."""
        step = self._unclassified_step(command)
        if why := assignment_mistake(command):
            return structs.replace(self._unknown(step, command, why), is_plain=False)
        if command.name is None:
            return step
        if command.program == "command" and [word.text for word in command.args[:1]] in (["-v"], ["-V"]):
            is_plain = all(word.text is not None for word in command.args)
            return (
                step if is_plain else self._unknown(step, command, "what it looks up is not known in advance")
            )
        if command.in_word and command.program in load_tables().tellers.names:
            why = f"the output of {command.program} would become part of another command"
            return self._unknown(step, command, why)
        reading = access_of_command(command, self._environment)
        if reading.why_not:
            return self._unknown(step, command, reading.why_not)
        if pattern := searched_secret(reading):
            return self._unknown(step, command, f"{pattern[:60]} matches files that usually contain secrets")
        if reading.is_listing:
            return structs.replace(step, lists=reading.paths)
        hidden = [each for each in self._environment.shut if each.hides]
        shut = denied_beneath((*reading.beneath, *reading.tracked), hidden)
        if shut is None:
            return self._unknown(
                step, command, "there are too many files to check them all against the rules"
            )
        reads = (*reading.paths, *shut, *reading.unnamed, *tracked_secrets(reading))
        return structs.replace(step, reads=reads, passed_over=tuple(_exclusions(reading, command)))

    def _unknown(self, step: Step, command: Command, why: str) -> Step:
        touched = paths_touched_by(command)
        table = load_tables().wrappers
        starts = command.program in table.words and load_tables().program_spec(command.program) is None
        if command.program in table.shells or starts:
            why = f"{why}; {command.program} can start other programs"
        return structs.replace(
            step,
            judgement="unknown",
            why=why,
            reads=tuple(touched.reads),
            writes=tuple(touched.writes),
            deletes=(*touched.deletes, *(denied_beneath(touched.deletes, self._environment.shut) or ())),
            hosts=tuple(touched.hosts),
            prefix=self._prefix(command),
            dependencies=dependencies_of(command, self._environment),
            scripts=script_files_of(command, self._environment),
        )

    def _with_redirects(self, step: Step, command: Command) -> Step:
        """Add the files that the command's redirections read and write."""
        reads, writes, hosts, whys = (
            [*step.reads],
            [*step.writes],
            [*step.hosts],
            [step.why] if step.why else [],
        )
        for redirect in command.redirects:
            target = redirect.target
            if target is None:
                continue
            if target.text and (network := NETWORK_PATH.match(target.text)):
                hosts.append(network[1])
                whys.append(f"{target.text} is a connection to another machine")
                continue
            places = None if target.globs else paths_of(target, command.cwds)
            if places is None:
                whys.append(f"where {redirect.operator} {target.raw[:60]} leads is not known")
            elif redirect.operator in ("<", "<&"):
                reads += places
            else:
                writes += places
        return structs.replace(
            step,
            judgement="unknown" if whys else step.judgement,
            why="; ".join(whys),
            reads=tuple(dict.fromkeys(reads)),
            writes=tuple(dict.fromkeys(writes)),
            hosts=tuple(dict.fromkeys(hosts)),
            prefix="" if len(whys) > bool(step.why) else step.prefix,
            is_plain=step.is_plain and len(whys) == bool(step.why),
        )

    def _prefix(self, command: Command) -> str:
        """Return the part of a command that may be remembered: its first words, if they are unambiguous."""
        plain = [
            word.text for word in command.args if word.is_plain and PLAIN_EXTRA.fullmatch(word.text or "")
        ]
        is_fed = command.is_piped or command.feed is not None or bool(command.assignments)
        if is_fed or len(plain) != len(command.args) or not (command.name and command.name.is_plain):
            return ""
        if not all(self._is_inside_roots(word, command.cwds) for word in command.args):
            return ""
        words = [command.name.raw, *(word.raw for word in command.args)]
        for name, prefix in load_tables().beginnings.items():
            length = len(name.split()) + prefix.words
            head = words[:length]
            if words[: len(name.split())] != name.split() or len(head) < length:
                continue
            if any(word.startswith("-") or "=" in word for word in head) or find_hazard(command, length):
                continue
            return " ".join(head)
        return ""

    def _is_inside_roots(self, word: Word, cwds: tuple[str, ...]) -> bool:
        for part in (word.text or "").split("="):
            for cwd in cwds:
                path = resolve(part, cwd)
                if not is_inside(path, self._environment) or is_protected(path) or holds_secrets(path):
                    return False
        return True


def _exclusions(reading: ReadAccess, command: Command) -> Iterator[tuple[str, str]]:
    """Yield each file that git would show without being asked for it, with the words that exclude it."""
    behind = "" if any(word.text == "--" for word in command.args) else "-- "
    for path in reading.unnamed if len(command.cwds) == 1 else ():
        yield path, behind + quote(f":!{os.path.relpath(path, command.cwds[0])}")
