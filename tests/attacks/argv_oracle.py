"""Compare the words that the policy predicts with those that bash would pass to programs.

Bash runs without any programs: for each command it does not find, it reports every word and the files on its streams.
It runs in a scratch folder, as nobody if the tests run as root, with limits on file size and time.
"""

import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from hermes_acp.policy.shell.command_analysis import CommandAnalysis, analyze_command
from hermes_acp.policy.shell.command_paths import ShellEnvironment, paths_of, resolve
from hermes_acp.policy.shell.parsing.script_parser import parse_script
from hermes_acp.policy.shell.parsing.shell_words import Word
from hermes_acp.policy.shell.parsing.simple_command import Command
from tests.attacks.argv_words import DASHED_FILES, FILES, ODD_FILES, SEEDS, commands

BATCH: Final = 300
BATCH_TIMEOUT_S: Final = 300
BACKGROUND_TIMEOUT_S: Final = 20
NOBODY: Final = 65_534
LOCALES: Final = ("C.UTF-8", "C")
DRIVER: Final = r"""
ulimit -f 64
[[ $UID == 65534 ]] && ulimit -u 1000
FUNCNEST=20 TMOUT=2
case=0
command_not_found_handle() {
    local stream at=()
    for stream in 0 1 2; do
        for file in "$WORK"/* "$WORK"/sub/*; do
            [[ /proc/self/fd/$stream -ef $file && -f $file ]] && at+=("$file")
        done
    done
    printf '%s\0' "${#at[@]}" "${at[@]}" "$#" "$@" >>"$REPORTS/$case.$BASHPID"
}
while IFS= read -r -d '' text; do
    case=$((case + 1))
    (ulimit -t 2; cd "$WORK" && eval "$text") </dev/null
done
"""


class Run(Struct, frozen=True):
    """One program that bash would have started: its words, and those of the files on its streams."""

    argv: tuple[str, ...]
    files: tuple[str, ...]


class Scene(Struct, frozen=True):
    """A folder with files in it, and a home beside it."""

    work: str
    home: str
    locale: str

    @property
    def around(self) -> ShellEnvironment:
        """Return the environment in which a command is checked."""
        return ShellEnvironment((self.work,), self.home)


