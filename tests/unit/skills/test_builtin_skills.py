"""Built-in skills in two versions, and the user's own skills with the same names."""

import argparse
from pathlib import Path

import pytest

from hermes_acp.config.environment import environment_of
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.skills.skills_hub import run_hub
from hermes_acp.skills.builtin_skills import BuiltinChanges, follow_builtin_skills
from hermes_acp.skills.skill_collection import DISABLED
from hermes_acp.skills.skill_service import SkillService
from hermes_acp.skills.skill_usage import SkillUsageTracker


def write(folder: Path, name: str, text: str, **files: str) -> Path:
    skill = folder / name
    skill.mkdir(parents=True, exist_ok=True)
    (skill / "SKILL.md").write_text(f"---\nname: {name}\ndescription: About {name}.\n---\n{text}\n")
    for file, content in files.items():
        (skill / f"{file}.md").write_text(content)
    return skill


class Versions:
    """Three versions of the built-in skills, and a home."""

    def __init__(self, folder: Path) -> None:
        self.oldest, self.old, self.new = (folder / name for name in ("oldest", "old", "new"))
        for version in (self.oldest, self.old, self.new):
            write(version, "same", "Do it.")
            write(version, "changing", f"Do it {version.name}.", details=version.name)
        write(self.old, "going", "Go.")
        write(self.new, "coming", "Come.")
        self.home = folder / "home"
        self.own = self.home / "skills"
        self.own.mkdir(parents=True)
        self.tracker = SkillUsageTracker(self.home, lambda: 5.0)

    def follow(self, *, installed: tuple[str, ...] = (), is_back: bool = False) -> BuiltinChanges:
        before, now = (self.new, self.old) if is_back else (self.old, self.new)
        others = (self.oldest, self.old, self.new)
        return follow_builtin_skills(before, now, others, self.own, installed, self.tracker, 5.0)

    def text(self, name: str) -> str:
        return (self.own / name / "SKILL.md").read_text().splitlines()[-1]


@pytest.fixture
def versions(tmp_path: Path) -> Versions:
    return Versions(tmp_path)


def test_without_user_skills_only_the_differences_are_reported(versions: Versions) -> None:
    assert versions.follow() == BuiltinChanges(new=("coming",), changed=("changing",), gone=("going",))
    assert versions.follow(is_back=True) == BuiltinChanges(
        new=("going",), changed=("changing",), gone=("coming",)
    )
    assert not list(versions.own.iterdir())


def test_an_edited_copy_is_unchanged(versions: Versions) -> None:
    write(versions.own, "changing", "Do it my way.")
    write(versions.own, "same", "Do this my way, too.")
    write(versions.own, "going", "Go.")
    assert versions.follow().hidden == ("changing",)
    assert [versions.text(name) for name in ("changing", "same", "going")] == [
        "Do it my way.",
        "Do this my way, too.",
        "Go.",
    ]


@pytest.mark.parametrize("origin", ["old", "oldest"])
def test_an_unedited_copy_is_updated_and_can_be_restored(versions: Versions, origin: str) -> None:
    skill = write(versions.own, "changing", f"Do it {origin}.", details=origin)
    found = versions.follow()
    assert (found.followed, found.hidden) == (("changing",), ())
    assert versions.text("changing") == "Do it new."
    assert (skill / "details.md").read_text() == "new"
    assert versions.follow().followed == ()
    assert versions.follow(is_back=True).followed == ("changing",)
    assert versions.text("changing") == "Do it old."
    kept = versions.tracker.history(skill).versions()
    assert [each.cause.who for each in kept] == ["user", "program", "program"]


def test_a_copy_with_an_additional_file_counts_as_edited(versions: Versions) -> None:
    write(versions.own, "changing", "Do it old.", details="old", mine="Mine.")
    assert versions.follow().hidden == ("changing",)
    assert versions.text("changing") == "Do it old."


def test_a_skill_from_elsewhere_and_a_link_are_not_touched(versions: Versions, tmp_path: Path) -> None:
    write(versions.own, "changing", "Do it old.", details="old")
    found = versions.follow(installed=("changing",))
    assert (found.installed, found.hidden, versions.text("changing")) == (
        ("changing",),
        ("changing",),
        "Do it old.",
    )
    target = write(tmp_path / "mine", "coming", "Come here.")
    (versions.own / "coming").symlink_to(target)
    assert "coming" in versions.follow().hidden
    assert (versions.own / "coming").is_symlink()


def test_a_disabled_skill_stays_disabled(tmp_path: Path) -> None:
    environment = environment_of({"HOME": str(tmp_path), "PATH": ""})
    environment.home.mkdir(parents=True)
    skills = SkillService(environment, lambda _: None)
    options = argparse.Namespace(action="remove", name="write-a-skill")
    with pytest.raises(BadRequest) as refused:
        run_hub(environment, tmp_path, options)
    assert refused.value.hint
    assert skills.library.collection(str(tmp_path)).find("write-a-skill")
    setting = refused.value.hint.split("`")[1]
    environment.config_file.write_text(setting)
    collection = skills.library.collection(str(tmp_path))
    assert collection.find("write-a-skill") is None
    assert [each.why for each in collection.hidden] == [DISABLED]
    assert "write-a-skill" not in skills.index(str(tmp_path))
    assert collection.find("review-changes")
