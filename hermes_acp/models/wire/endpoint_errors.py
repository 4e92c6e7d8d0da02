"""Parse an endpoint's refusal, and convert it to a readable error."""

import re
from collections.abc import Mapping
from math import ceil

import msgspec
from msgspec import Struct

from hermes_acp.core.errors import (
    BadReply,
    ContextWindowExceeded,
    ModelAuthFailed,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    QuotaExceeded,
    RateLimited,
)
from hermes_acp.lazy_pattern import LazyPattern
from hermes_acp.models.wire.endpoints import Endpoint
from hermes_acp.telemetry.redaction import Redactor

NOT_A_STREAM = "not_a_stream"
"""The code of a response that is neither a stream nor an error."""

_MESSAGE_LIMIT = 300
_KEY_SHAPES = LazyPattern(
    r"(?:Bearer\s+\S+|\b(?:sk|pk|rk|gsk|xai|key|nvapi|hf|AIza)[-_][\w.*…-]{6,}|\bAIza[\w-]{20,}|\bA[KS]IA[A-Z0-9]{12,})",
    re.IGNORECASE,
)
_TOO_LONG = LazyPattern(
    r"context[ _]length|context[ _]window|context[ _]size|prompt is too long|input is too long"
    r"|too many tokens|reduce the length|request_too_large|input token count .{0,40}exceeds",
    re.IGNORECASE,
)
_OUTPUT_TOO_LARGE = LazyPattern(r"\bmax_(?:completion_|output_|new_)?tokens\b.*too large", re.IGNORECASE)
_NOT_THERE = LazyPattern(
    r"unsupported_country|country, region|not (?:available|supported) in your", re.IGNORECASE
)
_USED_UP = LazyPattern(
    r"insufficient_quota|billing|credit balance|insufficient (?:funds|balance|credits)|tokens per day",
    re.IGNORECASE,
)


class EndpointRefusal(Struct, frozen=True):
    """An error reported by an endpoint; `status` is 0 if it arrived inside a stream.

    `kind` and `code` are the vendor's own, or empty if it sent none.
    """

    status: int
    kind: str = ""
    code: str = ""
    message: str = ""
    retry_after_s: float | None = None

    def matches(self, pattern: re.Pattern[str]) -> bool:
        """Return whether the code, the kind or the message matches."""
        return any(pattern.search(words) for words in (self.code, self.kind, self.message))


class _Detail(Struct, frozen=True):
    """One of Google's error details: a reason, a retry delay, or the quota that was exceeded."""

    reason: str = ""
    retry_delay: str = msgspec.field(default="", name="retryDelay")
    violations: list[dict[str, object]] = []


class ErrorBody(Struct, frozen=True):
    """The `error` object used by all vendors; compatible servers omit fields or change their types."""

    message: object = ""
    type: object = ""
    code: object = ""
    status: object = ""
    details: msgspec.Raw = msgspec.Raw(b"[]")


class _ErrorDocument(Struct, frozen=True):
    error: ErrorBody | str | None = None
    message: object = ""
    capital_message: object = msgspec.field(default="", name="Message")
    detail: object = ""


def read_refusal(status: int, headers: Mapping[str, str], body: bytes, now: float) -> EndpointRefusal:
    """Parse an error response; a body in an unknown form becomes the message. `now` is in seconds since the epoch."""
    retry_after_s = _read_retry_after(headers, now)
    try:
        # Google's gateways wrap the single error in a list.
        read = msgspec.json.decode(body, type=_ErrorDocument | list[_ErrorDocument])
    except (msgspec.DecodeError, UnicodeDecodeError):
        # HTML or plain text, usually from a gateway; only plain text can be shown.
        text = "" if body.lstrip().startswith(b"<") else body.decode("utf-8", "replace")
        return EndpointRefusal(status, message=text, retry_after_s=retry_after_s)
    document = read if isinstance(read, _ErrorDocument) else next(iter(read), _ErrorDocument())
    error = document.error
    if isinstance(error, ErrorBody):
        found = read_error(status, error)
        wait_s = found.retry_after_s if retry_after_s is None else retry_after_s
        return msgspec.structs.replace(found, retry_after_s=wait_s)
    words = _words(error or document.message or document.capital_message or document.detail)
    # Amazon sends the error's kind in a header.
    kind = headers.get("x-amzn-errortype", "").partition(":")[0]
    return EndpointRefusal(status, kind, message=words, retry_after_s=retry_after_s)


def read_error(status: int, error: ErrorBody) -> EndpointRefusal:
    """Parse an `error` object."""
    found = EndpointRefusal(status, _words(error.type), _words(error.code), _words(error.message))
    return _read_google(found, error) if isinstance(error.status, str) and error.status else found


def _read_google(found: EndpointRefusal, error: ErrorBody) -> EndpointRefusal:
    """Add Google's error details; an exceeded per-minute quota is a rate limit, not a used-up quota."""
    try:
        details = msgspec.json.decode(error.details, type=list[_Detail])
    except msgspec.DecodeError:
        details = []
    code, retry_after_s = found.code, None
    for detail in details:
        if detail.reason == "API_KEY_INVALID":
            code = "invalid_api_key"
        if any("PerDay" in str(violation.get("quotaId", "")) for violation in detail.violations):
            code = "insufficient_quota"
        retry_after_s = _number(detail.retry_delay.removesuffix("s")) if detail.retry_delay else retry_after_s
    return msgspec.structs.replace(found, kind=_words(error.status), code=code, retry_after_s=retry_after_s)