@contextmanager
def scratch_folder() -> Generator[Path, None, None]:
    """Create a folder that other users cannot reach, and remove it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def prepare(folder: Path) -> list[Scene]:
    """Create folders with plain, unusual and dash-prefixed names, for every locale."""
    kinds = {"plain": FILES, "odd": FILES + ODD_FILES, "dashed": FILES + DASHED_FILES}
    scenes: list[Scene] = []
    for kind, names in kinds.items():
        # So deep that no sequence of dots leads out of it.
        top = folder / kind / "a" / "b" / "c" / "d"
        for name in names:
            file = top / "work" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("a\n")
        (top / "home").mkdir()
        (top / "home" / "a").write_text("a\n")
        scenes += (Scene(str(top / "work"), str(top / "home"), locale) for locale in LOCALES)
    if os.geteuid() == 0:
        for place, folders, files in os.walk(folder):
            for name in (".", *folders, *files):
                os.chown(os.path.join(place, name), NOBODY, NOBODY)
    return scenes


def runs_of(texts: Sequence[str], scene: Scene) -> list[list[Run]]:
    """Return what bash would run for each text; texts contain no NUL."""
    is_root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as reports:
        Path(reports).chmod(0o777)
        is_open, held_open = os.pipe()
        bash = subprocess.Popen(
            ["/bin/bash", "--norc", "-c", DRIVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**_variables(scene), "REPORTS": reports},
            cwd=scene.work,
            pass_fds=(held_open,),
            start_new_session=True,
            user=NOBODY if is_root else None,
            group=NOBODY if is_root else None,
            extra_groups=() if is_root else None,
        )
        os.close(held_open)
        try:
            bash.communicate(b"".join(text.encode() + b"\0" for text in texts), BATCH_TIMEOUT_S)
            # A process that the command left in the background can still report; the pipe closes with the last one.
            select.select((is_open,), (), (), BACKGROUND_TIMEOUT_S)
        finally:
            os.close(is_open)
            with suppress(ProcessLookupError):
                os.killpg(bash.pid, signal.SIGKILL)
            bash.wait()
        runs: list[list[Run]] = [[] for _ in texts]
        for report in Path(reports).iterdir():
            fields = iter(report.read_bytes().split(b"\0")[:-1])
            for count in fields:
                files = tuple(map(os.fsdecode, islice(fields, int(count))))
                argv = tuple(map(os.fsdecode, islice(fields, int(next(fields)))))
                runs[int(report.stem) - 1].append(Run(argv, files))
    return runs


def _variables(scene: Scene) -> dict[str, str]:
    return {"PATH": f"{scene.home}/none", "HOME": scene.home, "LC_ALL": scene.locale, "WORK": scene.work}


def unforeseen(text: str, runs: Iterable[Run], scene: Scene) -> str:
    """Describe what bash ran that the policy would allow without having predicted it; empty if nothing."""
    analysis = analyze_command(text, scene.work, scene.around)
    if not analysis.is_harmless:
        return ""
    script = parse_script(text, (scene.work,), scene.home)
    for run in runs:
        is_foreseen = any(
            _fits(run.argv, _started(command), cwd)
            for command in script.commands
            if command.name
            for cwd in command.cwds
        )
        if not is_foreseen:
            return f"ran {run.argv!r}"
        if stray := [file for file in run.files if not _names(analysis, file)]:
            return f"opened {stray!r}"
    return ""


def _started(command: Command) -> tuple[Word, ...]:
    """Return a program's words, without the shell's own words before it."""
    words = (command.name, *command.args) if command.name else ()
    return words[1:] if command.program in ("time", "command") else words


def _names(analysis: CommandAnalysis, file: str) -> bool:
    path = os.path.realpath(file)
    return any(path in (*step.reads, *step.writes) for step in analysis.steps)


def _fits(argv: tuple[str, ...], words: tuple[Word, ...], cwd: str) -> bool:
    """Return whether the predicted words can expand to these; an unknown word can expand to any number of words."""
    if not words:
        return not argv
    word, rest = words[0], words[1:]
    if word.text is None:
        return any(_fits(argv[at:], rest, cwd) for at in range(len(argv) + 1))
    if not word.globs:
        known = (word.text,) if not word.raw.startswith("<(") else argv[:1]
        return argv[:1] == known and _fits(argv[1:], rest, cwd)
    places = paths_of(word, (cwd,))
    return any(
        all(each == word.text or places is None or resolve(each, cwd) in places for each in argv[:count])
        and _fits(argv[count:], rest, cwd)
        for count in range(1, len(argv) + 1)
    )


class Tally(Struct):
    """The result of a long comparison."""

    commands: int = 0
    words: int = 0
    unasked: int = 0
    findings: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def add(self, texts: Sequence[str], scene: Scene) -> None:
        """Compare these commands in one folder."""
        for text, runs in zip(texts, runs_of(texts, scene), strict=True):
            self.commands += 1
            self.words += sum(len(run.argv) for run in runs)
            self.unasked += analyze_command(text, scene.work, scene.around).is_harmless
            if mistake := unforeseen(text, runs, scene):
                self.findings.append((text, f"{mistake} ({scene.locale}, {scene.work})"))


def compare(seed: int, words: int) -> Tally:
    """Compare until bash has received this many words, past findings first and in every folder."""
    tally = Tally()
    with scratch_folder() as folder:
        scenes = prepare(folder)
        for scene in scenes:
            tally.add(SEEDS, scene)
        source = commands(seed)
        for scene in cycle(scenes):
            before = tally.words
            if before >= words:
                break
            tally.add(list(islice(source, BATCH)), scene)
            if tally.words == before:
                raise RuntimeError(f"bash ran nothing in {scene.work}")
    return tally
