"""Run the hub: its socket, its limits, its signals and its shutdown."""

import signal
import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import httpx2
from hypercorn.config import Config

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import ConfigError, StorageError
from hermes_acp.frontends.acp.http.http_server import (
    CONNECTIONS_ENDING_S,
    http_config,
    listen,
    run_http_server,
)
from hermes_acp.frontends.acp.http.listener import Connections, Listener, default_bounds
from hermes_acp.frontends.acp.http.serve_settings import read_address
from hermes_acp.frontends.hub import messages
from hermes_acp.frontends.hub.authentication import AccountsCache, Authenticator
from hermes_acp.frontends.hub.client_address import public_address
from hermes_acp.frontends.hub.forwarding import local_client
from hermes_acp.frontends.hub.hub_endpoint import HubEndpoint, HubParts, HubRates
from hermes_acp.frontends.hub.open_connections import OpenConnections
from hermes_acp.frontends.hub.profile_processes import ProcessSettings, ProfileProcesses
from hermes_acp.frontends.hub.sign_in import SignIn
from hermes_acp.frontends.hub.web_sessions import WebSessions
from hermes_acp.shutdown import code_after, stop_signals
from hermes_acp.storage.descriptor_limit import raise_limit
from hermes_acp.storage.private_files import close_to_others, private_folder
from hermes_acp.telemetry.bug_log import BugLog
from hermes_acp.users.accounts import HUB_FOLDER, Account, AccountsFile
from hermes_acp.users.audit_log import AuditLog, entry
from hermes_acp.users.hub_settings import HubSettings
from hermes_acp.users.identity_provider import IdentityProvider, ProviderChoice
from hermes_acp.users.usage_ledger import UsageLedger

CLOSING_S: Final = 1.0


class Hub:
    """The hub of one home folder."""

    def __init__(self, environment: Environment, settings: HubSettings, listen_at: str = "") -> None:
        """Bind the address; `listen_at` overrides the settings. Raises ConfigError or StorageError."""
        self._base = Path(environment.base_path or environment.home_path)
        self._folder = self._base / HUB_FOLDER
        close_to_others(private_folder(self._folder))
        self._settings = settings
        self._bugs = BugLog(self._base)
        self._provider = _provider(environment, settings)
        host, port = read_address(listen_at or settings.listen, allow_remote=True)
        _check_certificate(settings)
        self._address = public_address(settings.public_url, host, settings.trusted_proxies)
        if not (host in ("127.0.0.1", "::1") or settings.certificate or settings.trusted_proxies):
            raise ConfigError(messages.not_encrypted(host), hint=messages.ANY_ADDRESS_HINT)
        self._has_users = bool(AccountsFile(self._folder).read())
        self._listener = listen(host, port)
        scheme = "https" if settings.certificate else "http"
        shown = f"[{host}]" if ":" in host else host
        self.url = f"{self._address.origin or f'{scheme}://{shown}:{self._listener.getsockname()[1]}'}/"

    async def run(self, say: Callable[[str], None]) -> int:
        """Serve until a signal arrives, then let the processes of profiles end; return the exit code."""
        raise_limit()
        cache = AccountsCache(AccountsFile(self._folder))
        audit, ledger = AuditLog(self._folder), UsageLedger(self._folder)
        closed, stopping = anyio.Event(), anyio.Event()
        http, number = local_client(), int(signal.SIGTERM)
        try:
            async with anyio.create_task_group() as tasks:

                def note_end(account: Account, how: str) -> None:
                    tasks.start_soon(_log_end, audit, account, how)

                processes = ProfileProcesses(self._process_settings(), ledger, tasks, note_end)
                sockets = Connections(default_bounds())
                parts = self._parts(cache, processes, http, audit, sockets)
                tasks.start_soon(parts.connections.keep)
                tasks.start_soon(processes.keep, cache)
                config = self._config(sockets)
                tasks.start_soon(run_http_server, HubEndpoint(parts), config, stopping, closed)
                say(messages.serving(self.url))
                if not self._has_users:
                    say(messages.NO_USERS)
                number = await _signal()
                say(messages.ENDING)
                await processes.end()
                await sockets.end(CONNECTIONS_ENDING_S)
                stopping.set()
                with anyio.move_on_after(CLOSING_S):
                    await closed.wait()
                tasks.cancel_scope.cancel()
            return code_after(number)
        finally:
            with anyio.CancelScope(shield=True):
                await http.aclose()
                if self._provider:
                    await self._provider.aclose()
            ledger.close()

    def _parts(
        self,
        cache: AccountsCache,
        processes: ProfileProcesses,
        http: httpx2.AsyncClient,
        audit: AuditLog,
        sockets: Connections,
    ) -> HubParts:
        sessions = WebSessions(self._settings.web_session_hours)
        authenticator = Authenticator(cache, self._provider, sessions)
        sign_in = None
        if self._provider:
            sign_in = SignIn(self._provider, cache, sessions, self._address.origin)
        return HubParts(
            address=self._address,
            authenticator=authenticator,
            rates=HubRates(self._settings.rates),
            processes=processes,
            http=http,
            audit=audit,
            web_sessions=sessions,
            connections=OpenConnections(authenticator),
            sign_in=sign_in,
            note_request=sockets.note_request,
        )

    def _process_settings(self) -> ProcessSettings:
        settings = self._settings
        return ProcessSettings(self._folder, self._base, settings.pass_variables, settings.idle_seconds)

    def _config(self, sockets: Connections) -> Config:
        config = http_config(Listener.taking_over(self._listener, sockets), self._bugs.report)
        if self._settings.certificate:
            config.certfile = self._settings.certificate
            config.keyfile = self._settings.certificate_key
        return config


async def _signal() -> int:
    with anyio.open_signal_receiver(*stop_signals()) as signals:
        async for number in signals:
            return number
    return signal.SIGTERM


async def _log_end(audit: AuditLog, account: Account, how: str) -> None:
    """Log the end of a profile's process; if that fails, the next request will report it."""
    new = entry("process_ended", how, who=account.name, about=account.profile)
    with suppress(StorageError):
        await anyio.to_thread.run_sync(audit.append, new)


def _provider(environment: Environment, settings: HubSettings) -> IdentityProvider | None:
    """Return the configured identity provider, if any. Raises ConfigError."""
    oidc = settings.oidc
    if not oidc.issuer:
        return None
    if not oidc.client_id:
        raise ConfigError(messages.NO_CLIENT_ID)
    if not settings.public_url:
        raise ConfigError(messages.NO_PUBLIC_URL, hint=messages.NO_PUBLIC_URL_HINT)
    secret = ""
    if oidc.client_secret_env:
        secret = environment.variables.get(oidc.client_secret_env, "")
        if not secret:
            raise ConfigError(messages.missing_secret(oidc.client_secret_env))
    return IdentityProvider(ProviderChoice(oidc.issuer, oidc.client_id, secret, oidc.audience, oidc.scopes))


def _check_certificate(settings: HubSettings) -> None:
    """Raise ConfigError if the certificate or its key cannot be used."""
    if not (settings.certificate or settings.certificate_key):
        return
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
            settings.certificate, settings.certificate_key
        )
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(messages.unreadable_certificate(str(error))) from error
