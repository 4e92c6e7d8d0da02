"""A command line judged, step by step.

Knows: the order: taken apart, unwrapped, looked up, traced to paths. Does not know: modes, grants, what a user wrote
into their rules; whether the paths it names may be read or written.
"""

import os
import re
from collections.abc import Iterator
from shlex import quote
from typing import Final

from msgspec import Struct, structs

from hermes_acp.policy.names import holds_secrets, is_protected
from hermes_acp.policy.shell.changes import touched_by
from hermes_acp.policy.shell.commands import Command
from hermes_acp.policy.shell.exposure import shut_beneath
from hermes_acp.policy.shell.footing import footing_of, scripts_of
from hermes_acp.policy.shell.hazards import hazard_in
from hermes_acp.policy.shell.never import ruin_of_command, ruin_of_script
from hermes_acp.policy.shell.places import (
    Surroundings,
    is_inside,
    paths_of,
    resolve,
    shadow_of,
)
from hermes_acp.policy.shell.readings import Reading, secret_sought, tracked_secrets
from hermes_acp.policy.shell.script import read_script
from hermes_acp.policy.shell.started import read_command
from hermes_acp.policy.shell.steps import Step
from hermes_acp.policy.shell.tables import tables
from hermes_acp.policy.shell.variables import setting_mistake
from hermes_acp.policy.shell.words import Word
from hermes_acp.policy.shell.wrappers import Inside, look_inside, unwrap_surely

DEEPEST_SCRIPT: Final = 6
MOST_STEPS: Final = 4_000
MOST_GUESSES: Final = 150
SHOWN_CHARACTERS: Final = 300
PLAIN_EXTRA: Final = re.compile(r"[A-Za-z0-9_./:=,@%+\[\]-]+")
CUT_SHORT: Final = ("it is longer", "it holds more", "it holds too many", "it wraps", "it is nested")
NETWORK_PATH: Final = re.compile(r"/dev/(?:tcp|udp)/([^/]*)")


class Analysis(Struct, frozen=True):
    """Every step of a command line, and what of it is not understood at all; `ruin` is why nobody may allow it."""

    steps: tuple[Step, ...]
    obstacles: tuple[str, ...] = ()
    ruin: str = ""

    @property
    def was_cut_short(self) -> bool:
        """Whether a part of it was not looked at, since there is too much of it."""
        return any(why.startswith(CUT_SHORT) for why in self.obstacles)

    @property
    def is_harmless(self) -> bool:
        """Whether it only reads, as far as its programs go; its paths are judged apart."""
        return not self.obstacles and all(step.judgement == "harmless" for step in self.steps)


def effects_of_command(
    text: str, cwd: str, around: Surroundings, watched: frozenset[str] = frozenset()
) -> Analysis:
    """Judge a command line that begins in `cwd` (absolute, resolved).

    Programs that are `watched` are looked for wherever they might be started, whatever the tables know of them.
    """
    analyst = _Analyst(around, watched)
    analyst.take_script(text, (cwd,), 0)
    return Analysis(tuple(analyst.steps), tuple(dict.fromkeys(analyst.obstacles)), analyst.ruin)


