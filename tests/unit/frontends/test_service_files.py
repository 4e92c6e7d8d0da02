"""Files that run the resident process as a service: systemd units and launchd property lists."""

from __future__ import annotations

import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec import structs

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.acp.service.launchd_plist import plist_text
from hermes_acp.frontends.acp.service.service_plan import OsUser, ServicePlan, program
from hermes_acp.frontends.acp.service.systemd_unit import command_line, unit_text

ANALYZE = shutil.which("systemd-analyze")
MAX_EXPOSURE = 3.0
ANN = OsUser("ann", 1000, 1000, "/home/ann")
OWN = ServicePlan("default", ("/bin/true", "daemon", "run"), "/tmp", {"PATH": "/usr/bin:/bin"}, stop_s=35)
OF_MACHINE = structs.replace(OWN, account=ANN, folder="/home/ann", token_file="/etc/hermes-acp/x.env")


def settings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and line[0] not in "#["]


def test_a_user_service() -> None:
    lines = settings(unit_text(OWN))
    assert {"Type=notify", "WatchdogSec=60", "TimeoutStopSec=35", "WantedBy=default.target"} <= {*lines}
    assert {"ExecStart=/bin/true daemon run", "Environment=PATH=/usr/bin:/bin", "PrivateUsers=yes"} <= {
        *lines
    }
    assert not [
        line for line in lines if line.startswith(("User=", "EnvironmentFile=", "After=", "ProtectHome="))
    ]


def test_a_user_service_without_namespaces() -> None:
    """Each of these settings would keep the service from starting where no user namespace can be created."""
    lines = settings(unit_text(structs.replace(OWN, has_namespaces=False)))
    needy = ("Private", "Protect", "Capability", "Ambient", "Bind", "ReadWrite")
    assert [line for line in lines if line.startswith(needy)] == []
    assert "NoNewPrivileges=yes" in lines


def test_a_system_service() -> None:
    plan = structs.replace(OF_MACHINE, writable=("/srv/repos", "/home/shared"), readable=("/root/tools",))
    lines = {*settings(unit_text(plan))}
    assert {"User=ann", "EnvironmentFile=/etc/hermes-acp/x.env", "WantedBy=multi-user.target"} <= lines
    assert {
        "ProtectSystem=strict",
        "ReadWritePaths=/home/ann /srv/repos /home/shared",
        "ProtectHome=tmpfs",
        "BindPaths=/home/ann /home/shared",
        "BindReadOnlyPaths=/root/tools",
    } <= lines


def test_names_distinguish_users_and_profiles() -> None:
    names = [
        structs.replace(plan, profile=profile).name
        for plan in (OWN, OF_MACHINE)
        for profile in ("default", "work")
    ]
    assert names == ["hermes-acp", "hermes-acp.work", "hermes-acp-ann", "hermes-acp-ann.work"]
    assert (
        structs.replace(OWN, account=structs.replace(ANN, name="EXAMPLE\\zoë")).name
        == "hermes-acp-EXAMPLE_zo_"
    )


def test_unusual_words_stay_one_word_each() -> None:
    words = ("/opt/my tools/50%/$x", "--listen", "$HOME", 'say "\\"')
    assert command_line(words) == r'"/opt/my tools/50%%/$x" --listen "$$HOME" "say \"\\\""'


@pytest.mark.parametrize("text", ["/home/a\nExecStartPre=/bin/false", "a\rb", "a\0b"])
def test_a_line_break_cannot_become_a_setting(text: str) -> None:
    for plan in (structs.replace(OWN, folder=text), structs.replace(OWN, variables={"HERMES_HOME": text})):
        with pytest.raises(BadRequest, match="control character"):
            plan.checked()


@pytest.mark.skipif(not ANALYZE, reason="systemd is not installed")
@pytest.mark.parametrize("plan", [OWN, OF_MACHINE], ids=["own", "machine"])
def test_systemd_understands_every_line(plan: ServicePlan, tmp_path: Path) -> None:
    odd = tmp_path / "a b%c$d"
    odd.mkdir()
    program = shutil.copy("/bin/true", odd)
    plan = structs.replace(
        plan, command=(program, "daemon", "run"), folder=str(odd), token_file=f"{odd}/x.env"
    )
    assert analyzed(plan, tmp_path, "verify", "--recursive-errors=no") == ""


@pytest.mark.skipif(not ANALYZE, reason="systemd is not installed")
def test_systemd_rates_the_confinement(tmp_path: Path) -> None:
    """A unit without `User=` counts as root's; a unit of a user's own service manager never does."""
    assert exposure(OF_MACHINE, tmp_path) <= MAX_EXPOSURE
    assert exposure(OWN, tmp_path, "User=ann") <= MAX_EXPOSURE


def exposure(plan: ServicePlan, folder: Path, *more: str) -> float:
    said = analyzed(plan, folder, "security", "--offline=true", "--no-pager", more=more)
    return float(said.rstrip().splitlines()[-1].partition(": ")[2].split()[0])


def analyzed(plan: ServicePlan, folder: Path, *words: str, more: tuple[str, ...] = ()) -> str:
    unit = folder / f"{plan.name}.service"
    unit.write_text(unit_text(plan).replace("[Service]\n", "\n".join(("[Service]", *more, ""))))
    done = subprocess.run(
        [str(ANALYZE), *words, str(unit)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_a_property_list() -> None:
    text = plist_text(OF_MACHINE, "/home/ann/.hermes/logs/daemon.log", {"HERMES_SERVE_TOKEN": "a <&> b"})
    read = plistlib.loads(text.encode())
    assert read["ProgramArguments"] == ["/bin/true", "daemon", "run"]
    assert read["EnvironmentVariables"] == {"PATH": "/usr/bin:/bin", "HERMES_SERVE_TOKEN": "a <&> b"}
    assert (read["Label"], read["UserName"], read["ExitTimeOut"]) == ("hermes-acp-ann", "ann", 35)
    assert read["KeepAlive"] == {"SuccessfulExit": False}
    assert read["RunAtLoad"] is True


def test_an_update_replaces_what_the_unit_names(tmp_path: Path) -> None:
    own = program("/nonexistent")[0]
    link = tmp_path / "hermes-acp"
    link.symlink_to(own)
    assert program(str(tmp_path)) == (str(link),)
    assert program("/nonexistent", str(link)) == (str(link),)
    link.unlink()
    shutil.copy(own, link)
    assert program(str(tmp_path)) == (own,), "another installation's command"
