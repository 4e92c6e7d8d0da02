"""`hermes-acp notifications`, and what doctor says about targets; nothing here needs Apprise."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_acp.config.environment import read_environment
from hermes_acp.core.ports.notification_ports import Destination, OutgoingMessage
from hermes_acp.frontends.cli.cli_main import run_command
from hermes_acp.frontends.cli.doctor.notification_check import check_notifications
from hermes_acp.notifications.services.desktop import SERVICE

Run = Callable[..., tuple[int, str, str]]
PROGRAM = """#!/bin/sh
for argument; do echo "$argument" >> "$0.log"; done
exit $(cat "$0.code" 2>/dev/null || echo 0)
"""


@pytest.fixture
def desktop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Replace the desktop's notification program with one that logs its arguments."""
    program = tmp_path / "bin" / "notify-send"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return program


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HERMES_HOME", str(home))

    def run(*arguments: str, settings: str = "") -> tuple[int, str, str]:
        if settings:
            (home / "config.yaml").write_text(settings)
        code = run_command(("notifications", *arguments))
        out, err = capsys.readouterr()
        return code, out, err

    return run


DESK = "notifications: {targets: {desk: desktop}}\n"


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="the desktop of Linux")
def test_a_test_is_shown_on_the_desktop_listed_and_can_be_repeated(run: Run, desktop: Path) -> None:
    Path(f"{desktop}.code").write_text("3")
    code, out, _ = run("test", "desk", settings=DESK)
    assert code == 1
    assert "desk  pending  hermes-acp: Test: this is a test of your notifications" in out
    assert "1 attempt. The desktop did not show the notification (exit code 3)." in out
    Path(f"{desktop}.code").write_text("0")
    code, out, _ = run("retry")
    assert code == 0
    assert "1 notification being resent:" in out
    assert "desk  delivered" in out
    assert "desk (desktop): ready" in run()[1]
    (listed,) = json.loads(run("list", "--json")[1])["notifications"]
    assert (listed["state"], listed["attempts"], listed["may_be_doubled"]) == ("delivered", 2, False)
    assert run("retry")[0] == 0, "nothing is left"
    assert run("retry", listed["id"])[0] == 0, "it has arrived"


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="the desktop of Linux")
def test_markup_is_shown_as_text_and_never_as_an_option(run: Run, desktop: Path) -> None:
    SERVICE.send(
        Destination(Path()), OutgoingMessage("--urgency=critical", "<b>bold</b> & <a href='x'>"), 30.0
    )
    assert Path(f"{desktop}.log").read_text().splitlines() == [
        "--app-name=hermes-acp",
        "--",
        "--urgency=critical",
        "&lt;b&gt;bold&lt;/b&gt; &amp; &lt;a href='x'&gt;",
    ]


def test_an_unknown_notification_is_not_retried(run: Run) -> None:
    code, _, err = run("retry", "99", settings=DESK)
    assert (code, "There is no notification '99'." in err) == (2, True)


def test_without_targets_the_output_says_how_to_add_one(run: Run) -> None:
    code, out, _ = run()
    assert (code, "config.yaml" in out) == (0, True)
    code, _, err = run("test")
    assert (code, "No notification targets are configured." in err) == (2, True)
    code, _, err = run("test", "phone", settings=DESK)
    assert (code, "There is no target 'phone'." in err) == (2, True)


def test_doctor_finds_a_target_without_an_address(run: Run) -> None:
    _, out, _ = run(settings="notifications: {targets: {phone: {service: apprise, events: [failed]}}}\n")
    assert "phone (apprise): Its address is missing: set HERMES_NOTIFY_PHONE in .env." in out
    (finding,) = check_notifications(read_environment())
    assert finding == (
        "problem",
        "The notification target phone cannot be used. Its address is missing: set HERMES_NOTIFY_PHONE in .env.",
    )
    code, _, err = run(settings="notifications: {targets: {phone: pigeon}}\n")
    assert (code, "must be one of apprise, desktop" in err) == (2, True)
