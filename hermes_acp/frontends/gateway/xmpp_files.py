"""Transfer XMPP files, which web servers keep: download from allowed servers, and upload to the account's own.

Source: XEP-0066, XEP-0363.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import httpx2

from hermes_acp.config.sections.gateway_settings import XmppSettings
from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.port.platform_port import OutgoingFile, PlatformError

TIMEOUT_S: Final = 20.0
PERMANENT: Final = frozenset({"modify", "cancel"})
"""The types of errors for which a retry does not help."""
UPLOAD_HEADERS: Final = frozenset({"authorization", "cookie", "expires"})
"""The headers that a server may request for an upload, in lower case."""


async def fetch_file(settings: XmppSettings, address: str, max_bytes: int) -> bytes:
    """Download a file from a server that the settings allow. Raises PlatformError."""
    if not _may_fetch(settings, address):
        raise PlatformError(messages.XMPP_FILE_HOST, is_permanent=True)
    content = b""
    try:
        async with _client() as client, client.stream("GET", address) as answer:
            if not answer.is_success:
                raise PlatformError(f"HTTP {answer.status_code}", is_permanent=True)
            async for part in answer.aiter_bytes():
                content += part
                if len(content) > max_bytes:
                    break
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise PlatformError(messages.unreachable(type(error).__name__)) from error
    return content[: max_bytes + 1]


def file_name(address: str) -> str:
    """Return the file name in a URL."""
    try:
        path = urlsplit(address).path
    except ValueError:
        return "file"
    return unquote(PurePosixPath(path).name)[:200] or "file"


async def upload_file(settings: XmppSettings, library_client: Any, file: OutgoingFile) -> str:
    """Upload a file to the account's server; return its URL. Raises PlatformError."""
    errors: Any = import_module("slixmpp.exceptions")
    uploads = library_client.plugin["xep_0363"]
    try:
        service = await uploads.find_upload_service(timeout=TIMEOUT_S)
        if service is None:
            raise PlatformError(messages.XMPP_NO_UPLOADS, is_permanent=True)
        answer = await uploads.request_slot(
            service["from"], file.name, len(file.content), file.mime_type, timeout=TIMEOUT_S
        )
    except errors.IqError as error:
        found = error.iq["error"]
        reason = messages.server_refused(str(found["text"] or found["condition"]))
        raise PlatformError(reason, is_permanent=str(found["type"]) in PERMANENT) from error
    except (errors.IqTimeout, TimeoutError) as error:
        raise PlatformError(messages.NO_ANSWER_IN_TIME) from error
    slot = answer["http_upload_slot"]
    put, get = str(slot["put"]["url"]), str(slot["get"]["url"])
    if not all(_is_encrypted_enough(settings, each) for each in (put, get)):
        raise PlatformError(messages.XMPP_BAD_SLOT, is_permanent=True)
    asked = {str(each["name"]): str(each["value"]) for each in slot["put"]["headers"]}
    await _put(put, {key: value for key, value in asked.items() if key.lower() in UPLOAD_HEADERS}, file)
    return get


async def _put(address: str, headers: Mapping[str, str], file: OutgoingFile) -> None:
    try:
        async with _client() as client:
            sent = {"Content-Type": file.mime_type, **headers}
            answer = await client.put(address, content=file.content, headers=sent)
    except httpx2.HTTPError as error:
        raise PlatformError(messages.unreachable(type(error).__name__)) from error
    if not answer.is_success:
        raise PlatformError(f"HTTP {answer.status_code}", is_permanent=answer.status_code < 500)


def _client() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(timeout=TIMEOUT_S, follow_redirects=False, trust_env=False)


def _may_fetch(settings: XmppSettings, address: str) -> bool:
    """Return whether a file's server is allowed: the account's own one, or a configured one."""
    try:
        host = (urlsplit(address).hostname or "").lower()
    except ValueError:
        return False
    domain = settings.jid.partition("@")[2].lower()
    is_near = host == domain or host.endswith(f".{domain}") or host in settings.file_hosts
    return is_near and _is_encrypted_enough(settings, address)


def _is_encrypted_enough(settings: XmppSettings, address: str) -> bool:
    """Return whether a URL is encrypted, unless the connection to the server is not either."""
    return urlsplit(address).scheme == ("https" if settings.tls == "tls" else "http")
