"""Find secrets by the name they are assigned to: `password = …`, `Authorization: Bearer …`, `AWS_SECRET_KEY=…`.

A value contains no white space and no character of BREAKS. Everything that decides about a value is on the same line
or, in lists and settings with each word on a separate line, on the line above, at most REACH characters before it.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from hermes_acp.lazy_pattern import LazyPattern

REACH = 256
MAX_VALUE_CHARACTERS = 1024
KEYWORDS = (
    b"pass",
    b"pwd",
    b"secret",
    b"token",
    b"key",
    b"auth",
    b"cred",
    b"://",
    b"cookie",
    b"sid=",
    b" -p",
    b" -u",
    b" --user",
    b" --proxy-user",
)
BREAKS = "\\s\"'`,;<>(){}\\[\\]|"

Found = tuple[int, int, str]

_NAME_AND_SIGN = LazyPattern(
    r"(?P<tail>[\w-]{0,48})(?:"
    # {"name": "DB_PASSWORD", "value": "…"}, <name>db.password</name><value>…
    r"(?P<pair>(?:\\{0,3}[\"'])?[ \t]{0,8}[,\s]\s{0,40}(?:\\{0,3}[\"'])?[vV]alue(?:\\{0,3}[\"'])?"
    r"[ \t]{0,4}[:=][ \t]{0,4}"
    r"|</\w{1,20}>\s{0,40}<(?:value|string)>)"
    # password: |
    r"|(?P<below>:[ \t]{0,4}(?:[|>][+-]?\d?[ \t]{0,4})?\r?\n[ \t]{1,40})"
    # ["--password", "…"]
    r"|(?P<item>(?:\\{0,3}[\"'])?[ \t]{0,8}(?:,\s{0,40}|\r?\n[ \t]{0,24}-[ \t]{1,4}))"
    r"|(?:\\{0,3}[\"'`])?(?P<sign>[ \t]{0,8}(?::=|=>|={1,3}|:|>)[ \t]{0,8})|[ \t]{1,4})",
    re.ASCII,
)
_HEADER = LazyPattern(r"^(?:proxy-)?authorization$|^x-.*(?:key|token|secret)$|^api-?key$|^private-token$")
_HEADERS_NAME = LazyPattern(r"[a-z]+(?:-[a-z0-9]+)+$")
_OPENS_LINE = LazyPattern(r"(?:^|\n)[ \t]{0,64}(?:-[ \t]{1,4})?(?:\\{0,3}[\"'])?\Z")
_SETS = LazyPattern(r"(?:^|[\s;&|\"'(])(?:ENV|setenv|setx|set -\w{1,4})[ \t]{1,4}\Z")
_VALUE = LazyPattern(
    r"(?P<quote>\\{0,3}[\"'`])?(?:(?P<scheme>[Bb]earer|[Bb]asic|[Tt]oken|[Dd]igest)[ \t]{1,4})?"
    rf"(?P<value>[^{BREAKS}]{{4,{MAX_VALUE_CHARACTERS}}})(?P<next>[(\[]?)",
    re.ASCII,
)
_HEAD_BACKWARDS = LazyPattern(r"[\w-]{0,48}", re.ASCII)
_IN_URL = LazyPattern(rf"://[^{BREAKS}/@:?#]{{0,128}}:(?P<value>[^{BREAKS}/@]{{3,256}})@[\w\[$]", re.ASCII)
# A bare name before an @, without other punctuation.
_ALONE_IN_URL = LazyPattern(
    r"://(?P<value>(?=\D{0,64}\d\D{0,64}\d)(?=\d{0,64}[A-Za-z])[A-Za-z0-9]{20,256})@[\w\[$]"
)
_NETRC = LazyPattern(r"login\s{1,24}\S{1,64}\s{1,24}\Z")
_SHORT_OPTION = LazyPattern(r" -p[ \t]{0,4}[\"']?(?P<value>[^\s\"'`;|&<>]{3,256})")
_TAKES_SHORT = LazyPattern(
    r"(?:^|[\s;&|\"'(/])(?:mysql\w*|mariadb(?:-\w+)?|mongo\w*|sshpass)\b(?P<rest>[^\n;|&]*)\Z"
)
_USER_OPTION = LazyPattern(
    r" (?:-u|--user|--proxy-user)(?:[ \t]{1,4}|=)?[\"']?[^\s\"':;|&<>]{1,128}:(?P<value>[^\s\"'`;|&<>]{3,256})"
)
_TAKES_USER = LazyPattern(r"(?:^|[\s;&|\"'(/])(?:curl|wget|http|https|xh)\b[^\n;|&]*\Z")
_PASSWORD = LazyPattern(r"passw|passphrase|pwd|(?:^|[_-]|my|smtp|require)pass$")
_BARE = LazyPattern(
    r"secret|token|credential|api[_-]?key|apikey|_?auth$|authorization|auth[_-]?key|x-.*-key$|cookie|(?:^|_)sid$"
    r"|(?:secret|private|access|encrypt\w{0,4}|sign\w{0,3}|master|account|client|app|application|consumer|storage"
    r"|license|service|admin|deploy|shared|session|subscription|crypt|crypto|ssh|jwt|hmac|aes|webhook|rsa)[_-]?key"
)
_NO_SECRET = LazyPattern(
    r"public|keyword|keyboard|monkey|tokeni[sz]|tokens$|keys$|secrets$|max_?tok|num_?tok|token_?id|key_?id|pad_?token"
    r"|author(?!i[sz])|authent|integrity|checksum|digest|(?:name|file|path|dir|folder|id|ur[li]|type|count|limit|ttl|expiry"
    r"|expires?|length|len|size|host|header|policy|field|hash|version|env|var|prefix|suffix|index|regex|pattern|label"
    r"|placeholder|column|required|enabled|hint|reset|store|manager|budget|usage|used|provider|scanner|ring|ref|arn)$"
)
_PLACEHOLDER = LazyPattern(
    r"[x*._\-#?]+$|<|\$|%\w*%?$|\{|your[-_]?|my[-_]|example|sample|change[-_]?me|placeholder|dummy|redacted|hidden"
    r"|none$|null$|nil$|undefined$|true$|false$|to-?do|test$|secret$|password$|passwd$|pass$|token$|env[:.]|process\.env"
    r"|os\.|vault:|ref:|!|&|arn:|https?:|file:|self\.|this\.|config\.|settings\.|args\.|string$|optional$|required$"
    r"|\w*x{4}|sha\d{1,3}[-:]|v?\d+(?:\.\d+)*$|[\d:./-]+$|0x[0-9a-f]{1,16}$|\.{1,2}/|~/|[a-z]:\\",
    re.IGNORECASE,
)
_WORDS = LazyPattern(
    r"[._]?[A-Za-z]+(?:[-_./:]{1,2}[A-Za-z]+)*_?$|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|[a-z]+(?:_[a-z0-9]+)+$"
)
_FILLED_IN = LazyPattern(r"\$|<|\{|%|[x*.]+$|(?i:pass(?:word|wd)?|secret|token|your.*)$")
_BASE64 = LazyPattern(r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9+/]{40,}={0,2}$")
_ENVIRONMENT = LazyPattern(r"[A-Z][A-Z0-9_]*$")


def find_assigned_secret(text: str, start: int, end: int, place: int) -> Found | None:
    """Check the keyword at `place`; the value ends before `end`. Return its secret's position and kind."""
    if text.startswith("://", place):
        return _in_url(text, end, place)
    if text.startswith(" -", place):
        return _in_option(text, start, end, place)
    named = _NAME_AND_SIGN.compiled.match(text, place, end)
    if named is None:
        return None
    head = _HEAD_BACKWARDS.compiled.match(text[max(start, place - 48) : place][::-1])
    name_start = place - (head.end() if head else 0)
    name = text[name_start:place] + named["tail"]
    if not _goes_on(text, name, start, name_start, named):
        return None
    lowered = name.lower()
    kind = "" if _NO_SECRET.compiled.search(lowered) else _kind_of(name, lowered)
    match = _VALUE.compiled.match(text, named.end(), end) if kind else None
    if match is None or match["next"]:
        return None
    value = match["value"]
    if text[max(start, name_start - 1) : name_start] in ("?", "&"):
        value = value.partition("&")[0]
    is_apart = named["sign"] is None
    if is_apart and (value.startswith("-") or value.endswith(":")):
        return None
    if named["item"] and not name.startswith("-") and _HEADERS_NAME.compiled.match(value):
        return None
    value = value.rstrip("\\.:")
    first = match.start("value")
    last = first + len(value)
    is_quoted = bool(match["quote"]) and text[last : min(end, last + 4)].lstrip("\\")[:1] in tuple("\"'`")
    is_quoted = is_quoted and (not is_apart or name == "PASSWORD")
    is_env = bool(_ENVIRONMENT.compiled.match(name)) and (
        named["sign"] == "=" or (bool(named["pair"]) and "_" in name)
    )
    is_header = bool(match["scheme"]) or lowered.endswith("authorization")
    if not _is_secret(
        value, kind, is_sure=is_env or (is_header and not _WORDS.compiled.match(value)), is_quoted=is_quoted
    ):
        return None
    return first, last, kind


