"""Handle the non-text keys of the input line."""

from collections.abc import Awaitable, Callable

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.chat_context import COMMANDS, CommandContext
from hermes_acp.frontends.chat.event_presenter import EventPresenter
from hermes_acp.frontends.chat.input.missing_mentions import missing_mention
from hermes_acp.frontends.chat.prompt_queue import PromptQueue
from hermes_acp.frontends.chat.rendering.terminal_text import sanitize_line
from hermes_acp.frontends.chat.screens.screen import Reaction
from hermes_acp.frontends.chat.spoken_prompt import SpokenPrompt


class KeyActions:
    """The key actions of a chat; `take` handles a line and returns False if the chat is ending."""

    def __init__(
        self,
        context: CommandContext,
        presenter: EventPresenter,
        prompts: PromptQueue,
        spoken_prompt: SpokenPrompt,
        take: Callable[[str], Awaitable[bool]],
    ) -> None:
        self._context = context
        self._presenter = presenter
        self._prompts = prompts
        self._spoken_prompt = spoken_prompt
        self._take = take
        self._was_interrupted = False
        self._was_warned = False

    def line_entered(self) -> None:
        """Clear hints about the previous line."""
        self._presenter.hint, self._was_warned = "", False

    def interrupt(self, has_text: bool) -> Reaction:
        """Handle Ctrl+C: discard a recording, stop the turn, clear the line or, the second time, quit."""
        if self._spoken_prompt.discard():
            return "stay"
        if self._prompts.is_busy:
            is_second = self._prompts.is_stopping and self._was_interrupted
            if is_second or self._context.link.current is None:
                self._context.is_leaving = True
                return "leave"
            self._stop()
            self._was_interrupted = True
            return "stay"
        if has_text:
            return "clear"
        if self._was_warned:
            self._context.is_leaving = True
            return "leave"
        self._was_warned = True
        self._presenter.hint = messages.QUIT_HINT
        return "stay"

    def key_pressed(self) -> None:
        """Withdraw the hint to press Ctrl+C again, because another key was pressed."""
        if self._was_warned:
            self._presenter.hint, self._was_warned = "", False

    def warn_before(self, line: str) -> str:
        """Return a warning if a line mentions a file that does not exist."""
        name = missing_mention(line, self._context.cwd)
        return messages.missing_file(sanitize_line(name)) if name else ""

    def stop_turn(self) -> None:
        """Discard a recording, if there is one; otherwise, stop the running turn."""
        if self._spoken_prompt.discard():
            return
        if self._prompts.is_busy and not self._prompts.is_stopping:
            self._stop()
            self._was_interrupted = False

    def miss_editor(self) -> None:
        """Tell the user how to configure a text editor."""
        self._presenter.hint = messages.NO_EDITOR_HINT

    def speak(self) -> None:
        """Start or end the recording of a prompt."""
        self._spoken_prompt.toggle()

    async def submit(self, line: str) -> bool:
        """Send a line while a question waits; return False if the chat is ending."""
        return await self._take(line)

    async def cycle_mode(self) -> None:
        """Switch to the next permission mode."""
        await self._context.cycle_option("mode")

    async def expand_output(self) -> None:
        """Show the last tool call's output in full."""
        await COMMANDS.open("output").run(self._context, "")

    def _stop(self) -> None:
        """Stop the prompts that were sent; queued ones return to the input line."""
        waiting = self._prompts.stop()
        if self._prompts.is_stopping:
            self._presenter.hint = messages.STOPPING_HINT
            if session := self._context.link.current:
                session.cancel()
        if waiting:
            self._context.screen.put_back("\n".join(waiting))
