"""The prompts of a chat that have no answer yet: each one either waits here or was sent to the agent."""

from collections import deque

import anyio


class PromptQueue:
    """Hands out waiting prompts one at a time; each only after the previous one was answered. A waiting prompt can
    be taken back. One that was sent returns only if it `ended` before the agent read it.
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
        """The prompts that were not sent yet, oldest first."""
        return tuple(self._waiting)

    @property
    def sent(self) -> int:
        """Number of prompts that were sent and have no answer yet."""
        return self._sent

    @property
    def is_busy(self) -> bool:
        """Whether any prompt is unanswered, including those of other clients of the session."""
        return self._sent > 0 or bool(self._waiting or self._turn_of_others)

    @property
    def runs_others(self) -> bool:
        """Whether a turn is running that this chat did not start."""
        return bool(self._turn_of_others)

    @property
    def is_stopping(self) -> bool:
        """Whether the person stopped the sent prompts, and they have not ended yet."""
        return self._is_stopping

    def add(self, prompt: str) -> None:
        """Queue a prompt."""
        self._waiting.append(prompt)
        self._wake()

    def add_sent(self) -> None:
        """Count a prompt that is sent at once to steer the running turn."""
        self._sent += 1

    async def take_next(self) -> str:
        """Wait until all that was sent is answered; return the oldest waiting prompt, which now counts as sent."""
        while self._sent or not self._waiting:
            await self._change.wait()
        self._sent += 1
        return self._waiting.popleft()

    def ended(self, unread: str = "") -> list[str]:
        """Record that a sent prompt was answered, or was stopped `unread` by the agent.

        Once all have ended, return those that the agent has not read.
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
        """Record that the person stops the sent prompts; return the waiting ones, which leave the queue."""
        self._is_stopping = self._sent > 0 or bool(self._turn_of_others)
        prompts = list(self._waiting)
        self._waiting.clear()
        return prompts

    def _wake(self) -> None:
        self._change.set()
        self._change = anyio.Event()
