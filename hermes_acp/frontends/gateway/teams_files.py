"""Send files on Microsoft Teams: small pictures in the message, and others after the person has accepted them.

Source: "Send and receive files through the bot" of Teams.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from importlib import import_module
from secrets import token_urlsafe
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.file_download import is_allowed
from hermes_acp.frontends.gateway.port.platform_port import OutgoingFile, PlatformError

CONSENT: Final = "application/vnd.microsoft.teams.card.file.consent"
INFO: Final = "application/vnd.microsoft.teams.card.file.info"
DOWNLOAD: Final = "application/vnd.microsoft.teams.file.download.info"
ANSWERED: Final = "fileUpload"
"""The `type` in the answer to an offer."""
FILE_HOSTS: Final = ("sharepoint.com",)
INLINE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/gif"})
MAX_INLINE_BYTES: Final = 36_000
"""A message may have 100 kB in UTF-16, and pictures are encoded in Base64."""
MAX_OFFERED_BYTES: Final = 50 * 1024 * 1024


class _Offer(Struct, frozen=True):
    """A file that is offered in a conversation."""

    room: str
    file: OutgoingFile


class _Context(Struct):
    """The context that an offer and the answer to it share."""

    token: str = ""


class _Upload(Struct, rename="camel"):
    """The addresses of a file at Teams: for the upload, and after it."""

    upload_url: str = ""
    content_url: str = ""
    name: str = ""
    unique_id: str = ""
    file_type: str = ""


class _Answer(Struct, rename="camel"):
    """A person's answer to an offer."""

    action: str = ""
    context: _Context = field(default_factory=_Context)
    upload_info: _Upload = field(default_factory=_Upload)


class FileOffers:
    """The offered files, until people accept or decline them; they are kept in memory only."""

    def __init__(
        self, http: Any, hosts: Sequence[str] = FILE_HOSTS, max_bytes: int = MAX_OFFERED_BYTES
    ) -> None:
        """Prepare with an aiohttp session for uploads to `hosts`; beyond `max_bytes`, the oldest offers are dropped."""
        self._http, self._hosts, self._max_bytes = http, hosts, max_bytes
        self._offers: dict[str, _Offer] = {}

    def offer(self, room: str, file: OutgoingFile) -> Mapping[str, Any]:
        """Return a card that asks whether the person wants a file."""
        token = token_urlsafe(16)
        self._offers[token] = _Offer(room, file)
        while sum(len(each.file.content) for each in self._offers.values()) > self._max_bytes:
            del self._offers[next(iter(self._offers))]
        content = {"sizeInBytes": len(file.content), "description": file.name}
        contexts = {"acceptContext": {"token": token}, "declineContext": {"token": token}}
        return {"contentType": CONSENT, "name": file.name, "content": {**content, **contexts}}

    async def take(self, room: str, value: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Upload a file that a person has accepted; return the card for it, or None if the file was declined.

        Raises PlatformError.
        """
        try:
            answer = msgspec.convert(value, _Answer)
        except msgspec.ValidationError:
            raise PlatformError(messages.FILE_GONE) from None
        token, there, is_wanted = answer.context.token, answer.upload_info, answer.action == "accept"
        offer = self._offers.get(token)
        if offer is None or offer.room != room:
            if is_wanted:
                raise PlatformError(messages.FILE_GONE)
            return None
        del self._offers[token]
        if not is_wanted:
            return None
        await self._upload(there.upload_url, offer.file)
        return {
            "contentType": INFO,
            "contentUrl": there.content_url,
            "name": there.name or offer.file.name,
            "content": {"uniqueId": there.unique_id, "fileType": there.file_type},
        }

    async def _upload(self, address: str, file: OutgoingFile) -> None:
        aiohttp: Any = import_module("aiohttp")
        if not is_allowed(address, self._hosts):
            raise PlatformError(messages.TEAMS_NO_PLACE)
        size = len(file.content)
        headers = {"Content-Type": "application/octet-stream", "Content-Range": f"bytes 0-{size - 1}/{size}"}
        try:
            async with self._http.put(
                address, data=file.content, headers=headers, allow_redirects=False
            ) as answer:
                await answer.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise PlatformError(type(error).__name__) from None
        if answer.status >= 300:
            raise PlatformError(f"HTTP {answer.status}")


def inline_picture(file: OutgoingFile) -> Mapping[str, Any] | None:
    """Convert a small picture to a part of a message; return None for larger pictures and other files."""
    if file.mime_type not in INLINE_TYPES or len(file.content) > MAX_INLINE_BYTES:
        return None
    data = f"data:{file.mime_type};base64,{b64encode(file.content).decode()}"
    return {"contentType": file.mime_type, "contentUrl": data, "name": file.name}
