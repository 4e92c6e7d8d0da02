"""Invented secrets of every kind, assembled from parts so that no scanner mistakes them for real ones."""

import random
import re
from collections.abc import Iterator
from typing import Final

from hermes_acp.telemetry.token_patterns import read_token_patterns

LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
DIGITS: Final = "0123456789"
CLASSES: Final = {
    r"[A-Za-z0-9]": LETTERS + DIGITS,
    r"[\w-]": LETTERS + DIGITS + "_-",
    r"\w": LETTERS + DIGITS + "_",
    r"[0-9a-f]": DIGITS + "abcdef",
    r"\d": DIGITS,
}
DASHES: Final = "-" * 5
PARTS: Final = re.compile(r"(\[[^\]]+\]|\\[wd.]|.)(?:\{(\d+)(?:,(\d*))?\}|([+*?]))?")


def some(dice: random.Random, alphabet: str, size: int) -> str:
    """Return random characters; longer results always contain some digits."""
    text = "".join(dice.choices(alphabet, k=size))
    return text if size < 8 else text[: size // 2] + "7" + text[size // 2 + 1 :]


def filled(dice: random.Random, rest: str) -> str:
    """Return a text that matches a simple pattern: its groups once, the first alternative, the fewest that fit."""
    rest = re.sub(r"\(\?![^)]*\)", "", rest)
    while (
        plain := re.sub(r"\(\?:((?:[^()|]|\\.)*)(?:\|[^()]*)?\)(?:\{(\d+),?\d*\}|([?*+]))?", _group, rest)
    ) != rest:
        rest = plain
    made: list[str] = []
    for part, fewest, _, sign in PARTS.findall(rest):
        size = int(fewest) if fewest else {"*": 0, "?": 0, "+": 12}.get(sign, 1)
        if part.startswith(r"\.") or (len(part) == 1 and part != "."):
            made.append(part[-1] * size)
        else:
            made.append(some(dice, CLASSES.get(part) or _alphabet(part), size))
    return "".join(made)


def _group(match: re.Match[str]) -> str:
    if match[3] in ("?", "*"):
        return ""
    return match[1] * int(match[2] or 1)


def _alphabet(part: str) -> str:
    pattern = re.compile(part)
    return "".join(character for character in LETTERS + DIGITS if pattern.fullmatch(character))


def tokens(dice: random.Random) -> Iterator[tuple[str, str]]:
    """Yield the kind and one secret for every prefix of every kind in the table."""
    for shape in read_token_patterns():
        for start in shape.starts:
            yield shape.id, start + filled(dice, shape.rest)


def key_block(dice: random.Random, kind: str = "RSA PRIVATE KEY", lines: int = 8) -> str:
    """Return an armoured private key."""
    body = "\n".join(some(dice, LETTERS + DIGITS + "+/", 64) for _ in range(lines))
    return f"{DASHES}BEGIN {kind}{DASHES}\n{body}\n{some(dice, LETTERS, 20)}=\n{DASHES}END {kind}{DASHES}"


def in_context(dice: random.Random) -> Iterator[tuple[str, str, str]]:
    """Yield a name, a secret that only its context reveals, and texts that contain it."""
    aws = some(dice, LETTERS + DIGITS + "/+", 40)
    hexadecimal = some(dice, CLASSES[r"[0-9a-f]"], 32)
    word = some(dice, LETTERS + DIGITS, 20)
    azure = some(dice, LETTERS + DIGITS + "+/", 86) + "=="
    uuid = "-".join(some(dice, CLASSES[r"[0-9a-f]"], size) for size in (8, 4, 4, 4, 12))
    yield "aws secret in a file", aws, f"[default]\naws_secret_access_key = {aws}\n"
    yield "aws secret exported", aws, f"export AWS_SECRET_ACCESS_KEY={aws}\n"
    yield "aws secret in json", aws, f'{{"SecretAccessKey": "{aws}"}}'
    yield (
        "azure storage",
        azure,
        f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={azure};EndpointSuffix=b",
    )
    yield "azure service bus", azure[:43] + "=", f"SharedAccessKeyName=root;SharedAccessKey={azure[:43]}="
    yield "heroku", uuid, f"HEROKU_API_KEY={uuid}\n"
    yield "datadog", hexadecimal, f"DD_API_KEY={hexadecimal}\n"
    yield "cloudflare", word * 2, f"CLOUDFLARE_API_TOKEN={word * 2}\n"
    yield "bearer", word, f"> Authorization: Bearer {word}\n"
    yield "basic", word + "==", f"Authorization: Basic {word}==\n"
    yield "header", word, f"curl -H 'X-Api-Key: {word}' https://example.test/"
    yield "url", word, f"postgres://app:{word}@db.internal:5432/app"
    yield "url without user", word, f"redis://:{word}@cache:6379/0"
    yield "git", word, f"https://oauth2:{word}@git.example.test/a.git"
    yield ".env", "supersecretword", "DB_PASSWORD=supersecretword\n"
    yield "password in yaml", "hunt3r-two!", "  password: hunt3r-two!\n"
    yield "password in json", "hunter2hunter", '{"user": "me", "password": "hunter2hunter"}'
    yield "escaped json", word, f'{{"body": "{{\\"token\\": \\"{word}\\"}}"}}'
    yield "python", word, f'client = Client(api_key="{word}")'
    yield "ini", word, f"client_secret = {word}\n"
    yield "npmrc", uuid, f"//registry.example.test/:_authToken={uuid}\n"
    yield "netrc", word, f"machine example.test login me password {word}\n"
    yield "option", word, f"deploy --token {word} now"
    yield "query", word, f"GET /a?access_token={word}&b=1 HTTP/1.1"
    yield "cookie", f"session_token={word}", f"Set-Cookie: session_token={word}; Path=/"
    yield "django", word, f"SECRET_KEY = '{word}'\n"
    yield "xml", word, f"<password>{word}</password>"
    yield "docker", word * 2, f'{{"auths": {{"r": {{"auth": "{word * 2}"}}}}}}'
    yield "connection string", word, f"Server=db;User Id=sa;Password={word};Encrypt=true"
    yield "hmac", word, f"webhook_secret: {word}\n"


def harmless(dice: random.Random) -> Iterator[str]:
    """Yield texts that look like secrets but are not."""
    hexadecimal, base64 = CLASSES[r"[0-9a-f]"], LETTERS + DIGITS + "+/"
    for _ in range(100):
        sha1, sha256 = some(dice, hexadecimal, 40), some(dice, hexadecimal, 64)
        uuid = "-".join(some(dice, hexadecimal, size) for size in (8, 4, 4, 4, 12))
        yield from (
            f"commit {sha1}\n",
            f"{sha256}  dist/a.tar.gz\n",
            f"index {sha1[:7]}..{sha256[:7]} 100644\n",
        )
        yield from (f"id: {uuid}\n", f"{uuid},{sha1}\n", f'ETag: "{sha1[:32]}"\n', f"md5={sha1[:32]}\n")
        yield f'"integrity": "sha512-{some(dice, base64, 86)}=="\n'
        yield f"    --hash=sha256:{sha256} \\\n"
        yield f"data:image/png;base64,{some(dice, base64, 400)}\n"
        yield f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{some(dice, base64, 43)} me@host\n"
        yield f"github.com/a/b v1.2.3 h1:{some(dice, base64, 43)}=\n"
        yield f"image@sha256:{sha256}\ncache-key: linux-{sha256}\n"
        yield f".a{{background:url(x-{sha1[:20]}.png)}}.sk-circle-fade-dot{{width:4px}}\n"
    yield f"{DASHES}BEGIN PUBLIC KEY{DASHES}\n{some(dice, base64, 64)}\n{DASHES}END PUBLIC KEY{DASHES}\n"
    yield f"{DASHES}BEGIN CERTIFICATE{DASHES}\n{some(dice, base64, 64)}\n{DASHES}END CERTIFICATE{DASHES}\n"
    yield f'if text.startswith("{DASHES}BEGIN RSA PRIVATE KEY{DASHES}"):\n    return load(text)\n'
    yield from PLACEHOLDERS


PLACEHOLDERS: Final = (
    "OPENAI_API_KEY=sk-...\n",
    "api_key=<your-key>\n",
    "password=xxxxxxxx\n",
    "TOKEN=${GITHUB_TOKEN}\n",
    "password: ${{ secrets.PASSWORD }}\n",
    "token = os.environ['TOKEN']\n",
    "password = get_password(user)\n",
    "def login(password: str, token: str | None = None) -> None:\n",
    "self.token = token\n",
    "MAX_TOKENS=128000\n",
    "tokens: 12345678\n",
    "PASSWORD_FILE=/run/secrets/password\n",
    "postgres://user:password@localhost/db\n",
    "https://example.test:8080/path@v2\n",
    "ghp" + "_" + "x" * 36 + "\n",
    "sk" + "-your-key-here-your-key-here\n",
    "public_key: AAAAB3NzaC1yc2EAAAADAQABAAABAQ\n",
    "token-based-authentication-for-everyone\n",
    "author: Somebody Else\n",
)
