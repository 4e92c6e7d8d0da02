"""Build a session's system prompt from its context files, the agent's notes and the skills. Blocks on disk access."""

import os
import platform
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from hermes_acp.agent.system_prompt import identity_layer, prompt_layers
from hermes_acp.agent.turn.turn import SystemPrompt
from hermes_acp.context.context_files import ContextFiles, collect_context
from hermes_acp.context.context_notices import context_notices
from hermes_acp.context.context_search import SearchScope
from hermes_acp.core.denied_paths import DeniedPath
from hermes_acp.core.event_types import Surface
from hermes_acp.core.flow_labels import NOTES, Source
from hermes_acp.core.messages import ToolSchema
from hermes_acp.memory.memory_notes import notes_layer
from hermes_acp.memory.memory_snapshot import MemorySnapshot
from hermes_acp.storage.allowed_texts import read_allowed

if TYPE_CHECKING:
    from hermes_acp.config.sections.memory_settings import MemorySettings
    from hermes_acp.context.context_consent import Consent


REMOTE_CONTEXT: Final = """The project is on another machine, so its instructions for agents, such as AGENTS.md, are \
not shown here. Before you change anything, check whether the working directory has any, and read them."""
REMOTE_NOTICE: Final = (
    "The files of this session are on the backend {backend}. Context files and skills in its folder on this machine "
    "are left out of the prompt; the agent reads those on the backend when it needs them."
)


SOUL_FILE: Final = "SOUL.md"
"""The user's own description of their agent, in the home folder. In a workspace, this name is an ordinary context file.
"""


class PromptSources(Struct, frozen=True):
    """The sources of all prompts of one configuration.

    `clean` masks secrets, `skills` describes a folder's skills for a surface, and `unread` returns the paths there that
    rules forbid reading. `home` is the user's own folder, which contains the notes and the list of texts they allowed.
    `news` lists notices for the user. `can_ask` says whether a user may be present to answer. `note_imports` receives
    the imports of a folder's context files.
    """

    tools: tuple[ToolSchema, ...]
    clean: Callable[[str], str]
    home: Path
    memory: "MemorySettings"
    skills: Callable[[str, Surface], str]
    unread: Callable[[str], tuple[DeniedPath, ...]]
    note_imports: Callable[[str, Mapping[str, str]], None]
    news: tuple[str, ...] = ()
    can_ask: Callable[[], bool] = lambda: True


class PromptPlace(Struct, frozen=True):
    """The folder where a session works, and the surface where it started."""

    cwd: str
    more_roots: tuple[str, ...] = ()
    surface: Surface = ""


def build_remote_prompt(sources: PromptSources, place: PromptPlace, backend: str, now: float) -> SystemPrompt:
    """Build the prompt for a folder on another machine; a local folder with the same path is ignored."""
    cwd = place.cwd
    notes = notes_layer(sources.memory, sources.home, cwd, now)
    known = tuple(
        map(sources.clean, (notes.text, sources.skills(str(sources.home), place.surface), REMOTE_CONTEXT))
    )
    layers = prompt_layers(
        sources.tools,
        known,
        cwd=cwd,
        platform=f"where {backend} runs commands",
        date=_date(now),
        identity=identity_layer(can_ask=sources.can_ask()),
        surface=place.surface,
    )
    return SystemPrompt(
        layers, (*sources.news, *notes.notices, REMOTE_NOTICE.format(backend=backend)), _sources(notes)
    )


def build_session_prompt(
    sources: PromptSources, place: PromptPlace, now: float, consent: "Consent"
) -> SystemPrompt:
    """Build the prompt for a working directory and its additional folders; `now` is in seconds since the epoch.

    Context files that need approval are left out: the turn asks about them before its first step.
    """
    cwd = place.cwd
    scope = SearchScope(cwd, place.more_roots, str(sources.home), sources.unread(cwd))
    context = collect_context(scope, allowed=read_allowed(sources.home), admits=consent.admits)
    sources.note_imports(cwd, context.imports)
    notes = notes_layer(sources.memory, sources.home, cwd, now)
    soul = os.path.join(os.path.realpath(sources.home), SOUL_FILE)
    known = tuple(
        map(sources.clean, (notes.text, sources.skills(cwd, place.surface), context.render(without=soul)))
    )
    identity = identity_layer(sources.clean(context.text_of(soul)), can_ask=sources.can_ask())
    layers = prompt_layers(
        sources.tools,
        known,
        cwd=cwd,
        platform=platform.system(),
        date=_date(now),
        identity=identity,
        surface=place.surface,
    )
    notices = (*sources.news, *notes.notices, *context_notices(context))
    return SystemPrompt(layers, notices, _sources(notes, context))


def _date(now: float) -> str:
    """Return the user's local date with its weekday, which is needed to resolve phrases such as "last Tuesday"."""
    return datetime.fromtimestamp(now).strftime("%A, %Y-%m-%d")


def _sources(notes: MemorySnapshot, context: ContextFiles | None = None) -> tuple[Source, ...]:
    """List the private notes, and the context files that the scanner warned about."""
    files = context.files if context else ()
    warned = (Source("untrusted", str(file.path)) for file in files if file.findings and not file.is_allowed)
    return (*([NOTES] if notes.text else []), *warned)
