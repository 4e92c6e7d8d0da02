"""`gateway:` in a settings file. Secrets belong in `.env`, in variables that start with `HERMES_GATEWAY_`."""

from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from hermes_acp.config.sections.voice_settings import VoiceSettings
from hermes_acp.config.settings_section import Positive, Section

SECRET_PREFIX: Final = "HERMES_GATEWAY_"
Folder = Annotated[str, Field(pattern=r"^/[^\x00-\x1f]*$")]
Host = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]+$")]
Port = Annotated[int, Field(ge=1, le=65535)]
Listener = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]+:\d{1,5}$")]
Guid = Annotated[str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
PhoneNumber = Annotated[str, Field(pattern=r"^\+[1-9]\d{4,14}$")]
ProfileName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$")]
PlatformName = Literal[
    "discord", "email", "irc", "matrix", "mattermost", "slack", "teams", "telegram", "twilio", "xmpp"
]
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def check_address(address: str) -> str:
    """Validate and return the address of an HTTP service."""
    return _checked(address, "http")


def check_socket_address(address: str) -> str:
    """Validate and return the address of a WebSocket service."""
    return _checked(address, "ws")


def _checked(address: str, scheme: str) -> str:
    """Validate and return a service's address. Secrets are sent to it, so it must use TLS or be on this machine."""
    parts = urlsplit(address)
    is_own = parts.scheme == scheme and parts.hostname in LOOPBACK
    if not parts.hostname or not (parts.scheme == f"{scheme}s" or is_own):
        raise ValueError(
            f"must be a URL starting with {scheme}s://, or with {scheme}:// for a server on this machine"
        )
    return address.rstrip("/")


ServiceAddress = Annotated[str, AfterValidator(check_address)]
SocketAddress = Annotated[str, AfterValidator(check_socket_address)]


class MatrixSettings(Section):
    """An account on a Matrix server. Its access token is in `HERMES_GATEWAY_MATRIX_TOKEN`."""

    homeserver: Annotated[str, Field(pattern=r"^https?://[^\s]+$")]
    """Address of the server."""
    user: Annotated[str, Field(pattern=r"^@[^:\s]+:[^\s]+$")]
    """The account, such as `@agent:example.org`."""
    device: str = "hermes-acp"
    """Device ID of the token, by which the server recognises repeated messages."""


class EmailSettings(Section):
    """A mailbox. Its password is in `HERMES_GATEWAY_EMAIL_PASSWORD`."""

    address: Annotated[str, Field(pattern=r"^[^@\s<>]+@[^@\s<>]+$")]
    """The address to which people write. Only the agent should use its mailbox."""
    imap_host: Host
    """Server from which mail is read."""
    smtp_host: Host
    """Server through which mail is sent."""
    user: str = ""
    """Name of the account. Default: the address."""
    authserv_id: str | None = None
    """Name in the `Authentication-Results` headers that your own mail server adds; it must remove forged ones. Without
    this setting, only replies to the agent's emails are trusted.
    """
    imap_port: Port = 993
    """Port of the IMAP server, for TLS."""
    smtp_port: Port = 587
    """Port of the SMTP server: TLS from the start on 465, else STARTTLS."""
    tls: Literal["tls", "none"] = "tls"
    """`none` only for servers on this machine, which then also need no password for sending."""

    @model_validator(mode="after")
    def _check_tls(self) -> Self:
        if self.tls == "none" and not {self.imap_host, self.smtp_host} <= LOOPBACK:
            raise ValueError("tls can be none only for servers on this machine")
        return self


class IrcSettings(Section):
    """An account on an IRC server. Its password is in `HERMES_GATEWAY_IRC_PASSWORD`."""

    host: Host
    """Server to connect to; not a bouncer."""
    nick: Annotated[str, Field(pattern=r"^[^\s:#&@!,*?+~%-][^\s:@!,*?]{0,29}$")]
    """Nick of the agent."""
    port: Port = 6697
    """Port of the server, for TLS."""
    tls: Literal["tls", "none"] = "tls"
    """`none` only for servers on this machine."""
    login: Literal["sasl", "nickserv", "server"] = "sasl"
    """Where the password is sent: to the network's services with SASL PLAIN, to NickServ, or to the server itself
    (`PASS`). Use `server` for a server without passwords.
    """
    account: Annotated[str, Field(pattern=r"^[^\s:]*$")] = ""
    """Services account of the agent. Default: the nick."""
    lobby: Annotated[str, Field(pattern=r"^[#&+!][^\s,\x07]+$")] | None = None
    """A channel in which the agent says nothing. On servers without `account-tag`, only people who are in a channel
    with the agent can write to it directly.
    """
    trusted_hosts: tuple[str, ...] = ()
    """Hosts or cloaks that belong to one person each, with `*` as a wildcard, such as `user/*`. Nobody else may be able
    to get such a host. On a server without services, only people with such a host can use the agent.
    """
    line_gap_s: Positive = 1.0
    """Seconds between two lines, after the first four. Servers disconnect clients that send too fast."""

    @property
    def account_name(self) -> str:
        """The account, or the nick if none is set."""
        return self.account or self.nick

    @model_validator(mode="after")
    def _check_tls(self) -> Self:
        if self.tls == "none" and self.host not in LOOPBACK:
            raise ValueError("tls can be none only for servers on this machine")
        return self


class DiscordSettings(Section):
    """A bot. Its token is in `HERMES_GATEWAY_DISCORD_TOKEN`."""

    api: ServiceAddress = "https://discord.com/api"
    """Address of the HTTP API."""
    gateway: SocketAddress = "wss://gateway.discord.gg"
    """Address of the gateway, over which messages arrive."""


class MattermostSettings(Section):
    """A bot account. Its token is in `HERMES_GATEWAY_MATTERMOST_TOKEN`."""

    server: ServiceAddress
    """Address of the server, such as `https://mattermost.example.org`."""


class SlackSettings(Section):
    """An app in Socket Mode. Its bot token is in `HERMES_GATEWAY_SLACK_TOKEN`, its app token in
    `HERMES_GATEWAY_SLACK_APP_TOKEN`.
    """

    api: ServiceAddress = "https://slack.com/api"
    """Address of the Web API."""


class TeamsSettings(Section):
    """A Microsoft Teams bot. Its app's client secret is in `HERMES_GATEWAY_TEAMS_PASSWORD`."""

    app_id: Guid
    """ID of the app."""
    tenant: Guid
    """ID of the tenant to which the app and the people belong."""
    listen: Listener = "127.0.0.1:8713"
    """Host and port on which the gateway listens for messages, which your web server forwards to it."""
    openid: ServiceAddress = "https://login.botframework.com/v1/.well-known/openidconfiguration"
    """Where Microsoft publishes its signing keys."""
    login: ServiceAddress = "https://login.microsoftonline.com"
    """Where the bot gets its tokens."""


class TelegramSettings(Section):
    """A bot. Its token is in `HERMES_GATEWAY_TELEGRAM_TOKEN`."""

    api: ServiceAddress = "https://api.telegram.org"
    """Address of the Bot API: Telegram's own, or that of your own server."""


class TwilioSettings(Section):
    """Numbers of a Twilio account, for WhatsApp and SMS. Its auth token is in `HERMES_GATEWAY_TWILIO_TOKEN`."""

    account: Annotated[str, Field(pattern=r"^AC[0-9a-f]{32}$")]
    """The account's SID."""
    webhook_url: ServiceAddress
    """Address of the webhook as configured in Twilio's console. Your web server must forward it to `listen`."""
    whatsapp: PhoneNumber | None = None
    """Number to which people write on WhatsApp."""
    sms: PhoneNumber | None = None
    """The number to which people write by SMS."""
    trusts_sms_senders: bool = False
    """Must be true to use `sms`, because anyone can forge the number from which an SMS comes."""
    listen: Listener = "127.0.0.1:8712"
    """Host and port on which the gateway listens for messages."""
    api: ServiceAddress = "https://api.twilio.com"
    """Address of the REST API."""

    @model_validator(mode="after")
    def _check_numbers(self) -> Self:
        if not (self.whatsapp or self.sms):
            raise ValueError("whatsapp or sms must be set")
        if self.sms and not self.trusts_sms_senders:
            raise ValueError("sms needs trusts_sms_senders: true, because the sender of an SMS can be forged")
        return self


class XmppSettings(Section):
    """An account on an XMPP server. Its password is in `HERMES_GATEWAY_XMPP_PASSWORD`."""

    jid: Annotated[str, Field(pattern=r"^[^@/\s]+@[^@/\s]+$")]
    """Address of the account, such as `agent@example.org`."""
    nick: Annotated[str, Field(min_length=1, max_length=60)] = "agent"
    """Name of the agent in rooms."""
    file_hosts: tuple[Host, ...] = ()
    """Servers from which files are fetched, besides those in the account's own domain."""
    host: Host | None = None
    """Server to connect to. Default: the one that the domain of the address names."""
    port: Port = 5222
    """Port of `host`."""
    tls: Literal["tls", "none"] = "tls"
    """`none` only for servers on this machine."""

    @model_validator(mode="after")
    def _check_tls(self) -> Self:
        if self.tls == "none" and self.host not in LOOPBACK:
            raise ValueError("tls can be none only for servers on this machine")
        return self


class GatewayRoomSettings(Section):
    """A room with several people, who share its profile."""

    platform: PlatformName
    """Platform of the room."""
    id: Annotated[str, Field(min_length=1)]
    """The platform's own, permanent ID of the room."""
    workspace: Folder | None = None
    """Folder in which the room's sessions work. Default: `gateway.workspace`."""
    profile: ProfileName | None = None
    """Profile of the room's sessions. Default: the gateway's own."""
    listens: Literal["mentions", "all"] = "mentions"
    """Which messages from admitted people are for the agent: those that mention it or reply to it, or all."""
    mode: Literal["plan", "ask", "accept_edits", "auto"] = "plan"
    """Mode of the room's new sessions."""


class PlatformsSettings(Section):
    """The platforms to connect to."""

    discord: DiscordSettings | None = None
    email: EmailSettings | None = None
    irc: IrcSettings | None = None
    matrix: MatrixSettings | None = None
    mattermost: MattermostSettings | None = None
    slack: SlackSettings | None = None
    teams: TeamsSettings | None = None
    telegram: TelegramSettings | None = None
    twilio: TwilioSettings | None = None
    xmpp: XmppSettings | None = None


class GatewaySettings(Section):
    """Chat platforms from which people reach the agent. The resident process runs the gateway if any is named."""

    platforms: PlatformsSettings = PlatformsSettings.defaults()
    workspace: Folder | None = None
    """Folder for the sessions of direct messages, and of rooms without a folder of their own. If it is not set, the
    agent only replies that a folder is missing.
    """
    rooms: tuple[GatewayRoomSettings, ...] = ()
    """Rooms in which the agent answers. It stays silent in others."""
    approval: Literal["asker_and_approver", "approver", "asker"] = "asker_and_approver"
    """Whose approval a call needs: that of the person who asked and that of an approver, or only one of the two. An
    approver who asked counts as both.
    """
    question_timeout_s: Positive = 3600.0
    """Seconds after which an unanswered question counts as refused."""
    web_page: str | None = Field(default=None, pattern=r"^https?://[^\s]+$")
    """Address of the web page, if it is served. Long diffs are shown there."""

    @model_validator(mode="after")
    def _check_rooms(self) -> Self:
        named = [(room.platform, room.id) for room in self.rooms]
        if len(set(named)) < len(named):
            raise ValueError("a room is named twice")
        return self


class ReachSettings(Section):
    """How people are reached."""

    gateway: GatewaySettings = GatewaySettings.defaults()
    voice: VoiceSettings = VoiceSettings.defaults()


def secret_variable(platform: str, name: str) -> str:
    """Return the name of the variable that contains a platform's secret."""
    return f"{SECRET_PREFIX}{platform.upper()}_{name.upper()}"
