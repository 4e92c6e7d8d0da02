"""Complete a line while it is typed: commands after a slash, files after an at sign."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, ThreadedCompleter
from prompt_toolkit.document import Document

from hermes_acp.frontends.chat.input.file_mentions import files_below, matching
from hermes_acp.frontends.chat.rendering.terminal_text import clip, sanitize_line

MAX_OFFERED: Final = 50
CACHE_TTL_S: Final = 5.0
MAX_META_LENGTH: Final = 70


class CompletionItem(Struct, frozen=True):
    """A command or a value; `hint` says what may follow a command's name."""

    name: str
    description: str
    hint: str = ""


Commands = Callable[[], Sequence[CompletionItem]]
Values = Callable[[str], Sequence[CompletionItem]]
Ready = Callable[[], Awaitable[None]]


class LineCompleter(Completer):
    """Completes a line; `values(command)` returns the values that may follow a command's name.

    Commands are offered once `ready` returns.
    """

    def __init__(
        self, cwd: str, commands: Commands, values: Values, ready: Ready, clock: Callable[[], float]
    ) -> None:
        self._commands = commands
        self._ready = ready
        self._values = values
        self._files = ThreadedCompleter(_FileCompleter(cwd, clock))

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Return the commands and values that match the word before the cursor."""
        before = document.text_before_cursor
        if before.startswith("/") and "\n" not in before:
            return self._for_command(before[1:])
        return ()

    async def get_completions_async(self, document: Document, complete_event: CompleteEvent):
        """Yield the same completions, then files, which are searched for in a thread."""
        if document.text_before_cursor.startswith("/"):
            await self._ready()
        for completion in self.get_completions(document, complete_event):
            yield completion
        if _mention(document) is not None:
            async for completion in self._files.get_completions_async(document, complete_event):
                yield completion

    def _for_command(self, typed: str) -> Iterable[Completion]:
        name, space, rest = typed.partition(" ")
        if space:
            offered = self._values(name)
            return [
                Completion(each.name, -len(rest), display_meta=_meta(each))
                for each in offered
                if each.name.lower().startswith(rest.lower())
            ]
        return [
            Completion(each.name, -len(name), display=f"/{each.name}", display_meta=_meta(each))
            for each in self._commands()
            if each.name.lower().startswith(name.lower())
        ]


class _FileCompleter(Completer):
    def __init__(self, cwd: str, clock: Callable[[], float]) -> None:
        self._cwd = cwd
        self._clock = clock
        self._paths: list[str] = []
        self._looked_at = -CACHE_TTL_S

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        wanted = _mention(document)
        if wanted is None:
            return
        if self._clock() - self._looked_at >= CACHE_TTL_S:
            self._paths = files_below(self._cwd)
            self._looked_at = self._clock()
        for path in matching(self._paths, wanted, MAX_OFFERED):
            shown = sanitize_line(path)
            if shown == path:  # a path with control characters cannot be typed the way it is shown
                yield Completion(path, -len(wanted), display=f"@{path}")


def _mention(document: Document) -> str | None:
    before = document.text_before_cursor
    words = before.split()
    if not words or before[-1].isspace() or not words[-1].startswith("@"):
        return None
    return words[-1][1:]


def _meta(offered: CompletionItem) -> str:
    hint = f" ({offered.hint})" if offered.hint else ""
    return clip(sanitize_line(f"{offered.description}{hint}"), MAX_META_LENGTH)
