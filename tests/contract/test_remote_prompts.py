"""The prompt of a session whose files are on another machine contains nothing from this machine's folder."""

import math
from collections.abc import Mapping
from pathlib import Path

from hermes_acp.agent.setup.prompt_builder import (
    PromptPlace,
    PromptSources,
    build_remote_prompt,
    build_session_prompt,
)
from hermes_acp.app.confinement import confinement_inputs
from hermes_acp.config.environment import environment_of
from hermes_acp.config.sections.memory_settings import MemorySettings
from hermes_acp.config.settings import Settings
from hermes_acp.context.context_consent import Consent
from hermes_acp.core.event_types import Surface
from hermes_acp.ids import RandomIds
from hermes_acp.policy.workspace_trust import WorkspaceTrust
from hermes_acp.workspaces.backend_selector import BackendSelector


def nobody(path: str, digest: str) -> bool:
    return False


def unheard(place: str, imports: Mapping[str, str]) -> None:
    assert imports == {}


def test_a_local_folder_adds_nothing_to_a_remote_session(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "AGENTS.md").write_text("Speak like a canary.")
    asked: list[str] = []

    def skills(place: str, surface: Surface) -> str:
        asked.append(place)
        return "skills of the user"

    sources = PromptSources((), str, tmp_path / "home", MemorySettings(), skills, lambda _: (), unheard)
    here = "\n".join(
        build_session_prompt(sources, PromptPlace(str(project)), 0.0, Consent(math.inf, {}, nobody)).layers
    )
    assert "Speak like a canary." in here
    far = build_remote_prompt(sources, PromptPlace(str(project), surface="chat"), "ssh", 0.0)
    text = "\n".join(far.layers)
    assert "canary" not in text
    assert "AGENTS.md" in text
    assert "skills of the user" in text
    assert "in a chat app" in text
    assert "in a chat app" not in here
    assert asked == [str(project), str(tmp_path / "home")]
    assert "backend ssh" in far.notices[-1]


def test_the_location_of_the_files_is_known_before_anything_is_opened_there(tmp_path: Path) -> None:
    def backend_selector(backend: str) -> BackendSelector:
        known = environment_of({"HERMES_HOME": str(tmp_path)})
        settings = Settings.model_validate({"backend": backend, "ssh": {"host": "far.test"}})
        confinement = confinement_inputs(known, lambda: settings, WorkspaceTrust(known, RandomIds()))
        return BackendSelector(known, lambda: settings, confinement)

    assert backend_selector("local").remote_backend_for("") == ""
    assert backend_selector("local").remote_backend_for("ssh") == "ssh"
    assert backend_selector("ssh").remote_backend_for(None) == "ssh"
    assert backend_selector("ssh").remote_backend_for("docker") == ""