class _Analyst:
    """Collects the steps of one command line and of the scripts inside it."""

    def __init__(self, around: Surroundings, watched: frozenset[str]) -> None:
        self._around = around
        self._watched = watched
        self.steps: list[Step] = []
        self._guesses = 0
        self.obstacles: list[str] = []
        self.ruin = ""

    def take_script(self, text: str, cwds: tuple[str, ...], depth: int) -> None:
        """Judge a text for a shell."""
        if depth > DEEPEST_SCRIPT:
            self.obstacles.append("it wraps commands too deeply")
            return
        script = read_script(text, cwds, self._around.home)
        self.obstacles += script.obstacles
        self.ruin = self.ruin or ruin_of_script(script, text)
        for command in script.commands:
            self._take(command, depth)

    def _take(self, command: Command, depth: int, *, is_guess: bool = False) -> None:
        """Judge one command; a guess is one that a wrapper may start."""
        if len(self.steps) > MOST_STEPS or depth > DEEPEST_SCRIPT:
            self.obstacles.append("it holds too many commands")
            return
        self.ruin = self.ruin or ruin_of_command(command, self._around)
        surely = None if is_guess else unwrap_surely(command)
        if surely and shadow_of(command.program, command.cwds, self._around):
            surely = None
        step = self._outset(command) if surely else self._judge(command)
        step = self._with_redirects(step, command)
        if is_guess and step.judgement == "harmless" and command.program not in self._watched:
            return
        self.steps.append(structs.replace(step, beginning="", origin=None) if is_guess else step)
        if surely:
            self._take(surely, depth + 1)
            return
        if depth >= DEEPEST_SCRIPT:
            return
        inside = look_inside(command)
        if step.judgement != "unknown":
            # What it starts was judged with it; rules on that program count all the same.
            inside = Inside(tuple(each for each in inside.commands if each.program in self._watched))
        for started in inside.commands:
            self._guess(started, depth + 1)
        for script in inside.scripts:
            self.take_script(script, command.cwds, depth + 1)

    def _guess(self, command: Command, depth: int) -> None:
        """Look at what a wrapper may start; only the programs that are known for something are worth a step."""
        self._guesses += 1
        if self._guesses > MOST_GUESSES:
            return
        table = tables()
        known = (
            table.changes.all,
            table.changes.last,
            table.wrappers.words,
            table.wrappers.scripts,
            self._watched,
        )
        self.ruin = self.ruin or ruin_of_command(command, self._around)
        if any(command.program in names for names in known):
            self._take(command, depth, is_guess=True)

    def _outset(self, command: Command) -> Step:
        """Give a step of which nothing is known yet but its words."""
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
        """Judge a command by its program and its words."""
        step = self._outset(command)
        if why := setting_mistake(command):
            return structs.replace(self._unknown(step, command, why), is_plain=False)
        if command.name is None:
            return step
        if command.program == "command" and [word.text for word in command.args[:1]] in (["-v"], ["-V"]):
            is_plain = all(word.text is not None for word in command.args)
            return step if is_plain else self._unknown(step, command, "what it looks up is not known")
        if command.in_word and command.program in tables().tellers.names:
            why = f"what {command.program} tells would become a part of another command"
            return self._unknown(step, command, why)
        reading = read_command(command, self._around)
        if reading.why_not:
            return self._unknown(step, command, reading.why_not)
        if pattern := secret_sought(reading):
            return self._unknown(step, command, f"{pattern[:60]} fits files that usually hold secrets")
        if reading.is_listing:
            return structs.replace(step, lists=reading.paths)
        hidden = [each for each in self._around.shut if each.hides]
        shut = shut_beneath((*reading.beneath, *reading.tracked), hidden)
        if shut is None:
            return self._unknown(
                step, command, "there is too much to see whether rules shut some of what it shows"
            )
        reads = (*reading.paths, *shut, *reading.unnamed, *tracked_secrets(reading))
        return structs.replace(step, reads=reads, passed_over=tuple(_exclusions(reading, command)))

    def _unknown(self, step: Step, command: Command, why: str) -> Step:
        touched = touched_by(command)
        table = tables().wrappers
        starts = command.program in table.words and tables().habit(command.program) is None
        if command.program in table.shells or starts:
            why = f"{why}; {command.program} can start other programs"
        return structs.replace(
            step,
            judgement="unknown",
            why=why,
            reads=tuple(touched.reads),
            writes=tuple(touched.writes),
            deletes=(*touched.deletes, *(shut_beneath(touched.deletes, self._around.shut) or ())),
            hosts=tuple(touched.hosts),
            beginning=self._beginning(command),
            footing=footing_of(command, self._around),
            scripts=scripts_of(command, self._around),
        )

    def _with_redirects(self, step: Step, command: Command) -> Step:
        """Add what the command's redirections read and write."""
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
            beginning="" if len(whys) > bool(step.why) else step.beginning,
            is_plain=step.is_plain and len(whys) == bool(step.why),
        )

    def _beginning(self, command: Command) -> str:
        """Give what may be remembered of a command: its first words, where they can stand for nothing else."""
        plain = [
            word.text for word in command.args if word.is_plain and PLAIN_EXTRA.fullmatch(word.text or "")
        ]
        is_fed = command.is_piped or command.feed is not None or bool(command.assignments)
        if is_fed or len(plain) != len(command.args) or not (command.name and command.name.is_plain):
            return ""
        if not all(self._stays_inside(word, command.cwds) for word in command.args):
            return ""
        words = [command.name.raw, *(word.raw for word in command.args)]
        for name, beginning in tables().beginnings.items():
            length = len(name.split()) + beginning.words
            head = words[:length]
            if words[: len(name.split())] != name.split() or len(head) < length:
                continue
            if any(word.startswith("-") or "=" in word for word in head) or hazard_in(command, length):
                continue
            return " ".join(head)
        return ""

    def _stays_inside(self, word: Word, cwds: tuple[str, ...]) -> bool:
        for part in (word.text or "").split("="):
            for cwd in cwds:
                path = resolve(part, cwd)
                if not is_inside(path, self._around) or is_protected(path) or holds_secrets(path):
                    return False
        return True


def _exclusions(reading: Reading, command: Command) -> Iterator[tuple[str, str]]:
    """Give each file that git would show without its being named, with the words that leave it out."""
    behind = "" if any(word.text == "--" for word in command.args) else "-- "
    for path in reading.unnamed if len(command.cwds) == 1 else ():
        yield path, behind + quote(f":!{os.path.relpath(path, command.cwds[0])}")
