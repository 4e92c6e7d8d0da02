"""What can go wrong between a program and the agent it started.

Knows: the errors both clients raise. Does not know: wires, processes.
"""


class AgentError(Exception):
    """Anything an agent's client raises."""


class AgentRefused(AgentError):
    """The agent answered a call with an error; `code` and `data` are its own."""

    def __init__(self, method: str, code: int, message: str, data: object = None) -> None:
        super().__init__(f"{method} was refused: {message} ({code})")
        self.method = method
        self.code = code
        self.data = data


class AgentGone(AgentError):
    """The agent could not be started, or has ended."""


class AgentSilent(AgentError):
    """The agent did not answer in time."""

    def __init__(self, method: str, waited_s: float) -> None:
        super().__init__(f"{method} got no answer within {waited_s:g} s")
        self.method = method
        self.waited_s = waited_s