def _goes_on(text: str, name: str, start: int, name_start: int, named: re.Match[str]) -> bool:
    """Return whether the text after a name is the name's value.

    Without a separator, that is the case after options, in .netrc lines, and where variables are set; in lists, it is
    the case only after options and headers.
    """
    if named["sign"] or named["pair"]:
        return True
    if named["item"]:
        return name.startswith("-") or bool(_HEADER.compiled.search(name.lower()))
    before = text[max(start, name_start - 160) : name_start]
    if named["below"]:
        return bool(_OPENS_LINE.compiled.search(before))
    if name == "PASSWORD":  # an SQL keyword
        return text.startswith(("'", '"'), named.end())
    return name.startswith("-") or bool(
        _NETRC.compiled.search(before)
        or (_ENVIRONMENT.compiled.match(name) and _SETS.compiled.search(before))
    )


def _kind_of(name: str, lowered: str) -> str:
    if _PASSWORD.compiled.search(lowered):
        return "password"
    if _BARE.compiled.search(lowered):
        return "credential"
    return (
        "credential"
        if _ENVIRONMENT.compiled.match(name) and re.search(r"_(?:KEY|PASS|PWD|AUTH)$", name)
        else ""
    )


def _is_secret(value: str, kind: str, *, is_sure: bool, is_quoted: bool) -> bool:
    if _PLACEHOLDER.compiled.match(value) or len(set(value)) < 4:
        return False
    if value.startswith("/") and not _BASE64.compiled.match(value):
        return False
    is_plain = bool(_WORDS.compiled.match(value))
    if kind == "password":
        if is_sure:
            return len(value) >= 5
        return (
            not is_plain and len(value) >= 6 if not is_quoted else len(value) >= 6 and not is_capital(value)
        )
    if is_plain:
        return (len(value) >= 20 and _is_mixed(value)) or (is_sure and len(value) >= 16)
    return (len(value) >= 8 and any(map(str.isdigit, value))) or len(value) >= 20


