"""Ask the agent's questions in a panel; each is kept with its answer in the conversation."""

from rich.console import Group, RenderableType

from hermes_acp.frontends.chat.full_screen.question_panel import QuestionPanel, titles_of
from hermes_acp.frontends.chat.full_screen.retained_layout import RetainedLayout
from hermes_acp.frontends.chat.questions.approval_prompt import (
    WHOLE_DIFF_LINES,
    ApprovalAnswer,
    ApprovalPrompt,
    ChooseHunks,
)
from hermes_acp.frontends.chat.questions.form_prompts import Answer, FormPrompter
from hermes_acp.frontends.chat.screens.screen import Screen
from hermes_protocol import v1


class PanelQuestions:
    """Shows questions in the panel, with the full text to be approved."""

    def __init__(
        self,
        screen: Screen,
        panel: QuestionPanel,
        panel_layout: RetainedLayout,
        conversation: RetainedLayout,
        cwd: str,
        choose_hunks: ChooseHunks,
    ) -> None:
        self._screen = screen
        self._panel = panel
        self._panel_layout = panel_layout
        self._conversation = conversation
        self._cwd = cwd
        self._choose_hunks = choose_hunks

    async def approve(
        self, request: v1.RequestPermissionRequest, *, accepts_partial_edits: bool
    ) -> ApprovalAnswer:
        """Ask whether a call may run."""
        prompt = ApprovalPrompt(
            self._screen,
            self._panel_layout,
            request,
            self._cwd,
            accepts_partial_edits=accepts_partial_edits,
            max_lines=WHOLE_DIFF_LINES,
            choose_hunks=self._choose_hunks,
        )
        self._panel.begin(is_warning=prompt.is_warning)
        try:
            return await prompt.put()
        finally:
            self._end()

    async def fill_in(self, request: v1.CreateElicitationRequest) -> Answer:
        """Ask the person to fill in a form or open a link."""
        self._panel.begin()
        try:
            return await FormPrompter(self._screen, self._panel_layout).put(request)
        finally:
            self._end()

    def _end(self) -> None:
        """Close the panel; keep the question and its answer in the conversation."""
        entries = tuple(self._panel.entries)
        self._panel.end()
        if entries:
            summary = Group(*(entry.parts[0] for entry in titles_of(entries)))
            every: list[RenderableType] = [part for entry in entries for part in entry.parts]
            self._conversation.foldable("remark", summary, lambda: Group(*every))
