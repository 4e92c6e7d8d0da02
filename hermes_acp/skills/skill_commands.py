"""Offer skills as slash commands of a session."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import anyio
from anyio.to_thread import run_sync

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.flow_labels import Source
from hermes_acp.core.messages import Part, TextPart
from hermes_acp.core.ports.tool_ports import PromptTemplate, ResourceLibrary, Tool
from hermes_acp.core.ports.trust_ports import Trust, TrustItem
from hermes_acp.skills.inline_commands import with_commands
from hermes_acp.skills.skill_collection import Skill, SkillCollection, how_to_allow
from hermes_acp.skills.skill_library import SkillLibrary
from hermes_acp.skills.skill_watch import SkillWatch

PLACEHOLDER: Final = re.compile(r"\$(ARGUMENTS|[1-9])(?![\w])")
MAX_STACKED_COMMANDS: Final = 5
MAX_REPORTED: Final = 10
POLL_INTERVAL_S: Final = 0.1
"""The pause between two background scans."""


class SkillCommand:
    """A command that invokes a skill by name."""

    def __init__(self, skill: Skill, source: "SkillSource") -> None:
        self.name = skill.name
        self.description = _described(skill)
        self.hint = skill.document.hint or (
            "what to do with it now" if PLACEHOLDER.search(skill.document.body) else ""
        )
        self.brings: tuple[Source, ...] = ()
        self._skill = skill
        self._source = source

    async def fill(self, words: str) -> tuple[Part, ...]:
        """Return the skill as a prompt, followed by the skills stacked after it.

        Raises BadRequest for untrusted ones.
        """
        stacked, rest = self._source.stacked(self._skill, words)
        for skill in stacked:
            self._source.require_trust(skill)
        for skill in stacked:
            self._source.on_use(skill)
        prompts = [await run_sync(_prompt, skill, rest) for skill in stacked]
        self._source.report_cuts(stacked)
        return (TextPart("\n\n".join(prompts)),)


class SkillSource:
    """The skills available to a session, as commands that come and go with their files."""

    def __init__(
        self,
        library: SkillLibrary,
        watch: SkillWatch,
        trust: Trust,
        on_change: Callable[[], None],
        *,
        on_use: Callable[[Skill], None] = lambda _: None,
        news: Sequence[str] = (),
        is_here: Callable[[], bool] = lambda: True,
    ) -> None:
        """Initialise without reading anything.

        `on_use` is called for each invoked skill; `news` contains notices for the user. Without `is_here`, the
        session's files are on another machine, and no skills from this machine's folder are offered.
        """
        self._is_here = is_here
        self.on_use = on_use
        self._news = tuple(news)
        self._library = library
        self._watch = watch
        self._cwd = watch.cwd
        self._trust = trust
        self._on_change = on_change
        self._collection = SkillCollection()
        self._told: set[str] = set()
        self._cut: set[str] = set()
        self._has_changed = anyio.Event()
        self._settled = anyio.Event()
        self._scope: anyio.CancelScope | None = None
        self._is_closed = False

    async def run(self) -> None:
        """Read the skills, and reread them whenever the watch reports a change, until the source is closed."""
        if self._is_closed:
            return
        async with anyio.create_task_group() as tasks:
            self._scope = tasks.cancel_scope
            await self.renew()
            tasks.start_soon(self._keep_looking)
            with self._watch.notifying(self.renew):
                await anyio.sleep_forever()

    async def renew(self) -> None:
        """Read changed skills, and announce the commands if they differ."""
        before = self._collection
        self._collection = await run_sync(self._library.collection, self._cwd)
        self._settled.set()
        if before != self._collection:
            self._has_changed.set()
            self._on_change()

    async def _keep_looking(self) -> None:
        """Scan the skills' texts gradually, so that the user is informed before one is used."""
        while True:
            await self._has_changed.wait()
            self._has_changed = anyio.Event()
            records = self._library.records
            for skill in self._collection.skills:
                if await run_sync(records.of, skill):
                    self.report_cuts([skill])
                if records.has_new:
                    await anyio.sleep(POLL_INTERVAL_S)
            await run_sync(records.keep)

    def report_cuts(self, skills: Sequence[Skill]) -> None:
        """Notify the user of passages cut from scanned skills."""
        self._cut.update(
            f"Passages of the skill {skill.label} were cut out by the injection scanner: {'; '.join(skill.findings)}. "
            + how_to_allow(Path(skill.folder))
            for skill in skills
            if skill.findings and self._counts(skill)
        )

    def stacked(self, first: Skill, words: str) -> tuple[list[Skill], str]:
        """Return the skills that a command line (`/one /two do it`) invokes and the text after the last name."""
        skills, rest = [first], words.strip()
        while rest.startswith("/") and len(skills) < MAX_STACKED_COMMANDS:
            name, _, behind = rest[1:].partition(" ")
            found = self._collection.find(name)
            if found is None or not self._counts(found):
                break
            skills.append(found)
            rest = behind.strip()
        return skills, rest

    def require_trust(self, skill: Skill) -> None:
        """Raise BadRequest for a workspace skill that the user does not trust."""
        if skill.scope == "workspace" and not self._trust.is_trusted(self._cwd, trust_item(skill)):
            raise BadRequest(
                f"The skill {skill.name} is part of this workspace ({skill.label}), which you have not trusted.",
                hint="`/trust` shows what the workspace contains and lets you trust it.",
            )

    def tools(self) -> Mapping[str, Tool]:
        """Return no tools, because one tool serves all skills."""
        return {}

    def templates(self) -> Mapping[str, PromptTemplate]:
        """Return the commands, by name."""
        return {
            skill.name: SkillCommand(skill, self) for skill in self._collection.skills if self._counts(skill)
        }

    def _counts(self, skill: Skill) -> bool:
        return skill.scope != "workspace" or self._is_here()

    def libraries(self) -> Mapping[str, ResourceLibrary]:
        """Return no libraries."""
        return {}

    def news(self) -> Sequence[str]:
        """Return new notices for the user: skills that are not used, and passages that were cut."""
        told = [*self._news, *filter(None, (self._watch.news(),))]
        unusable = self._collection.unusable
        told += [f"The skill {each.place} is not used: {each.why}" for each in unusable[:MAX_REPORTED]]
        if (more := len(unusable) - MAX_REPORTED) > 0:
            told.append(f"{more} more skills are not used: `/skills` shows the reasons.")
        told += sorted(self._cut)
        fresh = [sentence for sentence in told if sentence not in self._told]
        self._told.update(fresh)
        return fresh

    async def settled(self) -> None:
        """Wait until the skills have been read once."""
        await self._settled.wait()

    async def close(self) -> None:
        """Stop following changes."""
        self._is_closed = True
        if self._scope:
            self._scope.cancel()


