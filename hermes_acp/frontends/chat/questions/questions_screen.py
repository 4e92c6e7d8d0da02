"""The interface for putting the agent's questions to the person."""

from typing import Protocol

from hermes_acp.frontends.chat.questions.approval_prompt import ApprovalAnswer, ApprovalPrompt
from hermes_acp.frontends.chat.questions.form_prompts import Answer, FormPrompter
from hermes_acp.frontends.chat.rendering.transcript_layout import TranscriptLayout
from hermes_acp.frontends.chat.screens.screen import Screen
from hermes_protocol import v1


class QuestionsScreen(Protocol):
    """Asks one question at a time; the screen's `cancel_read` ends the wait."""

    async def approve(
        self, request: v1.RequestPermissionRequest, *, accepts_partial_edits: bool
    ) -> ApprovalAnswer:
        """Ask whether a call may run."""
        ...

    async def fill_in(self, request: v1.CreateElicitationRequest) -> Answer:
        """Ask to fill in a form or open a link."""
        ...


class LineQuestions:
    """Asks questions below the conversation, line by line."""

    def __init__(self, screen: Screen, layout: TranscriptLayout, cwd: str) -> None:
        self._screen = screen
        self._layout = layout
        self._cwd = cwd

    async def approve(
        self, request: v1.RequestPermissionRequest, *, accepts_partial_edits: bool
    ) -> ApprovalAnswer:
        """Ask whether a call may run."""
        prompt = ApprovalPrompt(
            self._screen, self._layout, request, self._cwd, accepts_partial_edits=accepts_partial_edits
        )
        return await prompt.put()

    async def fill_in(self, request: v1.CreateElicitationRequest) -> Answer:
        """Ask to fill in a form or open a link."""
        return await FormPrompter(self._screen, self._layout).put(request)
