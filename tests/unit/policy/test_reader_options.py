"""Options that make programs do more than read."""

from pathlib import Path

import pytest

from hermes_acp.core.proposals import Runs
from hermes_acp.policy.policy_engine import Policy


def decision(command: str, cwd: Path, search_path: tuple[str, ...] = ("/usr/bin", "/bin")) -> str:
    return (
        Policy("/home/me/.hermes", "/home/me", search_path)
        .judge([Runs(command, str(cwd), (str(cwd),), confined=True)], "ask", ())
        .decision
    )


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "src").mkdir(parents=True)
    return folder


def test_an_archive_is_not_unpacked_to_count_its_lines(work: Path) -> None:
    assert decision("cloc src", work) == "allow"
    assert decision("cloc .", work) == "allow"
    (work / "a'b.zip").write_bytes(b"PK")
    for command in ('cloc "a\'b.zip"', "cloc *", "cloc HEAD", "cloc src HEAD"):
        assert decision(command, work) == "ask"
