"""Queue a chat's unanswered prompts: each one is either waiting here or has been sent to the agent."""

from collections import deque

import anyio


class PromptQueue:
    """Returns waiting prompts one at a time, each after the previous one was answered. A waiting prompt can be taken
    back; a sent one can return only if it `ended` before the agent read it.
    """

    def __init__(self) -> None:
        self._waiting: deque[str] = deque()
        self._sent = 0
        self._unread: list[str] = []
        self._is_stopping = False
        self._change = anyio.Event()
        self._turn_of_others = ""

    @property
    def waiting(self) -> tuple[str, ...]:
        """The prompts that have not been sent yet, oldest first."""
        return tuple(self._waiting)

    @property
    def sent(self) -> int:
        """The number of prompts that were sent but have not been answered yet."""
        return self._sent

    @property
    def is_busy(self) -> bool:
        """Whether any prompt is unanswered, including prompts of the session's other clients."""
        return self._sent > 0 or bool(self._waiting or self._turn_of_others)

    @property
    def runs_others(self) -> bool:
        """Whether a turn is running that this chat did not start."""
        return bool(self._turn_of_others)

    @property
    def is_stopping(self) -> bool:
        """Whether the person has stopped the sent prompts, but they have not ended yet."""
        return self._is_stopping

    def add(self, prompt: str) -> None:
        """Queue a prompt."""
        self._waiting.append(prompt)
        self._wake()

    def add_sent(self) -> None:
        """Count a prompt that is sent at once to steer the running turn."""
        self._sent += 1

    async def take_next(self) -> str:
        """Wait until all sent prompts are answered; return the oldest waiting one, which then counts as sent."""
        while self._sent or not self._waiting:
            await self._change.wait()
        self._sent += 1
        return self._waiting.popleft()

    def ended(self, unread: str = "") -> list[str]:
        """Record that a sent prompt has ended; `unread` is its text if it was stopped before the agent read it.

        Once all have ended, return those that the agent did not read.
        """
        self._sent -= 1
        if unread:
            self._unread.append(unread)
        if self._sent:
            return []
        prompts, self._unread = self._unread, []
        self._is_stopping = False
        self._wake()
        return prompts

    def others_started(self, turn_id: str) -> None:
        """Record that a turn is running that this chat did not start."""
        self._turn_of_others = turn_id

    def others_ended(self, turn_id: str) -> bool:
        """Record that a turn started by others has ended; return False if it was not the running one."""
        if not turn_id or turn_id != self._turn_of_others:
            return False
        self._turn_of_others = ""
        self._is_stopping = self._is_stopping and self._sent > 0
        return True

    def stop(self) -> list[str]:
        """Record that the person has stopped the sent prompts; remove and return the waiting ones."""
        self._is_stopping = self._sent > 0 or bool(self._turn_of_others)
        prompts = list(self._waiting)
        self._waiting.clear()
        return prompts

    def _wake(self) -> None:
        self._change.set()
        self._change = anyio.Event()
