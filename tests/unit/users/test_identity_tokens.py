"""Verification of signed tokens; there is a test for every way in which a token is not meant for this server."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from hermes_acp.users.identity_tokens import (
    Identity,
    TokenRefused,
    check_token,
    key_for,
    read_header,
)

ISSUER = "https://login.example"
OURS = "hermes"
RSA = rsa.generate_private_key(65537, 2048)
OTHER = rsa.generate_private_key(65537, 2048)
CURVE = ec.generate_private_key(ec.SECP256R1())


def public(key: rsa.RSAPrivateKey, kid: str, **more: str) -> dict[str, Any]:
    return {**RSAAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": kid, **more}


KEYS: list[dict[str, Any]] = [
    public(RSA, "one", use="sig", alg="RS256"),
    {**ECAlgorithm.to_jwk(CURVE.public_key(), as_dict=True), "kid": "two"},
    public(OTHER, "enc", use="enc"),
]


def claims(**changed: Any) -> dict[str, Any]:
    now = time.time()
    all_of_them = {"iss": ISSUER, "sub": "00u1", "aud": OURS, "iat": now, "exp": now + 300, **changed}
    return {name: value for name, value in all_of_them.items() if value is not None}


def signed(key: Any = RSA, alg: str = "RS256", kid: str = "one", headers: Any = None, **changed: Any) -> str:
    return jwt.encode(claims(**changed), key, alg, headers={"kid": kid, **(headers or {})})


def unsigned(header: dict[str, Any], signature: str = "") -> str:
    def part(content: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()

    return f"{part(header)}.{part(claims())}.{signature}"


def accept(token: str, **more: Any) -> Identity:
    header = read_header(token)
    key = key_for(header, KEYS)
    if key is None:
        raise TokenRefused("its key is not known")
    return check_token(token, header, key, issuer=ISSUER, audiences=(OURS, "https://agents.example"), **more)


def test_genuine_tokens_are_accepted() -> None:
    identity = accept(signed())
    assert (identity.subject.issuer, identity.subject.subject) == (ISSUER, "00u1")
    assert accept(signed(CURVE, "ES256", "two")).subject == identity.subject
    assert accept(signed(headers={"typ": "at+jwt"}, aud=["other", "https://agents.example"])).subject
    assert accept(signed(nonce="n"), nonce="n", party=OURS).subject
    assert accept(signed(nonce="n", aud=[OURS, "other"], azp=OURS), nonce="n", party=OURS).subject


PEM = RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
NOW = time.time()
REFUSED = {
    "alg none": unsigned({"alg": "none", "kid": "one"}),
    "alg None in another case": unsigned({"alg": "NoNe", "kid": "one"}),
    "no signature": unsigned({"alg": "RS256", "kid": "one"}),
    "signed with the public key as a secret": unsigned({"alg": "HS256", "kid": "one"}, "AAAA"),
    "another key": signed(OTHER),
    "another key under the name of one for encryption": signed(OTHER, kid="enc"),
    "an unknown key": signed(kid="three"),
    "a key of another kind": signed(CURVE, "ES256", "one"),
    "an algorithm that the key is not for": signed(RSA, "RS512"),
    "expired": signed(iat=NOW - 900, exp=NOW - 600),
    "not yet valid": signed(nbf=NOW + 600),
    "issued in the future": signed(iat=NOW + 600),
    "another issuer": signed(iss="https://login.example.evil.example"),
    "the issuer with a slash": signed(iss=ISSUER + "/"),
    "another audience": signed(aud="somebody-else"),
    "part of the audience": signed(aud="herm"),
    "no audience": signed(aud=None),
    "no end": signed(exp=None),
    "no subject": signed(sub=None),
    "an empty subject": signed(sub=""),
    "a logout token": signed(headers={"typ": "logout+jwt"}),
    "a logout token of no type": signed(events={"http://schemas.openid.net/event/backchannel-logout": {}}),
    "an extension that must be understood": signed(headers={"crit": ["x"], "x": 1}),
    "too long": signed(more="x" * 20_000),
    "nonsense": "a.b.c",
    "empty": "",
}


@pytest.mark.parametrize("token", REFUSED.values(), ids=REFUSED)
def test_no_other_token_is_accepted(token: str) -> None:
    with pytest.raises(TokenRefused) as refused:
        accept(token)
    assert not token or token not in str(refused.value)


def test_the_public_key_is_not_used_as_a_secret() -> None:
    import hashlib
    import hmac

    body = unsigned({"alg": "HS256", "kid": "one"}).rpartition(".")[0]
    mac = base64.urlsafe_b64encode(hmac.new(PEM, body.encode(), hashlib.sha256).digest()).rstrip(b"=")
    with pytest.raises(TokenRefused):
        accept(f"{body}.{mac.decode()}")


def test_a_sign_in_accepts_only_its_own_token() -> None:
    for token in (
        signed(),
        signed(nonce="other"),
        signed(nonce=""),
        signed(nonce="n", azp="somebody-else"),
        signed(nonce="n", aud=[OURS, "other"]),
    ):
        with pytest.raises(TokenRefused):
            accept(token, nonce="n", party=OURS)


def test_a_token_without_a_key_id_needs_a_single_key() -> None:
    header = read_header(jwt.encode(claims(), RSA, "RS256"))
    assert key_for(header, KEYS[:1]) == KEYS[0]
    assert key_for(header, [KEYS[0], public(OTHER, "four")]) is None
    assert key_for(header, []) is None