def trust_item(skill: Skill) -> TrustItem:
    """Return the item that the user trusts for a workspace skill: its current text."""
    return TrustItem(
        "prompt", f"skill {skill.name}", skill.digest, f"{skill.label}: {skill.document.description}"
    )


def _described(skill: Skill) -> str:
    place = {"workspace": "this workspace", "user": "your own", "builtin": "built in"}[skill.scope]
    return f"{skill.document.description} (skill, {place})"


def _prompt(skill: Skill, words: str) -> str:
    """Format a skill as a prompt, followed by the words that no placeholder uses."""
    body, is_taken = _with_parameters(with_commands(skill.body), words)
    behind = f"\n\nThe user's own words: {words}" if words and not is_taken else ""
    head = f"Follow the skill {skill.name} (its files are in {skill.folder}):"
    return f"{head}\n\n{body}{behind}"


def _with_parameters(body: str, words: str) -> tuple[str, bool]:
    """Replace a skill's placeholders: `$ARGUMENTS` with all words, `$1` to `$9` with one word each."""
    try:
        single = shlex.split(words)
    except ValueError:
        single = words.split()
    is_taken = False

    def put(found: re.Match[str]) -> str:
        nonlocal is_taken
        is_taken = True
        which = found.group(1)
        if which == "ARGUMENTS":
            return words
        return single[int(which) - 1] if int(which) <= len(single) else ""

    return PLACEHOLDER.sub(put, body), is_taken
