"""What a turn is made with, put together from the settings and the ways to models.

Knows: which tools and stages a turn has, in which order, and who has them.
Does not know: how a model is chosen, when a kit is made or outlived, how any part works.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from msgspec import Struct

from hermes_acp.assembly.context_book import ContextBook
from hermes_acp.assembly.employer import Employer
from hermes_acp.assembly.learning import Learning
from hermes_acp.assembly.librarian import Librarian
from hermes_acp.assembly.notes import notes_ports
from hermes_acp.assembly.outer_tools import OuterTools
from hermes_acp.assembly.outside_notes import OutsideNotes
from hermes_acp.assembly.recollection import Recollection
from hermes_acp.config.environment import Environment
from hermes_acp.core.drawers import Drawer
from hermes_acp.core.ports import Clock, Workspace
from hermes_acp.core.trust import Settlements

if TYPE_CHECKING:
    from hermes_acp.agent.turn import Briefing, Kit, Stages
    from hermes_acp.assembly.model_ways import ModelWays
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.config.settings import Settings
    from hermes_acp.core.messages import ToolSchema
    from hermes_acp.core.record import Record
    from hermes_acp.policy.rules import Policy
    from hermes_acp.telemetry.redaction import Redactor

    Brief = Callable[[Record, Workspace, Record], Awaitable[Briefing]]


class Suppliers(Struct, frozen=True):
    """Who has what a turn's tools and prompt take in: servers, skills, what is learned, recalled and settled.

    `elsewhere` names the backend of a workspace whose files are not on this machine.
    """

    employer: Employer
    librarian: Librarian
    learning: Learning
    recollection: Recollection
    settlements: Settlements
    context: ContextBook
    elsewhere: Callable[[Workspace], str]


class Tailor:
    """Makes kits to measure, and keeps what their tools have open outside."""

    def __init__(
        self,
        environment: Environment,
        suppliers: Suppliers,
        clock: Clock,
        ports: Callable[[], Mapping[str, object]],
    ) -> None:
        """Make nothing yet; `ports` gives, by name, what tools take beside their workspace."""
        self._environment = environment
        self._clock = clock
        self._ports = ports
        self._outer = OuterTools()
        self._outside = OutsideNotes(suppliers.employer)
        self._employer = suppliers.employer
        self._librarian = suppliers.librarian
        self._learning = suppliers.learning
        self._recollection = suppliers.recollection
        self._settlements = suppliers.settlements
        self._context = suppliers.context
        self._elsewhere = suppliers.elsewhere

    def news(self) -> Sequence[str]:
        """Give what users are to know of what is kept outside."""
        return self._outside.news()

    async def release(self, session_id: str) -> None:
        """Close what a session's tools have opened outside."""
        await self._outside.release(session_id)
        await self._outer.release(session_id)

    def make(self, settings: "Settings", ways: "ModelWays", news: str) -> "Kit":
        """Give what turns are made with that use these ways to models; `news` is what was learnt in finding them.

        It blocks.
        """
        from hermes_acp.agent.turn import Kit, Shares
        from hermes_acp.assembly.context_watch import ContextWatch
        from hermes_acp.assembly.outer_tools import search_key
        from hermes_acp.assembly.outside_notes import memory_key
        from hermes_acp.assembly.policies import policy_of
        from hermes_acp.assembly.stages import turn_stages, watch_stages
        from hermes_acp.config.settings import load_variables
        from hermes_acp.telemetry.structured_log import StructuredLog
        from hermes_acp.tools.toolbox import Toolbox

        variables = load_variables(self._environment)
        ports = {
            **self._ports(),
            **self._outer.ports(settings, variables),
            **notes_ports(settings.memory, self._environment.home, lambda: self._employer.is_attended),
            **self._learning.ports(settings.skills, self._librarian, self._recollection.kinship),
        }
        toolbox = Toolbox(_builtin_tools(ports))
        self._librarian.library.know_tools(toolbox.names)
        keys = (search_key(settings, variables), memory_key(settings.memory, variables))
        redactor = self._redactor(ways.choices, *keys)
        policy = policy_of(self._environment, settings.rules, self._settlements, self._context.imports)
        home = self._environment.home
        watch = ContextWatch(
            redactor.clean, home, self._elsewhere, policy.unread, self._context, self._clock.now
        )
        return Kit(
            routing=ways.routing(),
            log=StructuredLog(self._environment.home, self._clock),
            expenses=StructuredLog(self._environment.home, self._clock, "usage"),
            toolbox=toolbox,
            policy=policy,
            stages=turn_stages(
                settings.titles,
                *self._learning.stages(settings.skills, self._librarian),
                (*self._remembering(settings, variables, redactor, ways), watch_stages()),
            ),
            redactor=redactor,
            brief=self._briefer(settings, toolbox.schemas, redactor, policy, news),
            max_output_tokens=settings.max_output_tokens,
            shares=Shares(settings.compaction.at, settings.compaction.keep),
            context_files=watch,
        )

    def _remembering(
        self, settings: "Settings", variables: Mapping[str, str], redactor: "Redactor", ways: "ModelWays"
    ) -> "tuple[Stages, ...]":
        """Give what is done around a turn by those who remember: by meaning, and outside."""
        self._recollection.equip(settings, variables, ways.choices[0])
        return (
            self._recollection.stages(settings, self._librarian, self._employer.start),
            self._outside.stages(settings.memory, variables, redactor.clean),
        )

    def _redactor(self, choices: "tuple[ModelChoice, ...]", *more: str) -> "Redactor":
        from hermes_acp.config.settings import load_variables
        from hermes_acp.telemetry.redaction import Redactor, secrets_among

        keys = (key.value for choice in choices for key in choice.keys)
        return Redactor((*keys, *filter(None, more), *secrets_among(load_variables(self._environment))))

    def _briefer(
        self,
        settings: "Settings",
        tools: "tuple[ToolSchema, ...]",
        redactor: "Redactor",
        policy: "Policy",
        news: str,
    ) -> "Brief":
        from hermes_acp.assembly.briefing import Sources, write_briefing, write_far_briefing
        from hermes_acp.assembly.confinement import remark_on
        from hermes_acp.assembly.context_watch import consent_of
        from hermes_acp.assembly.home_owners import remark_on_home

        sources = Sources(
            tools=tools,
            clean=redactor.clean,
            home=self._environment.home,
            memory=settings.memory,
            skills=self._librarian.index,
            unread=policy.unread,
            note_imports=self._context.note_imports,
            news=tuple(
                filter(
                    None,
                    (
                        news,
                        remark_on(settings, self._environment.variables),
                        remark_on_home(self._environment),
                    ),
                )
            ),
        )

        async def brief(record: "Record", workspace: Workspace, above: "Record") -> "Briefing":
            now = self._clock.now()
            if backend := self._elsewhere(workspace):
                return await anyio.to_thread.run_sync(
                    write_far_briefing, sources, workspace.cwd, backend, now
                )
            # A child agent begins later than its session, which is what its user knows the files by.
            consent = consent_of(above, self._context)
            place = (record.cwd, record.roots[1:])
            return await anyio.to_thread.run_sync(write_briefing, sources, *place, now, consent)

        return brief


def _builtin_tools(ports: Mapping[str, object]) -> dict[str, Any]:
    drawer: Drawer[Any] = Drawer("hermes_acp.tools.builtin", "TOOL")
    bound = {name: _bound(drawer.open(name), ports) for name in drawer}
    return {name: tool for name, tool in bound.items() if tool is not None}


def _bound(tool: Any, ports: Mapping[str, object]) -> Any:
    """Give a tool the ports it names as the parameters of its `bind`, if it has one; None where it has no use."""
    from inspect import signature

    bind = getattr(tool, "bind", None)
    if bind is None:
        return tool
    wanted = signature(bind).parameters.keys()
    return bind(**{name: ports[name] for name in wanted}) if wanted <= ports.keys() else None