def to_error(refusal: EndpointRefusal, *, place: str, model: str, endpoint: Endpoint) -> ModelError:
    """Return the error for a refusal; `place` is the host and port."""
    said = clean(refusal.message, endpoint)
    told = f" It said: {said}{'' if said[-1] in '.!?…' else '.'}" if said else ""
    status = refusal.status or _status_of(refusal)
    if status == 400 and refusal.code == "invalid_api_key":
        status = 401
    answered = (
        f"{place} answered with status {refusal.status}." if refusal.status else f"{place} reported an error."
    )
    if (
        refusal.matches(_TOO_LONG.compiled)
        and status in (400, 413, 422, 500, 529)
        and not _OUTPUT_TOO_LARGE.compiled.search(refusal.message)
    ):
        return ContextWindowExceeded(f"The conversation no longer fits the window of {model}.{told}")
    match status:
        case 403 if refusal.matches(_NOT_THERE.compiled):
            return ModelRefused(f"{place} does not serve this region or account.{told}")
        case 401 | 403:
            variable = endpoint.key_variable or "the key variable of this provider"
            hint = f"Set {variable} to a key that is valid there."
            why = (
                f"{place} refused the key (status {refusal.status or status})."
                if endpoint.api_key
                else f"{place} requires a key."
            )
            return ModelAuthFailed(why + told, hint=hint)
        case 402:
            return QuotaExceeded(f"{answered}{told}", hint="Check the plan and balance of the account.")
        case 404:
            hint = "Check the model's name and the base URL."
            return ModelRefused(f"Model {model} was not found at {place}.{told}", hint=hint)
        case 408 | 409 | 424 | 425:
            return ModelUnavailable(f"{answered}{told}", retryable=True)
        case 413:
            return ContextWindowExceeded(f"The conversation is too large for {place}.{told}")
        case 429 if _is_used_up(refusal):
            return QuotaExceeded(
                f"The quota at {place} is used up.{told}", hint="Check the plan and balance."
            )
        case 429:
            delay = f" and asks to wait {ceil(refusal.retry_after_s):,} s" if refusal.retry_after_s else ""
            message = f"{place} is limiting requests{delay}.{told}"
            return RateLimited(message, retry_after_s=refusal.retry_after_s)
        case _ if 300 <= status < 400:
            hint = "Set the base URL to where the endpoint is now."
            return ModelRefused(
                f"{answered} Redirects are not followed, because they would pass on the key.", hint=hint
            )
        case _ if 400 <= status < 500:
            return ModelRefused(f"{place} refused the request (status {status}).{told}")
        case _ if status >= 500:
            return ModelUnavailable(f"{answered}{told}", retryable=True)
        case _:
            return BadReply(f"{answered}{told}", retryable=True)


def _is_used_up(refusal: EndpointRefusal) -> bool:
    """Return whether a quota is used up, rather than a rate limit exceeded; Google mentions billing in both cases."""
    is_google = refusal.kind == "RESOURCE_EXHAUSTED"
    return refusal.code == "insufficient_quota" if is_google else refusal.matches(_USED_UP.compiled)


def clean(text: str, endpoint: Endpoint) -> str:
    """Return a vendor's text in a form fit for display: without secrets, on one line, at most 300 characters."""
    for secret in endpoint.secrets():
        text = text.replace(secret, "[hidden]")
        if len(secret) >= 12:
            # A vendor may repeat the key with its middle masked.
            text = re.sub(re.escape(secret[:6]) + r"\S*", "[hidden]", text)
    text = Redactor(()).clean(text)
    text = " ".join(_KEY_SHAPES.compiled.sub("[hidden]", text).split())
    return text if len(text) <= _MESSAGE_LIMIT else text[: _MESSAGE_LIMIT - 1] + "…"


def _status_of(refusal: EndpointRefusal) -> int:
    """Return the status that the vendor associates with an error sent inside a stream."""
    if refusal.code.isdecimal() and 400 <= int(refusal.code) < 600:
        return int(refusal.code)
    match refusal.kind or refusal.code:
        case "not_a_stream":
            return 0
        case "authentication_error" | "invalid_api_key" | "UNAUTHENTICATED":
            return 401
        case "permission_error" | "PERMISSION_DENIED":
            return 403
        case "billing_error":
            return 402
        case "not_found_error" | "model_not_found" | "NOT_FOUND":
            return 404
        case "rate_limit_error" | "rate_limit_exceeded" | "requests" | "tokens" | "insufficient_quota":
            return 429
        case "throttlingException" | "RESOURCE_EXHAUSTED":
            return 429
        case "invalid_request_error" | "request_too_large" | "validationException" | "INVALID_ARGUMENT":
            return 400
        case "invalid_prompt" | "bio_policy" | "misalignment_policy_violation" | "data_residency_mismatch":
            return 400
        case _:
            # Overload, internal errors and unknown kinds: the stream broke, so trying again may help.
            return 529


def _read_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the requested delay in seconds, which may be sent in milliseconds, in seconds or as an HTTP date."""
    delay = _number(headers.get("retry-after-ms", ""))
    if delay is not None:
        return delay / 1000
    value = headers.get("retry-after", "").strip()
    delay = _number(value)
    if delay is not None or not value:
        return delay
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except ValueError:
        return None


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", text.strip(), re.ASCII) else None


def _words(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else msgspec.json.encode(value).decode()
