"""Present a tool file as a tool of the session."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, cast

from anyio.to_thread import run_sync

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.web_ports import Scanner
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Effect, Progress, Proposal, Reaches, Reads, Result, Runs, Writes
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.untrusted_text import clean_schema_descriptions, fence
from hermes_acp.tools.custom.argument_validation import validation_errors
from hermes_acp.tools.custom.tool_declaration import ToolDeclaration
from hermes_acp.tools.custom.tool_failures import MAX_CONSECUTIVE_FAILURES, ToolFailure, ToolFailureLog
from hermes_acp.tools.custom.tool_folders import ToolFile
from hermes_acp.tools.custom.tool_sandbox import SessionFolders, ToolRunResult, ToolSandboxes
from hermes_acp.tools.heredocs import with_heredoc

KILL_TIMEOUT_S: Final = 15.0
MAX_MISTAKES: Final = 5
MAX_NAMED: Final = 5
DISPLAY_COMMAND: Final = "python3"


class CustomTool:
    """A tool defined by a file rather than built in."""

    def __init__(
        self,
        file: ToolFile,
        declared: ToolDeclaration,
        session_folders: SessionFolders,
        cells: ToolSandboxes,
        tool_failures: ToolFailureLog,
        scanner: Scanner,
    ) -> None:
        self.name = declared.name
        self.kind: ToolKind = declared.kind
        does_no_harm = declared.capabilities <= {"files"} and declared.files != "write"
        self.tool_metadata = ToolMetadata(
            declared.capabilities, is_repeatable=does_no_harm, needs=frozenset(declared.needs)
        )
        self.arguments = declared.parameters
        self._file = file
        self._declared = declared
        self._ground = session_folders
        self._cells = cells
        self._mishaps = tool_failures
        self._scanner = scanner
        parameters = cast("dict[str, object]", clean_schema_descriptions(declared.parameters, scanner.clean))
        self._schema = ToolSchema(declared.name, scanner.clean(declared.description), parameters)

    def schema(self) -> ToolSchema:
        """Describe the tool to a model, in its author's words."""
        return self._schema

    async def propose(self, arguments: Mapping[str, Any], workspace: Workspace) -> Proposal:
        """Propose a call. Raises BadRequest for invalid arguments and for a disabled tool."""
        wrong = await run_sync(validation_errors, arguments, self._declared.parameters)
        if wrong:
            raise BadRequest(f"Wrong arguments for {self.name}: {'; '.join(wrong[:MAX_MISTAKES])}.")
        known = await run_sync(self._mishaps.of, self._file.folder, self.name, self._file.digest)
        if known and known.is_disabled:
            raise BadRequest(
                f"{self.name} failed {known.in_a_row} times in a row and is disabled. Last error: {known.error}",
                hint="Fix it with tool_manage, or continue without it.",
            )
        return Proposal(
            f"{self.name} ({self._declared.abilities()})",
            self.kind,
            partial(self._call, arguments),
            self._effects(),
            deadline_s=self._declared.timeout_s + KILL_TIMEOUT_S,
        )

    def _effects(self) -> tuple[Effect, ...]:
        """Return the maximal effects of a call, which its sandbox enforces."""
        declared, session_folders = self._declared, self._ground
        effects: list[Effect] = []
        if declared.files == "read":
            effects += (Reads(root) for root in session_folders.roots)
        elif declared.files == "write":
            effects += (Writes(root) for root in session_folders.roots)
        effects += (Reaches(host.partition(":")[0], f"https://{host}/") for host in declared.network)
        if declared.processes:
            effects.append(
                Runs(
                    with_heredoc(DISPLAY_COMMAND, self._file.source),
                    session_folders.cwd,
                    session_folders.roots,
                    confined=True,
                )
            )
        return tuple(effects)

    async def _call(self, arguments: Mapping[str, Any], progress: Progress) -> Result:
        outcome = await self._cells.run(self._declared, self._file.source, arguments, self._ground)
        tool_failure = await run_sync(self._take_down, outcome)
        return Result(self._told(outcome, tool_failure), is_error=bool(outcome.crash or outcome.failed))

    def _take_down(self, outcome: ToolRunResult) -> ToolFailure | None:
        folder = self._file.folder
        if outcome.crash:
            return self._mishaps.note(folder, self.name, self._file.digest, outcome.crash)
        self._mishaps.forget(folder, self.name)
        return None

    def _told(self, outcome: ToolRunResult, tool_failure: ToolFailure | None) -> str:
        said = outcome.crash or outcome.failed or outcome.text
        printed = f"[it printed]\n{outcome.printed.rstrip()}" if outcome.printed.strip() else ""
        text = "\n".join(filter(None, (said, printed))) or "(nothing)"
        fenced = fence(self._scanner.clean(text), f"Output of the custom tool {self.name!r}")
        if outcome.unseen:
            named = ", ".join(outcome.unseen[:MAX_NAMED]) + (" …" if outcome.unseen[MAX_NAMED:] else "")
            fenced += f"\n[These folders are too big to search for keys, so the tool saw them empty: {named}]"
        if tool_failure is None:
            return f"The tool failed.\n{fenced}" if outcome.failed else fenced
        what = (
            "it is disabled until it is changed or the user allows it again"
            if tool_failure.is_disabled
            else f"after {MAX_CONSECUTIVE_FAILURES} failures in a row it is disabled"
        )
        means = f"It may use: {self._declared.abilities()}."
        return f"The tool failed ({tool_failure.in_a_row} in a row; {what}). {means}\n{fenced}"
