"""Ask a permission question: show it with its diff, and return one of the agent's options."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, cast

from hermes_acp_client.asking import Permission, option_named
from msgspec import Struct, structs
from rich.text import Text

from hermes_acp.core.hunks import Hunk, apply_hunks, describe_hunk
from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.rendering.diff_rendering import (
    MAX_LINES,
    came_as_hunks,
    headline,
    hunks_of,
    old_text,
    render_diff,
    render_hunk,
)
from hermes_acp.frontends.chat.rendering.terminal_text import sanitize, sanitize_line
from hermes_acp.frontends.chat.rendering.transcript_layout import TranscriptLayout
from hermes_acp.frontends.chat.screens.screen import LEFT, Asking, Choice, Gesture, Screen
from hermes_protocol import v1

WHOLE_DIFF_LINES: Final = 100_000
STYLES: Final[Mapping[str, str]] = MappingProxyType(
    {"allow_once": "green", "allow_always": "green", "reject_once": "red", "reject_always": "red"}
)
YES, NO, COMMENT, HUNKS, ALL, EDIT = "y", "n", "c", "h", "v", "e"
HUNK_CHOICES: Final = tuple(map(Choice, (YES, NO, "a", "d", "q")))

ProposedHunks = Sequence[tuple[v1.Diff, Hunk]]
ChooseHunks = Callable[[ProposedHunks], Awaitable[ProposedHunks | None]]
"""Returns the hunks to write, which may have been edited, or None to go back to the question."""


class ApprovalAnswer(Struct, frozen=True):
    """The answer to a permission question; with `stops_turn`, the whole turn is stopped."""

    permission: Permission | None
    stops_turn: bool = False


def text_to_edit(hunk: Hunk) -> str:
    """Return a hunk's new lines, for the person to edit."""
    return "\n".join((*hunk.new_lines, ""))


def edited(hunk: Hunk, text: str) -> Hunk | None:
    """Return the hunk with its edited text, or None if the file would not change any more."""
    lines = tuple(text.removesuffix("\n").split("\n")) if text else ()
    return None if lines == hunk.old_lines else structs.replace(hunk, new_lines=lines)


