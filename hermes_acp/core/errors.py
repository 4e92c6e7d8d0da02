"""The errors of this program; each has a stable code and an exit code for headless runs."""

from collections.abc import Iterator
from typing import ClassVar

from hermes_acp.core.exit_codes import ExitCode


class HermesError(Exception):
    """A failure with a stable code, a one-sentence message for people, and a hint about what to do.

    `message` says what happened, including the value involved; `hint` says what to do about it. Neither may contain a
    secret.
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = ExitCode.FAILED

    def __init__(self, message: str, *, hint: str = "", retryable: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.retryable = retryable

    def sentence(self) -> str:
        """Return the message and the hint as a single text."""
        return f"{self.message} {self.hint}".strip()


class UserError(HermesError):
    """The configuration or the request is invalid. Retrying does not help."""

    code = "user_must_act"
    exit_code = ExitCode.USAGE


class ConfigError(UserError):
    """A settings file or variable cannot be used."""

    code = "bad_config"


class AuthRequired(UserError):
    """No usable model is configured."""

    code = "auth_required"


class SessionNotFound(UserError):
    """The session does not exist, or it must be open but is not."""

    code = "not_found"

    def __init__(self, message: str, *, session_id: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.session_id = session_id


class BadRequest(UserError):
    """The request is well-formed but invalid, such as a relative working directory."""

    code = "bad_request"


class Busy(UserError):
    """Another process or turn is using the requested resource."""

    code = "busy"
    exit_code = ExitCode.BUSY


class HeldElsewhere(Busy):
    """A process on another machine holds the requested record."""


class DescriptorLimitError(UserError):
    """The process has reached its limit of open files. Files that are already open stay open."""

    code = "descriptor_limit"


class ModelError(HermesError):
    """The model, or the connection to it, failed."""

    code = "model_trouble"
    exit_code = ExitCode.MODEL


class ModelUnavailable(ModelError):
    """The endpoint cannot be reached, closed the connection, or answered with a server error."""

    code = "model_down"


class ModelTimeout(ModelUnavailable):
    """The endpoint accepted the request, then sent nothing for too long."""

    code = "model_silent"


class RateLimited(ModelError):
    """The endpoint rejected the request because of its rate limit. `retry_after_s` is the wait it asked for, if any."""

    code = "rate_limited"

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message, retryable=True)
        self.retry_after_s = retry_after_s


class ModelAuthFailed(ModelError):
    """The endpoint rejected the key."""

    code = "model_auth_failed"


class ContextWindowExceeded(ModelError):
    """The conversation no longer fits the model's context window."""

    code = "context_full"


class ModelRefused(ModelError):
    """The endpoint rejected this request or its content."""

    code = "model_refused"


class QuotaExceeded(ModelRefused):
    """The account's quota is used up. Another key may still work."""

    code = "quota_used_up"


class BadReply(ModelError):
    """The endpoint's answer is malformed."""

    code = "bad_reply"


class WorkspaceError(HermesError):
    """A file operation or command failed. The model usually sees this as the outcome of a call."""

    code = "workspace_trouble"


class FileTooLarge(WorkspaceError):
    """The file is too large to read whole. Parts of it can be read."""

    code = "file_too_large"


class EditorStateUnknown(WorkspaceError):
    """The editor did not report a file's content, so the file may have unsaved changes."""

    code = "editor_cannot_tell"


class OutsideRoots(WorkspaceError):
    """The path is outside the session's folders."""

    code = "outside_roots"


class StorageError(HermesError):
    """A transcript cannot be written or read because it is locked or corrupt, or the disk is full."""

    code = "storage_trouble"
    exit_code = ExitCode.STORAGE


class RecordTakenOver(StorageError):
    """Another machine has taken over a record that this process held, so it can no longer be appended to here."""


class NotificationError(HermesError):
    """A notification could not be delivered. The message never contains the address."""

    code = "notification_trouble"


class TrainingError(HermesError):
    """Training failed: its data, its model or the trainer cannot be used."""

    code = "training_failed"


class InternalError(HermesError):
    """A bug in hermes-acp. Details are in `logs/bugs.log`."""

    code = "bug"


def exit_code_of(code: str) -> int:
    """Return the exit code for an error's stable code, such as one reported by an agent; 1 if the code is unknown."""
    return next((each.exit_code for each in _families(HermesError) if each.code == code), ExitCode.FAILED)


def _families(error: type[HermesError]) -> Iterator[type[HermesError]]:
    yield error
    for each in error.__subclasses__():
        yield from _families(each)


def first_error(error: BaseException) -> BaseException:
    """Return the error itself or, for an exception group, the first error in it."""
    inner: tuple[BaseException, ...] = getattr(error, "exceptions", ())
    return first_error(inner[0]) if inner else error
