"""Webhooks: `POST /hooks/NAME` starts a run from a template in the settings.

A request needs no token; it is signed instead.
"""

from typing import Final

import anyio
import msgspec
from anyio.to_thread import run_sync
from msgspec import Struct
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from hermes_acp.app.app import App
from hermes_acp.config.sections.server_settings import WebhookSettings
from hermes_acp.config.settings import load_variables
from hermes_acp.core.errors import HermesError
from hermes_acp.frontends.acp.http.request_admission import AdmissionRefusal
from hermes_acp.frontends.acp.messages import serving
from hermes_acp.runs.webhook_orders import MAX_BODY_BYTES, NAME, request_of_webhook, verified_signature
from hermes_acp.telemetry.trace_context import valid_trace_parent

FOLDER: Final = "/hooks/"
BODY_S: Final = 10.0


class _Accepted(Struct, frozen=True):
    """The run for a request; `is_new` is False if the request was a repetition, which starts nothing."""

    run: str
    is_new: bool


class Webhooks:
    """Starts runs for signed requests."""

    def __init__(self, app: App) -> None:
        self._app = app

    def is_webhook(self, request: Request) -> bool:
        """Return whether a request addresses a webhook."""
        return request.url.path.startswith(FOLDER)

    async def answer(self, request: Request) -> Response | AdmissionRefusal:
        """Start a run, or say why not; a refusal never reveals whether the webhook exists."""
        if request.method != "POST":
            return Response("", 405, {"allow": "POST"}, "text/plain")
        name = request.url.path.removeprefix(FOLDER)
        body = await _body_of(request)
        if isinstance(body, AdmissionRefusal):
            return body
        try:
            return await self._start(name, body, request)
        except HermesError:
            return AdmissionRefusal(503, serving.WEBHOOK_FAILED)

    async def _start(self, name: str, body: bytes, request: Request) -> Response | AdmissionRefusal:
        webhook, secret = await run_sync(self._find, name)
        runs = self._app.run_service
        signature = verified_signature(request.headers, body, secret, runs.now())
        if webhook is None or not signature:
            return AdmissionRefusal(401, serving.WEBHOOK_REFUSED)
        run_request = await run_sync(request_of_webhook, name, webhook, body, signature)
        is_new = await runs.engine.show(run_request.id) is None
        trace_parent = valid_trace_parent(request.headers.get("traceparent"))
        view = await runs.start(run_request, trace_parent=trace_parent)
        accepted = msgspec.json.encode(_Accepted(view.order.id, is_new))
        return Response(accepted, 202 if is_new else 200, media_type="application/json")

    def _find(self, name: str) -> tuple[WebhookSettings | None, str]:
        """Return a configured webhook with its secret. Blocks."""
        if not NAME.fullmatch(name):
            return None, ""
        access = self._app.configuration.access
        settings, _ = access.read()
        webhook = settings.serve.webhooks.get(name)
        return webhook, load_variables(access.environment).get(webhook.secret_env, "") if webhook else ""


async def _body_of(request: Request) -> bytes | AdmissionRefusal:
    announced = request.headers.get("content-length", "0")
    if not announced.isdigit() or int(announced) > MAX_BODY_BYTES:
        return AdmissionRefusal(413, serving.body_too_long(MAX_BODY_BYTES))
    body = bytearray()
    try:
        with anyio.fail_after(BODY_S):
            async for piece in request.stream():
                body += piece
                if len(body) > MAX_BODY_BYTES:
                    return AdmissionRefusal(413, serving.body_too_long(MAX_BODY_BYTES))
    except TimeoutError:
        return AdmissionRefusal(408, serving.body_too_slow(BODY_S))
    except ClientDisconnect:
        return AdmissionRefusal(400, serving.WEBHOOK_REFUSED)
    return bytes(body)
