"""Messages of `hermes-acp serve`, for the person who starts it and for the clients it refuses."""

from typing import Final

# For the person who starts the server
DESCRIPTION: Final = "Serve clients over streamable HTTP and WebSocket at /acp."
NO_TLS: Final = (
    "Warning: other machines can reach this server, and it speaks plain HTTP. Anyone on the network path can read "
    "the token and all messages: put a proxy with TLS in front of it."
)
ALLOW_REMOTE_HELP: Final = "listen on an address that other machines can reach, without TLS"
ALLOW_ORIGIN_HELP: Final = (
    "allow pages from this origin, such as https://app.example (repeatable; by default only the server's own)"
)
ALLOW_HOST_HELP: Final = (
    "accept another name in the Host header, such as the one a proxy passes on (repeatable)"
)
NOT_FOR_A_HUB: Final = (
    "`--for-hub` is how `hermes-acp hub` starts this process; it expects the hub on standard input."
)
OTHER_ADDRESS_HINT: Final = "Choose another with --listen HOST:PORT."
ADDRESS_HINT: Final = "Use HOST:PORT, such as 127.0.0.1:8722."
IP_ADDRESS_HINT: Final = "Use one such as 127.0.0.1."
REMOTE_ADDRESS_HINT: Final = (
    "Listen on 127.0.0.1 and forward the port over SSH, or pass --allow-remote and put a proxy with TLS in "
    "front."
)
TOKEN_HINT: Final = "Unset it to have one generated, or use the output of `openssl rand -hex 32`."
ORIGIN_HINT: Final = "Use SCHEME://HOST[:PORT], such as https://app.example."

# For clients
TOO_MANY_CONNECTIONS: Final = "Too many connections are open."
WRONG_HOST: Final = "This server does not accept the name in the Host header (--allow-host)."
WRONG_ORIGIN: Final = "Pages from this origin may not use this server (--allow-origin)."
NO_TOKEN: Final = "A bearer token is required in the Authorization header."
WRONG_TOKEN: Final = "The bearer token is not valid for this server."
NOT_JSON: Final = "Messages must be sent as application/json."
NOT_EVENT_STREAM: Final = "A GET must accept text/event-stream."
TOO_MANY_BODIES: Final = "Too many large requests are being received; try again."
NO_CONNECTION: Final = "There is no such connection; start a new one with initialize."
NO_CONNECTION_ID: Final = "The header Acp-Connection-Id is missing."
NO_SESSION_ID: Final = "The header Acp-Session-Id is missing."
BAD_SESSION_ID: Final = "The header Acp-Session-Id is not a session ID."
OTHER_SESSION_ID: Final = "The header Acp-Session-Id names a different session than the message."
ALREADY_INITIALIZED: Final = "This connection is already initialized."
ID_IN_USE: Final = "A request with this ID has not been answered yet."
USES_WEBSOCKET: Final = "This connection uses a WebSocket; send its messages there."
USES_HTTP: Final = "This connection uses HTTP requests and cannot open a WebSocket."
TOO_MANY_STREAMS: Final = "This connection has too many open streams."
BAD_POSITION: Final = "Last-Event-ID must be the number of a message."
NEVER_SENT: Final = "Last-Event-ID names a message that was never sent on this stream."
EXPIRED: Final = (
    "The messages after Last-Event-ID are no longer kept; start a new connection and load the session."
)
NO_ROOM: Final = "This server cannot accept more connections at the moment."
STOPPING: Final = "This server is stopping."

# Reasons in a WebSocket's closing frame
MESSAGE_TOO_LONG: Final = "message too long"
CONTINUED_ELSEWHERE: Final = "the connection continues on another socket"
SERVER_STOPPING: Final = "the server is stopping"
CONNECTION_ENDED: Final = "the connection has ended"


def epilog(variable: str) -> str:
    """Explain the token in the help."""
    return f"Clients must send the bearer token from {variable}; if it is not set, a token is generated and shown."


def listen_help(address: str) -> str:
    """Explain --listen."""
    return f"default: {address}; port 0 picks a free port"


def serving(url: str) -> str:
    """Say where the server is."""
    return f"hermes-acp serves {url}"


def generated_token(token: str) -> str:
    """Show the token that was generated."""
    return f"Bearer token, shown only now: {token}"


def web_page(url: str) -> str:
    """Say where the web page is."""
    return f"Web page: {url}"


def failure(sentence: str) -> str:
    """Say why the server did not start."""
    return f"hermes-acp: {sentence}"


def missing_extra(package: str) -> str:
    """Say which package is missing."""
    return f"`hermes-acp serve` needs the package {package}, which is not installed."


def cannot_listen(host: str, port: int, reason: str) -> str:
    """Say that the address cannot be bound."""
    return f"Cannot listen on {host}:{port}: {reason}."


def bad_address(address: str) -> str:
    """Report an invalid address in --listen."""
    return f"{address!r} is not an address to listen on."


def not_an_ip(host: str) -> str:
    """Refuse a host name in --listen."""
    return f"{host!r} is not an IP address."


def reachable_address(host: str) -> str:
    """Refuse an address that is not loopback."""
    return f"Other machines can reach {host}, and the connection is not encrypted."


def bad_token(variable: str, length: int) -> str:
    """Refuse a token without quoting it."""
    return f"{variable} must have at least {length} printable ASCII characters and no spaces."


def bad_origin(origin: str) -> str:
    """Report an invalid --allow-origin."""
    return f"{origin!r} is not an origin."


def wrong_path(path: str) -> str:
    """Report a wrong path, naming the endpoint."""
    return f"The endpoint is {path}."


WEBHOOK_REFUSED = (
    "The request's signature is missing or wrong, the request is too old, or the webhook does not exist."
)
WEBHOOK_FAILED = "The run could not be started."


def body_too_long(max_bytes: int) -> str:
    """Report a message that is too long."""
    return f"The message is longer than {max_bytes} bytes."


def body_too_slow(seconds: float) -> str:
    """Report a message that took too long to arrive."""
    return f"The request body did not arrive within {seconds:g} s."


def not_a_listener(descriptor: int, problem: str) -> str:
    """Report an inherited descriptor that is not a listening socket."""
    return f"The descriptor {descriptor} (--listen fd://{descriptor}) is not a listening socket: {problem}."
