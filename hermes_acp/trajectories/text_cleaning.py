"""Clean every text in an export: mask secrets with the current rules, and replace home folders and people's names."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, cast

import msgspec
from msgspec import Struct

HOME: Final = "/home/user"
STATE_HOME: Final = "/home/user/.hermes"
NAME: Final = "user"
MAIL: Final = "user@example.com"
HOST: Final = "host"
MIN_NAME_CHARACTERS: Final = 3
OPAQUE: Final = frozenset({"digest", "contents", "data_base64"})
"""Event fields with SHA-256 digests or images, in which no text may be replaced."""
MAX_REMEMBERED_CHARACTERS: Final = 200
COMMON_NAMES: Final = frozenset({"root", "user", "admin", "home", "localhost", "host", "dev", "test", "app"})
"""Names that do not identify anyone, and words that would be replaced in ordinary text."""
_HOMES: Final = re.compile(
    r"(?P<root>(?:/home|/Users|[A-Za-z]:\\{1,2}Users)[/\\]{1,2})(?P<name>[^/\\\s\"'`:;,<>|)\]}]+)"
)
_IN_URLS: Final = re.compile(r"(?P<root>%2F(?:home|Users)%2F)(?P<name>[\w.-]+)", re.IGNORECASE)
_OWN_ID: Final = re.compile(r"[a-z]{1,12}_[0-9a-f]{16}")
_OTHER_HOME: Final = "the home of somebody"
_SHARED: Final = frozenset({"Shared", "Public", "linuxbrew", "user"})


class PersonalNames(Struct, frozen=True):
    """Names of the exporting person and their machine. `homes` are folders, most specific first."""

    homes: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = ()
    mails: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()


class CleaningCounts(Struct):
    """The number of replacements so far."""

    secrets: int = 0
    names: int = 0

    def __add__(self, other: "CleaningCounts") -> "CleaningCounts":
        return CleaningCounts(self.secrets + other.secrets, self.names + other.names)


class TextCleaner:
    """Cleans the texts of one session and counts the replacements. Cleaning a clean text changes nothing."""

    def __init__(self, mask: Callable[[str], str], people: PersonalNames, found: Iterable[str] = ()) -> None:
        """Initialise with the function that masks secrets; `found` lists people's names in the session's folders."""
        self._mask = mask
        self._home_of = dict(people.homes)
        names = {name.lower() for name in (*people.names, *found) if _is_telling(name)}
        hosts = [host for host in people.hosts if _is_telling(host)]
        self._rules = (
            (_alternatives(self._home_of, is_path=True), "", _lowered(self._home_of)),
            (_HOMES, _OTHER_HOME, ("/home", "users")),
            (_IN_URLS, _OTHER_HOME, ("%2fhome", "%2fusers")),
            (_alternatives(people.mails, ignore_case=True), MAIL, _lowered(people.mails)),
            (_alternatives(names, ignore_case=True), NAME, _lowered(names)),
            (_alternatives(hosts, ignore_case=True), HOST, _lowered(hosts)),
        )
        self._known: dict[str, str] = {}
        self.counts = CleaningCounts()

    def clean(self, text: str) -> str:
        """Return a string without secrets, home folders and names."""
        if len(text) < MIN_NAME_CHARACTERS or _OWN_ID.fullmatch(text):
            return text
        if text in self._known:
            return self._known[text]
        masked = self._mask(text)
        if masked != text:
            self.counts.secrets += max(1, masked.count("[secret") - text.count("[secret"))
        replaced = self._without_names(masked)
        if len(text) < MAX_REMEMBERED_CHARACTERS:  # IDs, paths and words that occur often
            self._known[text] = replaced
        return replaced

    def cleaned(self, value: Any) -> Any:
        """Return a JSON value with every string cleaned, including field names; leave digests and images unchanged."""
        match value:
            case str():
                return self.clean(value)
            case dict():
                fields = cast("Mapping[str, Any]", value)
                return {
                    self.clean(name): each if name in OPAQUE else self.cleaned(each)
                    for name, each in fields.items()
                }
            case list() | tuple():
                return [self.cleaned(each) for each in cast("Sequence[Any]", value)]
            case _:
                return value

    def masked(self, value: Any) -> Any:
        """Return a JSON value with only the secrets in it masked."""
        match value:
            case str():
                return value if _OWN_ID.fullmatch(value) else self._mask(value)
            case dict():
                fields = cast("Mapping[str, Any]", value)
                return {name: each if name in OPAQUE else self.masked(each) for name, each in fields.items()}
            case list() | tuple():
                return [self.masked(each) for each in cast("Sequence[Any]", value)]
            case _:
                return value

    def clean_json(self, text: str) -> str:
        """Clean the texts inside a JSON document. Text that is not JSON is cleaned as a whole."""
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return self.clean(text)
        inside = self.cleaned(value)
        again = text if inside == value else msgspec.json.encode(inside).decode()
        # Some secrets are only recognisable in the whole text, for example after the name of a field.
        whole = self._mask(again)
        self.counts.secrets += whole != again
        return whole

    def _without_names(self, text: str) -> str:
        lowered = text.lower()
        for pattern, put, words in self._rules:
            if pattern is not None and any(word in lowered for word in words):
                text = pattern.sub(partial(self._replaced, put), text)
        return text

    def _replaced(self, put: str, found: re.Match[str]) -> str:
        if put == _OTHER_HOME:
            fresh = found[0] if found["name"] in _SHARED else f"{found['root']}{NAME}"
        else:
            fresh = put or self._home_of[found[0]]
        self.counts.names += fresh != found[0]
        return fresh


def owners_of(paths: Iterable[str]) -> set[str]:
    """Return the names of people whose home folders are among the paths."""
    return {
        found["name"] for path in paths for found in _HOMES.finditer(path) if found["name"] not in _SHARED
    }


def _lowered(words: Iterable[str]) -> tuple[str, ...]:
    """Return a string in lower case if a pattern for the words can match it, else an empty string."""
    return tuple(word.lower() for word in words if word)


def _is_telling(name: str) -> bool:
    return len(name) >= MIN_NAME_CHARACTERS and name.lower() not in COMMON_NAMES


def _alternatives(
    words: Iterable[str], *, is_path: bool = False, ignore_case: bool = False
) -> re.Pattern[str] | None:
    """Return a pattern that matches any of the words as a whole word, or None without words."""
    ordered = sorted({word for word in words if word}, key=lambda word: (-len(word), word))
    if not ordered:
        return None
    either = "|".join(map(re.escape, ordered))
    before, after = (r"(?<![\w.-])", r"(?![\w-])") if is_path else (r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])")
    return re.compile(f"{before}(?:{either}){after}", re.IGNORECASE if ignore_case else 0)