def is_capital(value: str) -> bool:
    """Return whether a value is one plain capitalised word, like a label: `Password`, `Enter`."""
    return value.isalpha() and value[:1].isupper() and value[1:].islower()


def _is_mixed(value: str) -> bool:
    """Return whether letters change case as often as in random text, unlike camel case."""
    pairs = tuple(pairwise(value))
    changes = sum(
        one.islower() != other.islower() and one.isalpha() and other.isalpha() for one, other in pairs
    )
    return changes * 3 > len(pairs)


def _in_url(text: str, end: int, place: int) -> Found | None:
    match = _IN_URL.compiled.match(text, place, end) or _ALONE_IN_URL.compiled.match(text, place, end)
    if match is None or _PLACEHOLDER.compiled.match(match["value"]):
        return None
    return *match.span("value"), "password in a url"


def _in_option(text: str, start: int, end: int, place: int) -> Found | None:
    """Check an option that takes a password in certain programs: `mysql -pPASSWORD`, `curl -u USER:PASSWORD`."""
    head = text[max(start, place - REACH) : place]
    if text.startswith(" -p", place):
        match = _SHORT_OPTION.compiled.match(text, place, end)
        takes = _TAKES_SHORT.compiled.search(head)
        is_apart = text[place + 3 : place + 4] in (" ", "\t")
        if match is None or takes is None or (is_apart and "sshpass" not in takes[0]):
            return None
    else:
        match = _USER_OPTION.compiled.match(text, place, end)
        if match is None or not _TAKES_USER.compiled.search(head):
            return None
    if _FILLED_IN.compiled.match(match["value"]):
        return None
    return *match.span("value"), "password"


def keyword_places(lowered: bytes, start: int, end: int) -> Iterator[int]:
    """Yield the positions in `lowered` text at which a name may contain a keyword, once per keyword and position."""
    for word in KEYWORDS:
        place = lowered.find(word, start, end)
        while place >= 0:
            yield place
            place = lowered.find(word, place + len(word), end)
