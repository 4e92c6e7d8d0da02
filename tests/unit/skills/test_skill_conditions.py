"""Conditions of skills: tool groups and the surface of a session."""

from pathlib import Path

from hermes_acp.core.plugins import PluginFolder
from hermes_acp.skills.skill_collection import TOOL_GROUPS, collect_skills
from hermes_acp.skills.skill_folders import find_skill_folders
from hermes_acp.skills.skill_library import SkillLibrary


def write_skill(home: Path, name: str, condition: str) -> None:
    folder = home / "skills" / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Does it.\n{condition}\n---\nDo it.\n")


def test_a_skill_needs_a_tool_of_each_group_it_names(tmp_path: Path) -> None:
    write_skill(tmp_path, "online", "requires-groups: [web]")
    write_skill(tmp_path, "odd", "requires-groups: [terminal, teleport]")
    write_skill(tmp_path, "shell", "requires-groups: terminal")
    folders = find_skill_folders("/", tmp_path, Path("/none"))
    collection = collect_skills(folders, ("process",))
    assert collection.find("shell")
    why = {each.place.rpartition("/")[2]: each.why for each in collection.hidden}
    assert why["online"] == "It needs tools from the groups web."
    assert why["odd"] == "It needs tools from the groups teleport."


def test_the_prompt_lists_the_skills_for_the_surface_of_the_session(tmp_path: Path) -> None:
    write_skill(tmp_path, "thumbs", "surfaces: [chat, voice]")
    library, cwd = SkillLibrary(tmp_path, Path("/none")), "/"
    assert "- thumbs: Does it. (only for: chat, voice)" in library.index(cwd, "chat")
    assert "thumbs" not in library.index(cwd, "editor")
    assert "thumbs" in library.index(cwd)


def test_every_tool_of_a_group_exists() -> None:
    tools: PluginFolder[object] = PluginFolder("hermes_acp.tools.builtin", "TOOL")
    assert {name for group in TOOL_GROUPS.values() for name in group} <= set(tools.names())
