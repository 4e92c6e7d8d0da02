"""One tool file as a tool of the session.

Knows: how a declaration becomes effects, what of an outcome the model reads, that breaking is taken down.
Does not know: who trusts it, how it is kept within its bounds.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, cast

from anyio.to_thread import run_sync

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports import Workspace
from hermes_acp.core.proposals import Effect, Progress, Proposal, Reaches, Reads, Result, Runs, Writes
from hermes_acp.core.terms import ToolKind
from hermes_acp.core.tool_ports import Scanner
from hermes_acp.core.traits import Traits
from hermes_acp.core.untrusted import fence, with_clean_words
from hermes_acp.tools.fed_commands import fed
from hermes_acp.tools.own.arguments import mistakes
from hermes_acp.tools.own.cells import CellEnd, Cells, Ground
from hermes_acp.tools.own.declaration import Declaration
from hermes_acp.tools.own.mishaps import MOST_IN_A_ROW, Mishap, Mishaps
from hermes_acp.tools.own.shelves import ToolFile

ENDING_S: Final = 15.0
MOST_MISTAKES: Final = 5
MOST_NAMED: Final = 5
SHOWN_AS: Final = "python3 -"


class OwnTool:
    """A tool that was not built in."""

    def __init__(
        self,
        file: ToolFile,
        declared: Declaration,
        ground: Ground,
        cells: Cells,
        mishaps: Mishaps,
        scanner: Scanner,
    ) -> None:
        self.name = declared.name
        self.kind: ToolKind = declared.kind
        does_no_harm = declared.capabilities <= {"files"} and declared.files != "write"
        self.traits = Traits(declared.capabilities, is_repeatable=does_no_harm)
        self.arguments = declared.parameters
        self._file = file
        self._declared = declared
        self._ground = ground
        self._cells = cells
        self._mishaps = mishaps
        self._scanner = scanner
        parameters = cast("dict[str, object]", with_clean_words(declared.parameters, scanner.clean))
        self._schema = ToolSchema(declared.name, scanner.clean(declared.description), parameters)

    def schema(self) -> ToolSchema:
        """Describe the tool to a model, in its author's words."""
        return self._schema

    async def propose(self, arguments: Mapping[str, Any], workspace: Workspace) -> Proposal:
        """Understand a call. Raises BadRequest for arguments that do not fit, and for a tool that was put aside."""
        wrong = list(mistakes(dict(arguments), self._declared.parameters))
        if wrong:
            raise BadRequest(f"Wrong arguments for {self.name}: {'; '.join(wrong[:MOST_MISTAKES])}.")
        known = await run_sync(self._mishaps.of, self._file.folder, self.name, self._file.digest)
        if known and known.is_put_aside:
            raise BadRequest(
                f"{self.name} broke {known.in_a_row} times in a row and is put aside. Last: {known.error}",
                hint="Mend it with tool_manage, or go on without it.",
            )
        return Proposal(
            f"{self.name} ({self._declared.abilities()})",
            self.kind,
            partial(self._call, arguments),
            self._effects(),
            deadline_s=self._declared.timeout_s + ENDING_S,
        )

    def _effects(self) -> tuple[Effect, ...]:
        """Give what a call may do at most: more than this its sandbox does not let it do."""
        declared, ground = self._declared, self._ground
        effects: list[Effect] = []
        if declared.files == "read":
            effects += (Reads(root) for root in ground.roots)
        elif declared.files == "write":
            effects += (Writes(root) for root in ground.roots)
        effects += (Reaches(host.partition(":")[0], f"https://{host}/") for host in declared.network)
        if declared.processes:
            effects.append(Runs(fed(SHOWN_AS, self._file.source), ground.cwd, ground.roots, confined=True))
        return tuple(effects)

    async def _call(self, arguments: Mapping[str, Any], progress: Progress) -> Result:
        outcome = await self._cells.run(self._declared, self._file.source, arguments, self._ground)
        mishap = await run_sync(self._take_down, outcome)
        return Result(self._told(outcome, mishap), is_error=bool(outcome.crash or outcome.failed))

    def _take_down(self, outcome: CellEnd) -> Mishap | None:
        folder = self._file.folder
        if outcome.crash:
            return self._mishaps.note(folder, self.name, self._file.digest, outcome.crash)
        self._mishaps.forget(folder, self.name)
        return None

    def _told(self, outcome: CellEnd, mishap: Mishap | None) -> str:
        said = outcome.crash or outcome.failed or outcome.text
        printed = f"[it printed]\n{outcome.printed.rstrip()}" if outcome.printed.strip() else ""
        text = "\n".join(filter(None, (said, printed))) or "(nothing)"
        fenced = fence(self._scanner.clean(text), f"Output of the own tool {self.name!r}")
        if outcome.unseen:
            named = ", ".join(outcome.unseen[:MOST_NAMED]) + (" …" if outcome.unseen[MOST_NAMED:] else "")
            fenced += f"\n[There is too much in these folders to look through for keys; to it they were empty: {named}]"
        if mishap is None:
            return f"The tool failed.\n{fenced}" if outcome.failed else fenced
        what = (
            "it is put aside until it is changed or its user allows it again"
            if mishap.is_put_aside
            else f"after {MOST_IN_A_ROW} times in a row it is put aside"
        )
        means = f"It may use: {self._declared.abilities()}."
        return f"The tool broke ({mishap.in_a_row} in a row; {what}). {means}\n{fenced}"
