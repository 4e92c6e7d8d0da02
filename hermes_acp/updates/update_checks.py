"""Check a new version before it is used: its command, its `doctor`, and a trial turn."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from hermes_acp.config.installation import command_of
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.updates.update_errors import UpdateFailed
from hermes_acp.updates.update_programs import Finished, Progress, run_program

DOCTOR_TIMEOUT_S: Final = 600.0
TRIAL_TIMEOUT_S: Final = 300.0
TOO_OLD: Final = "It is too old for `hermes-acp update`: install it with pip."


class _Finding(Struct):
    check: str
    level: str
    text: str = ""


class _Report(Struct):
    findings: list[_Finding]


class UpdateChecks:
    """Runs the checks of one update with the user's settings and stored data."""

    def __init__(self, cwd: Path, variables: Mapping[str, str], progress: Progress) -> None:
        self._cwd = cwd
        self._variables = variables
        self._progress = progress

    async def check(self, environment: Path, version: str, current: Path) -> None:
        """Check the version in an environment; `current` is the command in use. Raises UpdateFailed."""
        command = command_of(environment)
        self._progress.step("start", version)
        await self.check_start(command, version)
        self._progress.step("doctor", version)
        await self._compare_doctors(command, current)
        self._progress.step("trial", version)
        done = await self._run(command, "update", "--trial", timeout_s=TRIAL_TIMEOUT_S)
        if done.code == ExitCode.USAGE:
            raise UpdateFailed(f"Version {version} cannot be tested.", hint=TOO_OLD)
        if done.code != ExitCode.DONE:
            raise UpdateFailed(f"Version {version} does not work here. {_last_line(done)}".rstrip())

    async def check_start(self, command: Path, version: str) -> None:
        """Check that a command starts a version. Raises UpdateFailed."""
        done = await self._run(command, "--version")
        if done.code != ExitCode.DONE or done.output.split()[-1:] != [version]:
            raise UpdateFailed(f"{command} does not start version {version}. {_last_line(done)}".rstrip())

    async def _compare_doctors(self, command: Path, current: Path) -> None:
        """Compare the `doctor` results of both versions; a problem that only the new one finds prevents the update."""
        done = await self._run(command, "doctor", "--json", timeout_s=DOCTOR_TIMEOUT_S)
        new = _findings(done)
        if done.code < 0:
            raise UpdateFailed(f"The `doctor` of the new version was ended by signal {-done.code}.")
        if new is None:
            raise UpdateFailed("The `doctor` of the new version does not run.", hint=TOO_OLD)
        problems = [each for each in new if each.level == "problem"]
        if not problems:
            return
        old = _findings(await self._run(current, "doctor", "--json", timeout_s=DOCTOR_TIMEOUT_S))
        if old is None:
            return  # the current version is too old to report its findings
        checked = {each.check for each in old}
        known = {each.check for each in old if each.level == "problem"}
        for each in problems:
            if each.check in checked and each.check not in known:
                raise UpdateFailed(f"The new version has a problem that this one does not have: {each.text}")

    async def _run(self, command: Path, *words: str, timeout_s: float = 60.0) -> Finished:
        return await run_program(
            [str(command), *words],
            self._progress,
            variables=self._variables,
            cwd=self._cwd,
            timeout_s=timeout_s,
        )


def _findings(done: Finished) -> list[_Finding] | None:
    if done.code not in (ExitCode.DONE, ExitCode.STORAGE):
        return None
    try:
        return msgspec.json.decode(done.output, type=_Report).findings
    except msgspec.DecodeError:
        return None


def _last_line(done: Finished) -> str:
    lines = (done.errors or done.output).strip().splitlines()
    return lines[-1].removeprefix("hermes-acp: ") if lines else ""
