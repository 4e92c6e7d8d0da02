"""The service managers systemd and launchd, for the whole machine or for one user.

The launchd part has not been tested on a Mac yet.
"""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct

from hermes_acp.frontends.acp.messages import service
from hermes_acp.frontends.acp.service.launchd_plist import plist_text
from hermes_acp.frontends.acp.service.service_plan import PROGRAM, ServicePlan
from hermes_acp.frontends.acp.service.systemd_unit import unit_text

COMMAND_S: Final = 120.0
"""The timeout for a command. Starting a service waits until it is ready, or until its own timeout."""
PROBE_S: Final = 10.0
TOO_SLOW: Final = 124
"""The exit code of timeout(1) for a command that took too long."""


class ServiceState(Struct, frozen=True):
    """The state of a service as reported by the service manager."""

    active: str = "unknown"
    enabled: str = "unknown"
    pid: int = 0
    status: str = ""


class ServiceSystem(Protocol):
    """The service manager of this machine or of one user."""

    @property
    def name(self) -> str:
        """The name of the service manager."""
        ...

    @property
    def folder(self) -> Path:
        """The folder with its service files."""
        ...

    def file(self, name: str) -> Path:
        """Return the file of a service."""
        ...

    def text(self, plan: ServicePlan, secrets: Mapping[str, str]) -> str:
        """Return the contents of the service file; `secrets` are included only if there is no other place for them."""
        ...

    def runs(self) -> bool:
        """Return whether this service manager is running and can be reached."""
        ...

    def start(self, name: str) -> str:
        """Start a service now and at each login or boot; return why that failed, or an empty string."""
        ...

    def stop(self, name: str) -> None:
        """Stop a service and do not start it again; it need not be running."""
        ...

    def forget(self, name: str) -> None:
        """Forget a service whose file was removed."""
        ...

    def state(self, name: str) -> ServiceState:
        """Return the state of a service."""
        ...

    def log_command(self, name: str) -> str:
        """Return the command that shows the log of a service."""
        ...


