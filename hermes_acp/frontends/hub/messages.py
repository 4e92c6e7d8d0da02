"""Messages of `hermes-acp hub` for people."""

from typing import Final

DESCRIPTION: Final = (
    "Serve several users at one address. Each signs in with a personal token or an identity provider, and is served "
    "by a separate process for their profile, which is started and stopped as needed. Users are managed with "
    "`hermes-acp users`; the settings are in hub.yaml."
)
LISTEN_HELP: Final = "the address and port to listen on (default: `listen` in hub.yaml)"
NO_SECRET: Final = "Sign in first: no token was sent."
REFUSED: Final = "This token is not accepted: it is unknown, has expired or was revoked."
NO_ACCOUNT: Final = "You signed in, but nobody has given you access to this server. Ask its administrator."
MISSING_SCOPE: Final = (
    "This token may not do that. Create one with the scope it needs: hermes-acp users token"
)
TOO_MANY_REQUESTS: Final = "Too many requests. Try again later."
WRONG_HOST: Final = (
    "This server is not known by that name. Set `public_url` in hub.yaml to the address that people use."
)
NO_HTTP2: Final = "HTTP/2 is served over TLS only, and not through a proxy. Use HTTP/1.1."
WRONG_ORIGIN: Final = "Pages from other sites may not use this server."
NO_PROVIDER: Final = "This server has no identity provider. Use a personal token."
PROVIDER_UNAVAILABLE: Final = "The identity provider does not answer. Try again later."
SIGN_IN_EXPIRED: Final = "This sign-in has expired or belongs to another browser. Start again."
SIGN_IN_REFUSED: Final = "The identity provider did not confirm the sign-in. Start again."
AUDIT_FAILED: Final = (
    "The audit log cannot be written, so the hub refuses all requests. "
    "The administrator must free disk space."
)
ACCOUNTS_UNREADABLE: Final = "The list of users cannot be read. The administrator must restore it."
PROCESS_ENDED: Final = "Your profile's process has ended. Try again; your sessions are kept."
NOT_FOUND: Final = "There is nothing here. Clients use /acp; the web page is at /."
STOPPING: Final = "The server is stopping. Try again later."
ANY_ADDRESS_HINT: Final = (
    "Set `certificate` and `certificate_key` in hub.yaml, or `trusted_proxies` to the proxy that encrypts."
)
NO_PUBLIC_URL: Final = "Signing in with an identity provider needs `public_url` in hub.yaml."
NO_PUBLIC_URL_HINT: Final = "Set it to the address that people use, such as https://agents.example."
NO_CLIENT_ID: Final = "`oidc.client_id` in hub.yaml is missing."
ALREADY_RUNNING: Final = "A hub is already running."
ALREADY_HINT: Final = "Only one can run per home folder."
NO_USERS: Final = "There are no users yet. Add one: hermes-acp users add NAME"
ENDING: Final = "Stopping. Waiting for running turns to finish."

# For the audit log
UNKNOWN_TOKEN: Final = "unknown, expired or revoked"
REVOKED: Final = "revoked"
NO_SIGN_IN: Final = "no sign-in was started"
PROCESS_GONE: Final = "process ended"
IDENTITY_TOKEN: Final = "identity token"


def by_token(token_id: str) -> str:
    """Name a personal token as the credential of a request."""
    return f"token {token_id}"


def by_web_session(session_id: str) -> str:
    """Name a web session as the credential of a request."""
    return f"web session {session_id}"


def not_linked(subject: str) -> str:
    """Say that a sign-in belongs to no user."""
    return f"no user for the subject {subject}"


def no_longer_valid(name: str, via: str) -> str:
    """Say why an open connection ended."""
    return f"{name}: {via} is no longer valid"


def lacks_scope(name: str) -> str:
    """Say that a token lacks the scope for a request."""
    return f"{name}: the token lacks the scope"


def ended_with(code: int) -> str:
    """Say how the process of a profile ended."""
    return f"exit code {code}"


# For people


def failure(sentence: str) -> str:
    """Report why the hub cannot run."""
    return f"hermes-acp: {sentence}"


def serving(address: str) -> str:
    """Say where clients and browsers are served."""
    return f"Serving users at {address} (clients: {address}acp)"


def not_encrypted(host: str) -> str:
    """Refuse to serve other machines without encryption."""
    return f"{host} can be reached from other machines, but connections would not be encrypted."


def bad_proxy(value: str) -> str:
    """Report an entry of `trusted_proxies` that is not an address."""
    return f"`trusted_proxies` in hub.yaml: {value!r} is not an IP address or network."


def bad_public_url(value: str) -> str:
    """Report a public URL that cannot be used."""
    return f"`public_url` in hub.yaml: {value!r} is not an https address without a path."


def missing_secret(variable: str) -> str:
    """Report that the variable for the client secret is not set."""
    return f"The variable {variable}, which `oidc.client_secret_env` in hub.yaml names, is not set."


def unreadable_certificate(problem: str) -> str:
    """Report a certificate or key that cannot be used."""
    return f"The certificate in hub.yaml cannot be used: {problem}."


def not_started(profile: str, code: int, log: str) -> str:
    """Report that a profile's process ended while starting."""
    return (
        f"The process of the profile {profile!r} ended at once (exit code {code}). "
        f"The administrator can find the reason in {log}."
    )


def unavailable(profile: str, problem: str) -> str:
    """Report that a profile's process cannot be started."""
    return f"The process of the profile {profile!r} cannot be started: {problem}"
