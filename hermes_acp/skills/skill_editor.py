"""Create, change and archive skills for the agent, with a full preview, checks and versions."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import Diff
from hermes_acp.core.ports.skill_ports import SkillChange, SkillPreview, SkillScope
from hermes_acp.skills.skill_collection import FILE, Skill
from hermes_acp.skills.skill_document import NAME, NAME_CHARACTERS, read_document
from hermes_acp.skills.skill_library import SkillLibrary
from hermes_acp.skills.skill_usage import SkillUsageTracker
from hermes_acp.skills.skill_validation import check_skill, text_of
from hermes_acp.skills.suggestions.lexical_similarity import SkillSimilarityMeasure
from hermes_acp.storage.version_history import ChangeCause, check_path, read_tree, tree_digest
from hermes_acp.telemetry.redaction import Redactor

WORKSPACE_FOLDER: Final = ".hermes/skills"
EXCERPT_CHARACTERS: Final = 80
SHAPE: Final = "A SKILL.md begins with `---`, `name: NAME`, `description: …`, `---`, followed by its text."


class _Plan(Struct, frozen=True):
    """A change as files by relative path: those to write, those to delete, and the folder before the change."""

    folder: Path
    scope: SkillScope
    before: dict[str, bytes]
    changed: dict[str, bytes | None]
    state: str
    warnings: tuple[str, ...] = ()


class SkillEditor:
    """Changes the skills of one user and of the folders they work in. `likeness` finds similar skills."""

    def __init__(
        self,
        home: Path,
        library: SkillLibrary,
        usage_tracker: SkillUsageTracker,
        now: Callable[[], float],
        likeness: SkillSimilarityMeasure,
    ) -> None:
        self._home = home
        self._library = library
        self._usage_tracker = usage_tracker
        self._now = now
        self._likeness = likeness

    async def preview(self, cwd: str, change: SkillChange) -> SkillPreview:
        """Preview a change to a skill. Raises BadRequest for an invalid change."""
        return await run_sync(self._preview, cwd, change, await self._likes(cwd, change))

    async def change(self, cwd: str, change: SkillChange, state: str, session_id: str) -> str:
        """Apply a change if the skill has not changed since. Raises BadRequest or StorageError."""
        likes = await self._likes(cwd, change)
        return await run_sync(self._change, cwd, change, state, session_id, likes)

    async def report(self, cwd: str, name: str, session_id: str) -> str:
        """Record that a skill did not work. Raises BadRequest."""
        skill = await run_sync(self._find, cwd, name)
        self._usage_tracker.report(session_id, skill.name, skill.folder)
        return f"Noted that the skill {name} did not work. If you know what is wrong with it, patch it."

    def _preview(self, cwd: str, change: SkillChange, likes: tuple[str, ...]) -> SkillPreview:
        plan = self._plan(cwd, change)
        return SkillPreview(
            folder=str(plan.folder),
            scope=plan.scope,
            state=plan.state,
            written=tuple(str(plan.folder / name) for name, new in plan.changed.items() if new is not None),
            removed=tuple(str(plan.folder / name) for name, new in plan.changed.items() if new is None),
            diffs=tuple(filter(None, (_diff(plan, name) for name in plan.changed))),
            warnings=(*likes, *plan.warnings),
        )

    def _change(
        self, cwd: str, change: SkillChange, state: str, session_id: str, likes: tuple[str, ...]
    ) -> str:
        plan = self._plan(cwd, change)
        cause = ChangeCause("agent", self._now(), change.reason.strip(), session_id)
        history = self._usage_tracker.history(plan.folder)
        if change.action == "delete":
            history.restore(0, cause, expected=state)
            return (
                f"The skill {change.name} was archived. The user can restore it with `hermes-acp skills rollback "
                f"{change.name}`."
            )
        version = history.change(plan.changed, cause, expected=state)
        for name, content in plan.changed.items():
            if content is not None:
                self._library.note_written(Path(plan.folder, name), content)
        warned = "".join(f"\n- {warning}" for warning in (*likes, *plan.warnings))
        return f"The skill {change.name} in {plan.folder} is now at version {version.number}.{warned}"

    def _plan(self, cwd: str, change: SkillChange) -> _Plan:
        if not change.reason.strip():
            raise BadRequest("Say why the skill should change.", hint="Give the reason in one sentence.")
        plan = self._new(cwd, change) if change.action == "create" else self._changed(cwd, change)
        after = {name: text for name, text in (plan.before | plan.changed).items() if text is not None}
        if change.action == "delete":
            return plan
        check = check_skill(change.name, after)
        if check.faults:
            raise BadRequest(f"This would not be a valid skill: {' '.join(check.faults)}", hint=SHAPE)
        for name, text in plan.changed.items():
            if text is not None and _holds_secret(text):
                raise BadRequest(
                    f"{name} would contain what looks like a secret, so it was not saved.",
                    hint="Name the location of the secret, not the secret itself.",
                )
        warnings = (*plan.warnings, *check.warnings)
        return _Plan(plan.folder, plan.scope, plan.before, plan.changed, plan.state, warnings)

    def _new(self, cwd: str, change: SkillChange) -> _Plan:
        name = change.name
        if len(name) > NAME_CHARACTERS or not NAME.fullmatch(name):
            raise BadRequest(
                f"{name[:EXCERPT_CHARACTERS]!r} is not a valid skill name.",
                hint=f"Use at most {NAME_CHARACTERS} characters: a-z, 0-9 and single hyphens in between.",
            )
        collection = self._library.collection(cwd)
        known = collection.find(name)
        if known and known.scope != "builtin":
            raise BadRequest(
                f"A skill named {name} already exists in {known.label}.",
                hint="Load it, then patch it, or choose another name.",
            )
        folder = self._place(cwd, change.scope) / name
        if folder.exists() or folder.is_symlink():
            raise BadRequest(f"{folder} already exists, but is not a usable skill.")
        warnings = (f"It replaces the built-in skill {name}.",) if known else ()
        nothing = tree_digest(())
        return _Plan(folder, change.scope, {}, {FILE: change.text.encode()}, nothing, warnings)

    def _place(self, cwd: str, scope: SkillScope) -> Path:
        """Return the resolved folder for new skills of a scope."""
        if scope == "user":
            return Path(os.path.realpath(self._home / "skills"))
        if not Path(cwd).is_dir():
            raise BadRequest(
                f"{cwd} is on another machine, but skills are stored on this one.",
                hint="Create it for the user instead.",
            )
        place = Path(os.path.realpath(Path(cwd) / WORKSPACE_FOLDER))
        if self._library.is_foreign(str(place.parent)):
            raise BadRequest(
                f"{place.parent} belongs to another profile.", hint="Create the skill for the user instead."
            )
        if not place.is_relative_to(os.path.realpath(cwd)):
            raise BadRequest(
                f"{WORKSPACE_FOLDER} leads out of this workspace.", hint="Create it for the user instead."
            )
        return place

    def _changed(self, cwd: str, change: SkillChange) -> _Plan:
        skill = self._find(cwd, change.name)
        folder = Path(os.path.realpath(skill.folder))
        if skill.scope == "builtin":
            raise BadRequest(
                f"The skill {skill.name} is built in and cannot be changed.",
                hint="Create one with the same name, which replaces it.",
            )
        if skill.scope == "workspace" and not folder.is_relative_to(os.path.realpath(skill.root)):
            raise BadRequest(f"The skill {skill.name} is outside this workspace.")
        tree = read_tree(folder)
        before = {each.path: (folder / each.path).read_bytes() for each in tree}
        changed = _edited(change, before)
        return _Plan(folder, skill.scope, before, changed, tree_digest(tree))

    def _find(self, cwd: str, name: str) -> Skill:
        collection = self._library.collection(cwd)
        skill = collection.find(name)
        if skill is None:
            known = ", ".join(each.name for each in collection.skills) or "none"
            raise BadRequest(
                f"There is no skill {name[:EXCERPT_CHARACTERS]!r}.", hint=f"The skills are: {known}."
            )
        return skill

    async def _likes(self, cwd: str, change: SkillChange) -> tuple[str, ...]:
        """Return existing skills similar to a new one."""
        document, _ = read_document(change.text, change.name) if change.action == "create" else (None, ())
        skills = [
            each
            for each in (await run_sync(self._library.collection, cwd)).skills
            if each.name != change.name
        ]
        if document is None or not skills:
            return ()
        return tuple(
            f"It is very similar to the skill {near.other} {near.how}: should that one be changed instead?"
            for near in await self._likeness.near(change.name, document.description, skills)
        )


def _holds_secret(content: bytes) -> bool:
    text = content.decode("utf-8", "replace")
    return Redactor(()).clean(text) != text


def _edited(change: SkillChange, before: dict[str, bytes]) -> dict[str, bytes | None]:
    """Return the files of a skill after a change. Raises BadRequest."""
    if change.action == "delete":
        return dict.fromkeys(before)
    name = change.file or FILE
    check_path(name)
    if change.action == "write_file":
        return {name: change.text.encode()}
    if name not in before:
        known = ", ".join(sorted(before)) or "none"
        raise BadRequest(f"The skill {change.name} has no file {name!r}.", hint=f"Its files are: {known}.")
    if change.action == "remove_file":
        if name == FILE:
            raise BadRequest(f"A skill needs its {FILE}.", hint="Delete the skill instead.")
        return {name: None}
    text = text_of(before[name])
    if text is None:
        raise BadRequest(f"{name} of the skill {change.name} is not a text file.")
    count = text.count(change.old_text) if change.old_text else 0
    if count != 1:
        shown = change.old_text[:EXCERPT_CHARACTERS]
        raise BadRequest(
            f"{shown!r} occurs {count} times in {name} of the skill {change.name}.",
            hint="Use a passage that occurs there exactly once.",
        )
    after = text.replace(change.old_text, change.text)
    if after == text:
        raise BadRequest("This changes nothing.")
    return {name: after.encode()}


def _diff(plan: _Plan, name: str) -> Diff | None:
    """Return the diff of a file in a change, or None if it is not text."""
    old = text_of(plan.before[name]) if name in plan.before else None
    new = plan.changed[name]
    if (name in plan.before and old is None) or (new is not None and text_of(new) is None):
        return None
    text = "" if new is None else new.decode("utf-8", "replace")
    return Diff(str(plan.folder / name), old, text, is_deleted=new is None)
