"""Build the dependencies of turns from the settings: model routes, tools, stages, policy and the prompt."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.context.context_approvals import ContextApprovals
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.child_ports import ChildServices
from hermes_acp.core.ports.quota_ports import UserQuota
from hermes_acp.core.ports.runtime_ports import Clock, Ids, StartTask
from hermes_acp.core.ports.trust_ports import WorkspacePolicyStore
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.hooks.hook_manager import load_hooks
from hermes_acp.mcp.server_manager import McpServerManager
from hermes_acp.memory.external_memory_manager import ExternalMemoryManager
from hermes_acp.memory.memory_notes import notes_ports
from hermes_acp.recall.recall_service import RecallService
from hermes_acp.skills.skill_learning import SkillLearning
from hermes_acp.skills.skill_service import SkillService
from hermes_acp.tools.custom.custom_tool_manager import CustomToolManager
from hermes_acp.web.web_services import WebServices

if TYPE_CHECKING:
    from hermes_acp.agent.children.reflection import Reflection
    from hermes_acp.agent.setup.user_quota import QuotaStages
    from hermes_acp.agent.turn.turn import SystemPrompt, TurnDependencies, TurnStages
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.config.settings import Settings
    from hermes_acp.core.messages import ToolSchema
    from hermes_acp.core.ports.boards.agent_boards import AgentBoards
    from hermes_acp.core.ports.child_ports import ChildProcesses
    from hermes_acp.core.ports.schedule_ports import AgentSchedules
    from hermes_acp.core.record.session_record import Record
    from hermes_acp.models.model_connections import ModelConnections
    from hermes_acp.policy.policy_engine import Policy
    from hermes_acp.skills.suggestions.skill_similarity import SkillSimilarity
    from hermes_acp.telemetry.redaction import Redactor

    Brief = Callable[[Record, Workspace, Record], Awaitable[SystemPrompt]]


class UnattendedWork(Struct, frozen=True):
    """The ports through which an agent arranges work without its user: schedules and boards, where available."""

    schedules: "AgentSchedules | None" = None
    boards: "AgentBoards | None" = None

    def ports(self) -> dict[str, object]:
        """Return the ports by name, for the tools that use them."""
        named: dict[str, object] = {"schedules": self.schedules, "boards": self.boards}
        return {name: port for name, port in named.items() if port is not None}


class TurnServices(Struct, frozen=True):
    """The services used by a turn's tools and prompt: servers, skills, learning, recall, policy and context.

    `elsewhere` names the backend of a workspace whose files are not on this machine. `start` starts a background task.
    `children` is what child agents need; `quota` is that of the user for whom this process works.
    """

    mcp_manager: McpServerManager
    skill_service: SkillService
    learning: SkillLearning
    recall_service: RecallService
    custom_tools: CustomToolManager
    policy_store: WorkspacePolicyStore
    context: ContextApprovals
    elsewhere: Callable[[Workspace], str]
    start: StartTask
    children: ChildServices
    quota: UserQuota
    unattended: "Callable[[], UnattendedWork]" = lambda: UnattendedWork()


class TurnDependenciesFactory:
    """Builds the dependencies of turns, and owns the external resources of their tools."""

    def __init__(
        self,
        environment: Environment,
        turn_services: TurnServices,
        clock: Clock,
        ids: Ids,
    ) -> None:
        """Store the services; nothing is built until first use."""
        self._environment = environment
        self._clock = clock
        self._ids = ids
        self._web = WebServices()
        self._external_memory = ExternalMemoryManager(turn_services.start)
        self._services = turn_services
        self._context = turn_services.context
        self._elsewhere = turn_services.elsewhere

    def news(self) -> Sequence[str]:
        """Return notices about external memory for users."""
        return self._external_memory.news()

    async def release(self, session_id: str) -> None:
        """Close the external resources that a session's tools have opened."""
        if "_reflection" in self.__dict__:
            await self._reflection.release(session_id)
        await self._external_memory.release(session_id)
        await self._web.release(session_id)

    @cached_property
    def _quota_stages(self) -> "QuotaStages":
        from hermes_acp.agent.setup.user_quota import QuotaStages

        return QuotaStages(self._services.quota)

    @cached_property
    def _reflection(self) -> "Reflection":
        from hermes_acp.agent.children.reflection import Reflection

        return Reflection(self._services.children.records, self._services.start, self._is_attended)

    def _is_attended(self) -> bool:
        return self._services.mcp_manager.is_attended

    def make(self, settings: "Settings", connections: "ModelConnections", news: str) -> "TurnDependencies":
        """Return the dependencies of turns that use these connections. Blocks.

        `news` is a notice about how the model was found.
        """
        from hermes_acp.agent.turn.turn import CompactionShares, ModelUse, TurnDependencies
        from hermes_acp.config.settings import load_variables
        from hermes_acp.context.context_file_monitor import ContextFileMonitor
        from hermes_acp.memory.external_memory_manager import memory_key
        from hermes_acp.policy.policy_factory import build_policy
        from hermes_acp.telemetry.structured_log import StructuredLog
        from hermes_acp.tools.toolbox import Toolbox
        from hermes_acp.web.web_services import search_key

        services, variables = self._services, load_variables(self._environment)
        if settings.hooks:
            load_hooks()
        toolbox = Toolbox(_builtin_tools(self._ports(settings, variables), settings.builtin_tools))
        services.skill_service.library.know_tools(toolbox.names)
        keys = (search_key(settings, variables), memory_key(settings.memory, variables))
        redactor = self._redactor(connections.choices, *keys)
        policy = build_policy(self._environment, settings.rules, services.policy_store, self._context.imports)
        context_files = ContextFileMonitor(
            redactor.clean,
            self._environment.home,
            self._elsewhere,
            policy.unread,
            self._context,
            self._clock.now,
        )
        return TurnDependencies(
            routing=connections.routing(),
            log=StructuredLog(self._environment.home, self._clock),
            expenses=StructuredLog(self._environment.home, self._clock, "usage"),
            toolbox=toolbox,
            policy=policy,
            stages=self._stages(settings, variables, redactor, connections),
            redactor=redactor,
            build_prompt=self._briefer(settings, toolbox.schemas, redactor, policy, news),
            clock=self._clock,
            ids=self._ids,
            model_use=ModelUse(
                settings.max_output_tokens,
                shares=CompactionShares(settings.compaction.at, settings.compaction.keep),
            ),
            context_files=context_files,
        )

    def _stages(
        self,
        settings: "Settings",
        variables: Mapping[str, str],
        redactor: "Redactor",
        connections: "ModelConnections",
    ) -> "TurnStages":
        from hermes_acp.agent.setup.turn_stages import (
            learning_stages,
            outcome_scan_stages,
            recording_stages,
            reflection_stages,
            turn_stages,
        )

        services = self._services
        learning = learning_stages(
            settings.skills,
            services.learning.usage_tracker,
            lambda: self._reflection,
            services.skill_service.index,
            self._quota_stages.added_to(reflection_stages()),
        )
        more = (
            *self._memory_stages(settings, variables, redactor, connections),
            outcome_scan_stages(),
            recording_stages(self._environment.home),
        )
        return self._quota_stages.added_to(turn_stages(settings.titles, *learning, more))

    def _ports(self, settings: "Settings", variables: Mapping[str, str]) -> dict[str, object]:
        """Return the ports of tools by name, except for the workspace; `diagnoses` depends on the session's editor."""
        from hermes_acp.agent.calls.nested_calls import NestedCalls
        from hermes_acp.agent.children.delegation import ChildLimits, Delegation
        from injection_scanner.foreign_text import InjectionScanner

        services, limits = self._services, settings.delegation
        similarity = skill_similarity(services.recall_service)
        return {
            **self._web.ports(settings, variables),
            **notes_ports(settings.memory, self._environment.home, self._is_attended),
            **services.learning.ports(settings.skills, services.skill_service.library, similarity),
            "scanner": InjectionScanner(),
            "recall": services.recall_service,
            "delegates": Delegation(
                services.children.records,
                ChildLimits(limits.max_parallel, limits.max_children, limits.max_steps),
                _child_processes(services.children, limits.isolation),
            ),
            "inner_calls": NestedCalls(),
            "tool_workshop": services.custom_tools.workshop,
            "diagnoses": None,
            "skills": services.skill_service.library,
            **services.unattended().ports(),
        }

    def _memory_stages(
        self,
        settings: "Settings",
        variables: Mapping[str, str],
        redactor: "Redactor",
        connections: "ModelConnections",
    ) -> "tuple[TurnStages, ...]":
        """Return the stages for semantic recall and for the memory service."""
        from hermes_acp.agent.setup.turn_stages import memory_stages, recall_stages

        services = self._services
        services.recall_service.equip(settings, variables, connections.choices[0])
        memory = self._external_memory.equip(settings.memory, variables, redactor.clean)
        return (
            recall_stages(settings, services.recall_service, services.skill_service),
            memory_stages(memory, settings.memory, self._is_attended),
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
        from hermes_acp.agent.setup.prompt_builder import (
            PromptPlace,
            PromptSources,
            build_remote_prompt,
            build_session_prompt,
        )
        from hermes_acp.context.context_file_monitor import consent_for
        from hermes_acp.storage.home_permissions import home_permissions_warning
        from hermes_acp.workspaces.sandbox_setup import sandbox_remark

        sources = PromptSources(
            tools=tools,
            clean=redactor.clean,
            home=self._environment.home,
            memory=settings.memory,
            skills=self._services.skill_service.index,
            unread=policy.unread,
            note_imports=self._context.note_imports,
            can_ask=self._is_attended,
            news=tuple(
                filter(
                    None,
                    (
                        news,
                        sandbox_remark(settings, self._environment.variables),
                        home_permissions_warning(self._environment),
                    ),
                )
            ),
        )

        async def build_prompt(record: "Record", workspace: Workspace, above: "Record") -> "SystemPrompt":
            now = self._clock.now()
            if backend := self._elsewhere(workspace):
                place = PromptPlace(workspace.cwd, surface=record.surface)
                return await anyio.to_thread.run_sync(build_remote_prompt, sources, place, backend, now)
            # A child agent starts later than its session, which is what determines the files that the user knows about.
            consent = consent_for(above, self._context)
            place = PromptPlace(record.cwd, record.roots[1:], record.surface)
            return await anyio.to_thread.run_sync(build_session_prompt, sources, place, now, consent)

        return build_prompt


def _child_processes(children: ChildServices, isolation: str) -> "ChildProcesses | None":
    """Return the runner for child processes, or None unless the settings ask for it and this process supports it."""
    return None if isolation == "none" else children.processes(isolation == "worktree")


def skill_similarity(recall_service: RecallService) -> "SkillSimilarity":
    """Return the similarity measure for skills: by meaning if there is an embedding model, otherwise by characters."""
    from hermes_acp.skills.suggestions.skill_similarity import SkillSimilarity

    return SkillSimilarity(lambda: recall_service.semantic_index, recall_service.report)


def _builtin_tools(ports: Mapping[str, object], chosen: Sequence[str] | None) -> dict[str, Any]:
    """Return the chosen tools, or all by default. Raises ConfigError for an unknown name."""
    plugin_folder: PluginFolder[Any] = PluginFolder("hermes_acp.tools.builtin", "TOOL")
    if unknown := [name for name in chosen or () if name not in plugin_folder]:
        raise ConfigError(
            f"builtin_tools names {unknown[0]!r}, which is not a built-in tool.",
            hint=f"The built-in tools are: {', '.join(plugin_folder)}.",
        )
    wanted = plugin_folder.names() if chosen is None else chosen
    bound = {name: _bound(plugin_folder.open(name), ports) for name in wanted}
    return {name: tool for name, tool in bound.items() if tool is not None}


def _bound(tool: Any, ports: Mapping[str, object]) -> Any:
    """Bind a tool to the ports named by the parameters of its `bind`; return None if a port is missing."""
    from inspect import signature

    bind = getattr(tool, "bind", None)
    if bind is None:
        return tool
    wanted = signature(bind).parameters.keys()
    return bind(**{name: ports[name] for name in wanted}) if wanted <= ports.keys() else None
