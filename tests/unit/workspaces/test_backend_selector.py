"""A session moves to its selected backend, and nowhere else."""

from pathlib import Path

import pytest
from msgspec import structs

from hermes_acp.app.confinement import confinement_inputs
from hermes_acp.config.environment import environment_of
from hermes_acp.config.settings import Settings
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.record.session_record import Record
from hermes_acp.ids import RandomIds
from hermes_acp.policy.workspace_trust import WorkspaceTrust
from hermes_acp.workspaces.backend_selector import BackendSelector


class MovedSession:
    """A session as a backend selector sees it."""

    def __init__(self, workspace: Workspace, chosen: str | None) -> None:
        self.record = Record()
        self.record.options = structs.replace(self.record.options, backend=chosen)
        self.workspace = workspace
        self.moves = 0

    def move(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.moves += 1


@pytest.fixture
def known() -> list[Settings]:
    return []


@pytest.fixture
def backend_selector(tmp_path: Path, known: list[Settings]) -> BackendSelector:
    program = tmp_path / "bin" / "ssh"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    environment = environment_of({"HERMES_HOME": str(tmp_path / "home"), "PATH": str(program.parent)})

    def settings() -> Settings | None:
        return known[0] if known else None

    trust = WorkspaceTrust(environment, RandomIds())
    return BackendSelector(environment, settings, confinement_inputs(environment, settings, trust))


def opened(backend_selector: BackendSelector, place: Path, chosen: str | None = None) -> MovedSession:
    folder = place / "project"
    folder.mkdir()
    return MovedSession(backend_selector.open(str(folder), (str(folder),)), chosen)


def test_a_local_session_stays(backend_selector: BackendSelector, tmp_path: Path) -> None:
    session = opened(backend_selector, tmp_path)
    assert backend_selector.settle(session) == ""
    assert session.moves == 0
    assert backend_selector.elsewhere(session.workspace) == ""


def test_a_session_moves_once_its_settings_are_known(
    backend_selector: BackendSelector, known: list[Settings], tmp_path: Path
) -> None:
    session = opened(backend_selector, tmp_path)
    known.append(Settings.model_validate({"backend": "ssh", "ssh": {"host": "far.test"}}))
    assert "backend ssh" in backend_selector.settle(session)
    assert backend_selector.elsewhere(session.workspace) == "ssh"
    assert backend_selector.settle(session) == ""
    assert session.moves == 1


def test_a_backend_that_is_not_configured_is_not_replaced(
    backend_selector: BackendSelector, known: list[Settings], tmp_path: Path
) -> None:
    known.append(Settings())
    session = opened(backend_selector, tmp_path, chosen="modal")
    with pytest.raises(ConfigError, match="modal"):
        backend_selector.settle(session)
    assert session.moves == 0
