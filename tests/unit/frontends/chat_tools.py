"""Shared parts of the chat tests: output of a fixed width, and a screen whose questions a list answers."""

from collections.abc import Callable, Sequence

from hermes_acp.frontends.chat.rendering.session_renderer import SessionRenderer
from hermes_acp.frontends.chat.rendering.text_rendering import TerminalStyle, TextRenderer
from hermes_acp.frontends.chat.rendering.transcript_layout import TranscriptLayout
from hermes_acp.frontends.chat.screens.screen import LEFT, Asking, Choice, Gesture

PLAIN = TerminalStyle("none", is_plain=True)
DRAWN = TerminalStyle("none", is_plain=False)
CWD = "/project"


def renderer(style: TerminalStyle = DRAWN, columns: int = 60) -> TextRenderer:
    return TextRenderer(style, lambda: columns)


def layout(style: TerminalStyle = DRAWN, columns: int = 60) -> TranscriptLayout:
    return TranscriptLayout(renderer(style, columns))


def session_renderer(on: TranscriptLayout) -> SessionRenderer:
    return SessionRenderer(on, CWD, lambda: 0.0)


class AnsweredScreen:
    """Gives answers from a list and stores what is written."""

    can_ask = True

    def __init__(self, *answers: str | Gesture, rewrite: Callable[[str], str | None] | None = None) -> None:
        """Store the answers. `rewrite` is the result of the user's editor; without it, there is no editor."""
        self._rewrite = rewrite
        self._answers = list(answers)
        self.written = ""
        self.put_back_texts: list[str] = []
        self.asked: list[tuple[str, bool]] = []

    async def write(self, text: str) -> None:
        self.written += text

    def refresh(self) -> None:
        pass

    async def read_prompt(self) -> str | Gesture:
        return self._next()

    async def read_key(
        self, question: str, choices: Sequence[Choice], asking: Asking = "unexpected"
    ) -> str | Gesture:
        self.asked.append((question, False))
        answer = self._next()
        assert isinstance(answer, Gesture) or answer in [choice.key for choice in choices]
        return answer

    async def read_line(
        self, question: str, *, is_secret: bool = False, is_expected: bool = False
    ) -> str | Gesture:
        self.asked.append((question, is_secret))
        return self._next()

    def put_back(self, text: str) -> None:
        self.put_back_texts.append(text)

    def insert(self, text: str) -> None:
        self.put_back_texts.append(text)

    def without_pasted(self, text: str) -> str:
        return text

    def copy(self, text: str) -> bool:
        return False

    @property
    def can_edit(self) -> bool:
        return self._rewrite is not None

    async def edit(self, text: str, name: str) -> str | None:
        return self._rewrite(text) if self._rewrite else None

    def cancel_read(self) -> None:
        pass

    def _next(self) -> str | Gesture:
        return self._answers.pop(0) if self._answers else LEFT
