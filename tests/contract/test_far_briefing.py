"""The prompt of a session whose files are on another machine: nothing of this machine's folder is in it."""

from pathlib import Path

from hermes_acp.assembly.briefing import Sources, write_briefing, write_far_briefing
from hermes_acp.config.memory import MemorySettings


def test_a_folder_of_this_machine_says_nothing_to_a_session_elsewhere(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "AGENTS.md").write_text("Speak like a canary.")
    asked: list[str] = []

    def skills(place: str) -> str:
        asked.append(place)
        return "skills of the user"

    sources = Sources((), str, tmp_path / "home", MemorySettings(), skills)
    here = "\n".join(write_briefing(sources, str(project), (), 0.0).layers)
    assert "Speak like a canary." in here
    far = write_far_briefing(sources, str(project), "ssh", 0.0)
    text = "\n".join(far.layers)
    assert "canary" not in text
    assert "AGENTS.md" in text
    assert "skills of the user" in text
    assert asked == [str(project), str(tmp_path / "home")]
    assert "backend ssh" in far.notices[-1]
