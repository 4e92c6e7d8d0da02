"""The errors of this program, each with a stable code and an exit code for headless runs."""

from typing import ClassVar


class HermesError(Exception):
    """A failure with a stable code, one sentence for a person, and a hint on what to do.

    `message` says what happened and with which value; `hint` says what to do about it. Neither may hold a secret.
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "", retryable: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.retryable = retryable

    def sentence(self) -> str:
        """Join the message and the hint."""
        return f"{self.message} {self.hint}".strip()


class UserError(HermesError):
    """The configuration or the request is wrong; trying again changes nothing."""

    code = "user_must_act"
    exit_code = 2


class ConfigError(UserError):
    """A settings file or variable cannot be used."""

    code = "bad_config"


class AuthRequired(UserError):
    """No model can be reached with what is configured."""

    code = "auth_required"


class SessionNotFound(UserError):
    """A session was named that does not exist, or is not open where it must be."""

    code = "not_found"

    def __init__(self, message: str, *, session_id: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.session_id = session_id


class BadRequest(UserError):
    """The request is well formed but makes no sense, such as a relative working directory."""

    code = "bad_request"


class Busy(UserError):
    """Another process or turn holds what was asked for."""

    code = "busy"


class DescriptorLimitError(UserError):
    """The process may not open more files; nothing that is open is harmed."""

    code = "descriptor_limit"


class ModelError(HermesError):
    """The model, or the route to it, failed."""

    code = "model_trouble"
    exit_code = 3


class ModelUnavailable(ModelError):
    """The endpoint cannot be reached, broke off, or answered with a server error."""

    code = "model_down"


class ModelTimeout(ModelUnavailable):
    """The endpoint accepted the request, and then sent nothing for too long."""

    code = "model_silent"


class RateLimited(ModelError):
    """The endpoint wants fewer requests; `retry_after_s` is the wait in seconds that it asked for, if any."""

    code = "rate_limited"

    def __init__(self, message: str, *, hint: str = "", retry_after_s: float | None = None) -> None:
        super().__init__(message, hint=hint, retryable=True)
        self.retry_after_s = retry_after_s


class ModelAuthFailed(ModelError):
    """The endpoint refused the key."""

    code = "model_auth_failed"


class ContextWindowExceeded(ModelError):
    """The conversation no longer fits the model's window."""

    code = "context_full"


class ModelRefused(ModelError):
    """The endpoint refused this request or its content."""

    code = "model_refused"


class QuotaExceeded(ModelRefused):
    """The account behind the key has used up its quota; another key may work."""

    code = "quota_used_up"


class BadReply(ModelError):
    """The endpoint's answer is not in its own format."""

    code = "bad_reply"


class WorkspaceError(HermesError):
    """A file or command did not do what was asked; usually an outcome for the model."""

    code = "workspace_trouble"


class FileTooLarge(WorkspaceError):
    """A file is too large to be read whole; parts of it can be read."""

    code = "file_too_large"


class EditorStateUnknown(WorkspaceError):
    """The editor did not say what it holds of a file, so it may have unsaved changes."""

    code = "editor_cannot_tell"


class OutsideRoots(WorkspaceError):
    """A path leads out of the session's folders."""

    code = "outside_roots"


class StorageError(HermesError):
    """The session's record cannot be written or read: locked, corrupt, disk full."""

    code = "storage_trouble"
    exit_code = 4


class InternalError(HermesError):
    """An invariant of this program was broken."""

    code = "bug"


def first_error(error: BaseException) -> BaseException:
    """Return an error itself, or the first one in an exception group."""
    inner: tuple[BaseException, ...] = getattr(error, "exceptions", ())
    return first_error(inner[0]) if inner else error
