"""The environment for a transcript with a real process and a real model server."""

from pathlib import Path

from tests.e2e.agent_process import agent_environment, configure
from tests.golden.replay import Stage
from tests.golden.transcript import WITHOUT_SKILLS, Header
from tests.model_server import ModelServer


def set_stage(place: Path, header: Header, server: ModelServer) -> tuple[Stage, dict[str, str]]:
    """Create the environment; return it with the agent's variables."""
    home, project = place / "home", place / "project"
    home.mkdir()
    project.mkdir()
    configure(home, WITHOUT_SKILLS + header.settings)
    for name, content in header.files.items():
        (project / name).write_text(content, encoding="utf-8")
    variables = agent_environment(home, server, OPENAI_API_KEY="sk-golden", **header.environment)
    return Stage(project, server.openai_base_url), variables