class ApprovalPrompt:
    """One permission question."""

    def __init__(
        self,
        screen: Screen,
        layout: TranscriptLayout,
        request: v1.RequestPermissionRequest,
        cwd: str,
        *,
        accepts_partial_edits: bool,
        max_lines: int = MAX_LINES,
        choose_hunks: ChooseHunks | None = None,
    ) -> None:
        """Create a question. Diffs are cut after `max_lines`; `choose_hunks` replaces asking hunk by hunk."""
        self._screen = screen
        self._layout = layout
        self._request = request
        self._cwd = cwd
        self._max_lines = max_lines
        self._choose_hunks = choose_hunks or self._ask_hunk_by_hunk
        content = request.tool_call.content
        self._diffs = (
            [part for part in content if isinstance(part, v1.Diff)] if isinstance(content, list) else []
        )
        self._may_cut = bool(self._diffs) and max_lines < WHOLE_DIFF_LINES
        self._offers_comments = accepts_partial_edits
        self._offers_hunks = accepts_partial_edits and sum(len(hunks_of(diff)) for diff in self._diffs) > (
            0 if choose_hunks else 1
        )

    @property
    def is_warning(self) -> bool:
        """Whether the call would delete or publish something, or contact other machines."""
        return self._meta().get("isWarning") is True

    async def put(self) -> ApprovalAnswer:
        """Ask until there is an answer; if the question is withdrawn or closed, the answer has no permission."""
        await self._show()
        asking: Asking = "unexpected"
        while True:
            key = await self._screen.read_key(f"  {messages.YOUR_ANSWER} ", self._choices(), asking)
            asking = "again"
            if isinstance(key, Gesture):
                return ApprovalAnswer(None, stops_turn=key is not LEFT)
            if key == ALL:
                whole = (render_diff(diff, self._cwd, WHOLE_DIFF_LINES) for diff in self._diffs)
                await self._write(*whole, self._menu())
            elif key == COMMENT:
                if (answer := await self._reject_with_comment()) is not None:
                    return answer
            elif key == HUNKS:
                if (answer := await self._review_hunks()) is not None:
                    return answer
            else:
                return await self._choose(self._option(key))

    async def _show(self) -> None:
        title = sanitize_line(self._request.tool_call.title or self._request.tool_call.tool_call_id)
        style = "bold yellow" if self.is_warning else "bold"
        parts = [Text("? ", style="bold yellow").append(title, style=style)]
        parts += [render_diff(diff, self._cwd, self._max_lines) for diff in self._diffs]
        text = self._approval_text()
        if text and sanitize_line(text) not in title:
            parts.append(Text("  │ " + "\n  │ ".join(text.split("\n")), style="dim"))
        await self._write(*parts)
        await self._screen.write(self._layout.choices(*self._reason(), self._menu()))

    def _reason(self) -> list[Text]:
        """Return the agent's reason for asking, if it gives one."""
        reason = sanitize_line(str(self._meta().get("reason", "")))
        mark, style = ("⚠ ", "bold yellow") if self.is_warning else ("", "dim")
        return [Text(f"  {mark}{reason}", style=style)] if reason else []

    def _menu(self) -> Text:
        menu = Text()
        for number, option in enumerate(self._request.options, 1):
            menu.append(f"  {number} ", style=f"bold {STYLES.get(option.kind, '')}".strip())
            menu.append(f"{sanitize_line(option.name)}\n")
        more = [f"{choice.key} {choice.label}" for choice in self._extra_choices()]
        return menu.append("  " + " · ".join([f"{YES}/{NO} {messages.YES_OR_NO}", *more]), style="dim")

    def _choices(self) -> Sequence[Choice]:
        options = [
            Choice(str(number), sanitize_line(option.name))
            for number, option in enumerate(self._request.options[:9], 1)
        ]
        return [*options, Choice(YES), Choice(NO), *self._extra_choices()]

    def _extra_choices(self) -> Sequence[Choice]:
        """List the possible actions besides the agent's options."""
        choices: list[Choice] = []
        if self._offers_comments and self._reject_option():
            choices.append(Choice(COMMENT, messages.REJECT_AND_SAY_WHY))
        if self._offers_hunks:
            choices.append(Choice(HUNKS, messages.REVIEW_BY_HUNK))
        if self._may_cut:
            choices.append(Choice(ALL, messages.FULL_DIFF))
        return choices

    def _option(self, key: str) -> str | None:
        if key == YES:
            return option_named(self._request, "allow_once")
        if key == NO:
            return self._reject_option()
        return self._request.options[int(key) - 1].option_id

    def _reject_option(self) -> str | None:
        return option_named(self._request, "reject_once")

    async def _choose(self, option_id: str | None) -> ApprovalAnswer:
        option = next((each for each in self._request.options if each.option_id == option_id), None)
        if option is None:
            return ApprovalAnswer(None)
        await self._note(option.name, option.kind)
        return ApprovalAnswer(Permission(option_id))

    async def _reject_with_comment(self) -> ApprovalAnswer | None:
        words = await self._screen.read_line(f"  {messages.WHY_NOT}", is_expected=True)
        if isinstance(words, Gesture):
            return None
        comment = sanitize_line(words)
        await self._note(messages.rejected_because(comment) if comment else messages.REJECTED, "reject_once")
        return ApprovalAnswer(Permission(self._reject_option(), comment=words.strip()))

    async def _review_hunks(self) -> ApprovalAnswer | None:
        """Let the person choose hunks; return None if they go back to the question."""
        hunks = [(diff, hunk) for diff in self._diffs for hunk in hunks_of(diff)]
        kept = await self._choose_hunks(hunks)
        return None if kept is None else await self._answer_for_hunks(hunks, kept)

    async def _ask_hunk_by_hunk(self, hunks: ProposedHunks) -> ProposedHunks | None:
        """Ask about every hunk; return None if the person goes back."""
        kept: list[tuple[v1.Diff, Hunk]] = []
        for number, (diff, hunk) in enumerate(hunks, 1):
            await self._write(headline(diff, self._cwd), render_hunk(diff, hunk))
            question = messages.accept_hunk(number, len(hunks), can_edit=self._screen.can_edit)
            choices = (*HUNK_CHOICES, Choice(EDIT)) if self._screen.can_edit else HUNK_CHOICES
            key = await self._screen.read_key(f"  {question} ", choices, "in_series")
            if isinstance(key, Gesture) or key == "q":
                return None
            if key == YES:
                kept.append((diff, hunk))
            elif key == EDIT:
                kept += [(diff, changed) for changed in await self._changed(diff, hunk)]
            elif key == "a":
                kept += hunks[number - 1 :]
                break
            elif key == "d":
                break
        return kept

    async def _changed(self, diff: v1.Diff, hunk: Hunk) -> list[Hunk]:
        """Let the person edit a hunk; return an empty list if the result equals the old text or the editor fails."""
        text = await self._screen.edit(text_to_edit(hunk), os.path.basename(diff.path))
        if text is None:
            await self._note(messages.EDITOR_FAILED, "reject_once")
            return []
        changed = edited(hunk, text)
        return [changed] if changed else []

    async def _answer_for_hunks(
        self, hunks: Sequence[tuple[v1.Diff, Hunk]], kept: Sequence[tuple[v1.Diff, Hunk]]
    ) -> ApprovalAnswer:
        if not kept:
            await self._note(messages.REJECTED, "reject_once")
            return ApprovalAnswer(Permission(self._reject_option()))
        await self._note(messages.hunks_accepted(len(kept), len(hunks)), "allow_once")
        edits: dict[str, str] = {}
        changes: dict[str, tuple[tuple[int, int, tuple[str, ...]], ...]] = {}
        rejected: dict[str, tuple[str, ...]] = {}
        for diff in self._diffs:
            proposed = [hunk for of, hunk in hunks if of is diff]
            taken = [hunk for of, hunk in kept if of is diff]
            if taken != proposed:
                places = {hunk.old_start for hunk in taken}
                if came_as_hunks(diff):
                    changes[diff.path] = tuple(
                        (each.old_start + 1, len(each.old_lines), each.new_lines) for each in taken
                    )
                else:
                    edits[diff.path] = apply_hunks(old_text(diff), taken)
                rejected[diff.path] = tuple(
                    describe_hunk(hunk) for hunk in proposed if hunk.old_start not in places
                )
        return ApprovalAnswer(
            Permission(
                option_named(self._request, "allow_once"), edits=edits, rejected=rejected, changes=changes
            )
        )

    def _approval_text(self) -> str:
        """Return the full text to approve, as the agent formatted it for people; empty if the diffs show it."""
        return sanitize(str(self._meta().get("approvalText", "")))

    def _meta(self) -> dict[str, object]:
        """Return the agent's extensions in `_meta`."""
        meta = self._request.tool_call.meta
        said = meta.get("hermes") if isinstance(meta, dict) else None
        return cast("dict[str, object]", said) if isinstance(said, dict) else {}

    async def _note(self, words: str, kind: str) -> None:
        await self._screen.write(
            self._layout.continuation(Text(f"  → {sanitize_line(words)}", style=STYLES.get(kind, "")))
        )

    async def _write(self, *parts: Text) -> None:
        await self._screen.write(self._layout.drawing(*parts))
