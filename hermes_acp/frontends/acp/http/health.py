"""Answer `/healthz`, `/readyz` and `/metrics`. The first two reveal nothing secret, so they need no token."""

import ipaddress
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

import msgspec
from anyio.to_thread import run_sync
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from hermes_acp.core.errors import StorageError
from hermes_acp.frontends.acp.http.remote_clients import RemoteClients
from hermes_acp.frontends.acp.http.request_admission import AdmissionPolicy, AdmissionRefusal
from hermes_acp.storage.private_files import private_folder
from hermes_acp.telemetry.metrics import CONTENT_TYPE

METHODS: Final = ("GET", "HEAD")
NotReady = Literal["starting", "draining", "home_not_writable"]


class _Status(Struct, frozen=True):
    status: Literal["ready", "not_ready"]
    reasons: tuple[NotReady, ...]


class Health:
    """The answers to health checks."""

    def __init__(
        self,
        clients: RemoteClients,
        home: Path,
        metrics: Callable[[], str],
        *,
        has_open_metrics: bool = False,
    ) -> None:
        """Prepare the answers; with `has_open_metrics`, clients on this machine need no token for the metrics."""
        self.is_started = False
        self._clients = clients
        self._home = home
        self._metrics = metrics
        self._has_open_metrics = has_open_metrics

    async def answer(self, request: Request, policy: AdmissionPolicy) -> Response | AdmissionRefusal | None:
        """Return the response, or None if the request has another path."""
        if request.method not in METHODS:
            return None
        match request.url.path:
            case "/healthz":
                return Response("ok\n", media_type="text/plain")
            case "/readyz":
                reasons = await self.reasons()
                status = _Status("not_ready" if reasons else "ready", reasons)
                body = msgspec.json.encode(status) + b"\n"
                return Response(body, 503 if reasons else 200, media_type="application/json")
            case "/metrics":
                refusal = policy.check_host_and_origin(request.headers)
                if refusal is None and not (self._has_open_metrics and _is_local(request)):
                    refusal = policy.check(request.headers)
                return refusal or Response(self._metrics(), headers={"content-type": CONTENT_TYPE})
            case _:
                return None

    async def reasons(self) -> tuple[NotReady, ...]:
        """Return the reasons why this server is not ready for clients."""
        found: list[NotReady] = []
        if not self.is_started:
            found.append("starting")
        if self._clients.is_closed:
            found.append("draining")
        if not await run_sync(_can_write, self._home):
            found.append("home_not_writable")
        return tuple(found)


def _can_write(home: Path) -> bool:
    """Return whether a file can be written. It is tried, because permissions do not reveal a full or read-only disk."""
    try:
        with tempfile.TemporaryFile(dir=private_folder(home), buffering=0) as probe:
            probe.write(b"\n")
    except (OSError, StorageError):
        return False
    return True


def _is_local(request: Request) -> bool:
    try:
        return request.client is not None and ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False
