"""The errors that can occur between a program and its agent."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, cast

from hermes_protocol.errors import AUTH_REQUIRED, CANCELLED, INVALID_PARAMS, METHOD_NOT_FOUND, NOT_FOUND


class AgentError(Exception):
    """The base class of the client's errors."""

    @property
    def sentence(self) -> str:
        """The message for people; `str()` also contains the call and the protocol's error code."""
        return str(self)


class AgentRefused(AgentError):
    """The agent answered a call with an error; `code`, `message` and `data` come from that error."""

    def __init__(self, method: str, code: int, message: str, data: object = None) -> None:
        super().__init__(f"{method} was refused: {message} ({code})")
        self.method = method
        self.code = code
        self.message = message
        self.data: object = data

    @property
    def sentence(self) -> str:
        """The agent's own message."""
        return self.message

    @property
    def reason(self) -> str:
        """The agent's stable name for the error, such as `model_auth_failed`, or an empty string if it gave none."""
        data = self.data
        if not isinstance(data, dict):
            return ""
        named = cast("dict[str, object]", data).get("code")
        return named if isinstance(named, str) else ""


class SignInNeeded(AgentRefused):
    """The agent has no model or no key for it, so the user has to set it up or sign in first."""


class NoSuchThing(AgentRefused):
    """The named object, such as a session, does not exist."""


class NotOffered(AgentRefused):
    """The agent does not know the method."""


class Cancelled(AgentRefused):
    """The call was cancelled before it was answered."""


class BadRequest(AgentRefused):
    """The parameters are invalid; the message says why."""


KINDS: Final[Mapping[int, type[AgentRefused]]] = MappingProxyType(
    {
        AUTH_REQUIRED: SignInNeeded,
        NOT_FOUND: NoSuchThing,
        METHOD_NOT_FOUND: NotOffered,
        CANCELLED: Cancelled,
        INVALID_PARAMS: BadRequest,
    }
)


def refusal(method: str, code: int, message: str, data: object = None) -> AgentRefused:
    """Return the most specific exception for the code of an error reply."""
    return KINDS.get(code, AgentRefused)(method, code, message, data)


class AgentGone(AgentError):
    """The agent could not be started, or has ended."""


class AgentSilent(AgentError):
    """The agent did not answer in time."""

    def __init__(self, method: str, waited_s: float) -> None:
        super().__init__(f"{method} got no answer within {waited_s:g} s")
        self.method = method
        self.waited_s = waited_s


class WrongVersion(AgentError):
    """The agent and this client have no version of the protocol in common."""

    def __init__(self, spoken: object, understood: int) -> None:
        super().__init__(
            f"the agent speaks version {spoken} of the protocol, this client version {understood}: "
            "update whichever of the two is older"
        )
        self.spoken = spoken
        self.understood = understood