class Systemd:
    """The service manager systemd, for system services or for this user's services."""

    name = "systemd"

    def __init__(self, variables: Mapping[str, str], *, is_system: bool) -> None:
        self._is_system = is_system
        self._flags = () if is_system else ("--user",)
        runtime = variables.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
        self._private = Path("/run/systemd/system") if is_system else Path(runtime, "systemd", "private")
        self._variables = {**variables, **({} if is_system else {"XDG_RUNTIME_DIR": runtime})}

    @property
    def folder(self) -> Path:
        """The folder for the administrator's or user's own units."""
        if self._is_system:
            return Path("/etc/systemd/system")
        chosen = self._variables.get("XDG_CONFIG_HOME", "")
        home = self._variables.get("HOME") or os.path.expanduser("~")
        return Path(chosen if os.path.isabs(chosen) else os.path.join(home, ".config"), "systemd", "user")

    def file(self, name: str) -> Path:
        """Return the unit's file."""
        return self.folder / f"{name}.service"

    def text(self, plan: ServicePlan, secrets: Mapping[str, str]) -> str:
        """Return the unit; its secrets are in a separate file."""
        return unit_text(plan)

    def runs(self) -> bool:
        """Return whether systemd is running: it creates this folder or socket when it starts."""
        return self._private.exists()

    def start(self, name: str) -> str:
        """Enable and start a unit; return the error message of systemctl, or an empty string."""
        for words in (("daemon-reload",), ("enable", name)):
            if failure := _failure(self._systemctl(*words)):
                return failure
        failure = _failure(self._systemctl("restart", name))
        return failure and (self._last_words(name) or failure)

    def stop(self, name: str) -> None:
        """Stop and disable a unit."""
        self._systemctl("disable", "--now", name)

    def forget(self, name: str) -> None:
        """Clear the failed state of a unit."""
        self._systemctl("daemon-reload")
        self._systemctl("reset-failed", name)

    def state(self, name: str) -> ServiceState:
        """Return the state of a unit from `systemctl show`."""
        names = ("ActiveState", "UnitFileState", "MainPID", "StatusText")
        shown = self._systemctl("show", name, f"--property={','.join(names)}").stdout
        values = dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)
        active, enabled, pid, status = (values.get(each, "") for each in names)
        return ServiceState(
            active or "unknown", enabled or "unknown", int(pid) if pid.isdigit() else 0, status
        )

    def log_command(self, name: str) -> str:
        """Return the command that shows the unit's log."""
        return " ".join(("journalctl", *self._flags, "--unit", name, "--lines", "20"))

    def _last_words(self, name: str) -> str:
        """Return the last line that the unit's process wrote to the journal, if it can be read."""
        identifier = f"SYSLOG_IDENTIFIER={PROGRAM}"
        unit = f"--user-unit={name}" if self._flags else f"--unit={name}"
        words = ("journalctl", *self._flags, unit, "--lines=1", "--output=cat", "--quiet", identifier)
        return run_program(words, self._variables).stdout.strip().removeprefix(f"{PROGRAM}: ")

    def _systemctl(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return run_program(("systemctl", *self._flags, *words), self._variables)


class Launchd:
    """The service manager launchd, for system services or for this user's services."""

    name = "launchd"

    def __init__(self, variables: Mapping[str, str], log: Path, *, is_system: bool) -> None:
        self._variables = variables
        self._log = log
        self._domain = "system" if is_system else f"gui/{os.getuid()}"
        home = Path(variables.get("HOME") or os.path.expanduser("~"))
        self._folder = (
            Path("/Library/LaunchDaemons") if is_system else home.joinpath("Library", "LaunchAgents")
        )

    @property
    def folder(self) -> Path:
        """The folder of property lists."""
        return self._folder

    def file(self, name: str) -> Path:
        """Return the property list's file."""
        return self._folder / f"{name}.plist"

    def text(self, plan: ServicePlan, secrets: Mapping[str, str]) -> str:
        """Return the property list."""
        return plist_text(plan, str(self._log), secrets)

    def runs(self) -> bool:
        """Return whether the launchd domain exists."""
        return self._launchctl("print", self._domain).returncode == 0

    def start(self, name: str) -> str:
        """Load a service; launchd starts it at once."""
        self._launchctl("bootout", f"{self._domain}/{name}")
        self._launchctl("enable", f"{self._domain}/{name}")
        return _failure(self._launchctl("bootstrap", self._domain, str(self.file(name))))

    def stop(self, name: str) -> None:
        """Unload a service."""
        self._launchctl("bootout", f"{self._domain}/{name}")

    def forget(self, name: str) -> None:
        """Do nothing: an unloaded service is forgotten."""

    def state(self, name: str) -> ServiceState:
        """Return the state of a service from `launchctl print`."""
        shown = self._launchctl("print", f"{self._domain}/{name}")
        if shown.returncode:
            return ServiceState("inactive", "enabled" if self.file(name).exists() else "disabled")
        state = re.search(r"^\s*state = (\w+)", shown.stdout, re.MULTILINE)
        pid = re.search(r"^\s*pid = (\d+)", shown.stdout, re.MULTILINE)
        is_running = bool(state and state[1] == "running")
        return ServiceState("active" if is_running else "inactive", "enabled", int(pid[1]) if pid else 0)

    def log_command(self, name: str) -> str:
        """Return the command that shows the log of the service."""
        return f"tail {self._log}"

    def _launchctl(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return run_program(("launchctl", *words), self._variables)


def can_create_namespaces(variables: Mapping[str, str]) -> bool:
    """Return whether this user may create the namespaces that confine a user service."""
    return (
        run_program(
            ("unshare", "--user", "--map-root-user", "--mount", "true"), variables, PROBE_S
        ).returncode
        == 0
    )


def is_lingering(user: str) -> bool:
    """Return whether systemd keeps a user's services running without a login."""
    return Path("/var/lib/systemd/linger", user).exists()


def run_program(
    words: Sequence[str], variables: Mapping[str, str], seconds: float = COMMAND_S
) -> "subprocess.CompletedProcess[str]":
    """Run a program until it ends; a missing program or a timeout counts as a failure."""
    try:
        return subprocess.run(
            words,
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
    except OSError as error:
        return subprocess.CompletedProcess(words, 127, "", service.cannot_run(words[0], error.strerror or ""))
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, TOO_SLOW, "", service.too_slow(words[0], seconds))


def _failure(done: "subprocess.CompletedProcess[str]") -> str:
    return (done.stderr.strip() or service.exit_code(done.returncode)) if done.returncode else ""
