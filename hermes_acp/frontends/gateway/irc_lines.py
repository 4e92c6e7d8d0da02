"""Parse and write IRC lines, and track the members of our channels.

Source: RFC 1459 and 2812, "Modern IRC Client Protocol", IRCv3 "Message Tags".
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct, field

MAX_LINE_BYTES: Final = 512
SOURCE_BYTES: Final = 96
"""The number of bytes reserved for our user name and host, with which the server prefixes our messages."""
MAX_LINES: Final = 40
JOINED: Final = " ⏎ "
"""Replaces line breaks if a text has more lines than can be sent."""
PREFIXES: Final = "~&@%+!*"
_FORMATTING: Final = re.compile(
    r"\x03(?:\d{1,2}(?:,\d{1,2})?)?|\x04(?:[0-9A-Fa-f]{6}(?:,[0-9A-Fa-f]{6})?)?|[\x00-\x08\x0b-\x1f\x7f]"
)
_ESCAPES: Final[Mapping[str, str]] = MappingProxyType({":": ";", "s": " ", "r": "\r", "n": "\n"})
_RFC1459: Final = str.maketrans("[]\\^", "{}|~")


class Line(Struct, frozen=True):
    """A line from the server."""

    command: str
    params: tuple[str, ...] = ()
    nick: str = ""
    host: str = ""
    tags: Mapping[str, str] = {}

    def param(self, number: int) -> str:
        """Return the parameter with this index, or an empty string."""
        return self.params[number] if number < len(self.params) else ""


def parse_line(raw: bytes) -> Line | None:
    """Parse a line from the server, or return None if it is malformed."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("cp1252", "replace")
    tags: dict[str, str] = {}
    text = text.rstrip("\r\n")
    if text.startswith("@"):
        head, _, text = text[1:].partition(" ")
        for each in head.split(";"):
            name, _, value = each.partition("=")
            tags[name] = re.sub(r"\\(.?)", lambda found: _ESCAPES.get(found[1], found[1]), value)
    source, text = "", text.lstrip(" ")
    if text.startswith(":"):
        source, _, text = text[1:].partition(" ")
    body, has_last, last = text.partition(" :")
    words = body.split()
    if not words:
        return None
    nick, _, rest = source.partition("!")
    params = (*words[1:], last) if has_last else tuple(words[1:])
    return Line(words[0].upper(), params, nick, rest.partition("@")[2], tags)


def write_line(command: str, *params: str) -> bytes:
    """Format a command. Only the last parameter may contain spaces."""
    words = [re.sub(r"[\x00\r\n]", " ", word) for word in (command, *params)]
    if not words[-1] or " " in words[-1] or words[-1].startswith(":"):
        words[-1] = f":{words[-1]}"
    return f"{' '.join(words)}\r\n".encode()


def plain_text(text: str) -> str:
    """Remove colours and other control characters from a text."""
    return _FORMATTING.sub("", text)


def fold(name: str, *, is_ascii: bool = False) -> str:
    """Normalise a name by the rules with which the server compares names."""
    lowered = "".join(chr(ord(each) + 32) if "A" <= each <= "Z" else each for each in name)
    return lowered if is_ascii else lowered.translate(_RFC1459)


def lines_of(text: str, nick: str, target: str) -> list[str]:
    """Split a text into lines that fit into messages from `nick` to `target`, omitting empty lines."""
    room = MAX_LINE_BYTES - SOURCE_BYTES - len(f":{nick}! PRIVMSG {target} :\r\n".encode())
    lines = [piece for line in re.split(r"[\r\n]+", text) for piece in _wrapped(_printable(line), room)]
    if len(lines) <= MAX_LINES:
        return lines
    joined = [lines[0]]
    for line in lines[1:]:
        longer = f"{joined[-1]}{JOINED}{line}"
        if len(longer.encode()) <= room:
            joined[-1] = longer
        else:
            joined.append(line)
    return joined


def _printable(line: str) -> str:
    return "".join(each for each in line if each >= " " or each == "\t").rstrip()


def _wrapped(line: str, room: int) -> Iterable[str]:
    """Break a line between words or, if necessary, between characters."""
    while line:
        if len(line.encode()) <= room:
            yield line
            return
        part = line.encode()[:room].decode("utf-8", "ignore")
        end = part.rfind(" ")
        end = end if end > len(part) // 2 else len(part)
        yield line[:end]
        line = line[end:].removeprefix(" ")


class Presence(Struct, eq=False):
    """The connection of a member of one of our channels, while the member is there.

    `identity` is the known identity, valid until `known_until`.
    """

    nick: str
    channels: set[str] = field(default_factory=set[str])
    identity: str = ""
    known_until: float = 0.0

    @property
    def is_here(self) -> bool:
        """Whether we share a channel with the connection, so that we would see a change of nick or a departure."""
        return bool(self.channels)


class Members:
    """All members of our channels. Names are compared as the server compares them."""

    def __init__(self) -> None:
        self.is_ascii = False
        self._present: dict[str, Presence] = {}

    def find(self, nick: str) -> Presence | None:
        """Return the connection with this nick, if we share a channel with it."""
        return self._present.get(self.fold(nick))

    def all(self) -> list[Presence]:
        """Return all members."""
        return list(self._present.values())

    def fold(self, name: str) -> str:
        """Normalise a name by the rules with which the server compares names."""
        return fold(name, is_ascii=self.is_ascii)

    def follow(self, line: Line, own_nick: str) -> None:
        """Record who joined, left or changed their nick."""
        match line.command:
            case "JOIN":
                self._enter(line.nick, line.param(0))
            case "PART":
                self._leave(line.nick, line.param(0), own_nick)
            case "KICK":
                self._leave(line.param(1), line.param(0), own_nick)
            case "QUIT" | "KILL":
                gone = self._present.pop(
                    self.fold(line.nick if line.command == "QUIT" else line.param(0)), None
                )
                if gone:
                    gone.channels.clear()
            case "NICK":
                self._rename(line.nick, line.param(0))
            case "353":
                for name in line.param(3).split():
                    self._enter(name.lstrip(PREFIXES).partition("!")[0], line.param(2))
            case _:
                pass

    def _enter(self, nick: str, channel: str) -> None:
        presence = self._present.setdefault(self.fold(nick), Presence(nick))
        presence.channels.add(self.fold(channel))

    def _leave(self, nick: str, channel: str, own_nick: str) -> None:
        key = self.fold(channel)
        is_own = self.fold(nick) == self.fold(own_nick)
        for presence in self.all() if is_own else [self.find(nick)]:
            if presence:
                presence.channels.discard(key)
                if not presence.channels:
                    self._present.pop(self.fold(presence.nick), None)

    def _rename(self, old: str, new: str) -> None:
        presence = self._present.pop(self.fold(old), None)
        if presence:
            if replaced := self._present.pop(self.fold(new), None):
                replaced.channels.clear()
            presence.nick = new
            self._present[self.fold(new)] = presence
