"""A pytest fixture: an agent with a separate home folder and project for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_acp import Agent, Approval


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    """Return an agent that may write in the test's folder."""
    project = tmp_path / "project"
    project.mkdir()

    def approve(approval: Approval) -> bool:
        return all(Path(diff.path).is_relative_to(project) for diff in approval.diffs)

    with Agent("tester", home=tmp_path / "home", cwd=project, approve=approve) as agent:
        yield agent


def test_it_writes_a_file(agent: Agent, tmp_path: Path) -> None:
    agent.run("Write the word hello into greeting.txt.")
    assert (tmp_path / "project" / "greeting.txt").read_text().strip() == "hello"
    assert [call["tool"] for call in agent.state.tool_history] == ["write_file"]
