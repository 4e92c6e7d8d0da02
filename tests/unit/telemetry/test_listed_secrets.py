"""Secrets separate from their names: in lists, on the next line, in pairs of a name and a value."""

import pytest

from hermes_acp.telemetry.redaction import Redactor

VALUE = "Xk29vQ7LpZr4"
LISTED = {
    "list": '["redis-server","--requirepass","{}","--port","6379"]',
    "list of docker inspect": '"Cmd": [\n        "redis-server",\n        "--requirepass",\n        "{}"\n    ],',
    "list of Python": "['--password', '{}']",
    "list in JSON": '[\\"--password\\",\\"{}\\"]',
    "list with other ends": '["--requirepass",\r\n  "{}"]',
    "list of YAML": "args:\n  - --requirepass\n  - {}\n",
    "list of YAML in a line": "args: [--password, {}]",
    "list of Terraform": '  "--api-key", "{}",',
    "headers": "[('x-api-key', '{}')]",
    "header": "('Authorization', 'Bearer {}')",
    "block": "password: |\n  {}\nnext: 1",
    "folded block": "password: >-\n  {}\n",
    "next line": "  password:\n    {}\n",
    "Kubernetes": "- name: DB_PASSWORD\n  value: {}\n",
    "Kubernetes, quoted": '- name: DB_PASSWORD\n  value: "{}"\n',
    "tasks": '{{"name": "DB_PASSWORD", "value": "{}"}}',
    "tasks in lines": '{{\n  "name": "API_TOKEN",\n  "value": "{}"\n}}',
    "attributes": '<add key="Password" value="{}"/>',
    "elements": "<name>db.password</name>\n<value>{}</value>",
    "property list": "<key>Password</key>\n<string>{}</string>",
    "SQL": "ALTER USER me WITH PASSWORD '{}'",
    "Dockerfile": "ENV DB_PASSWORD {}",
    "fish": "set -x DB_PASSWORD {}",
    "csh": "setenv DB_PASSWORD {}",
    "netrc in lines": "machine h\n  login me\n  password {}\n",
    "environment of docker inspect": '"Env": [\n "POSTGRES_PASSWORD={}",\n "PATH=/usr/bin" ]',
    "address in an error": "fatal: unable to access 'https://user:{}@host/repo.git/': 403",
}
HARMLESS = [
    '["password", "username", "remember_me2"]',
    '["--password", "--user", "x"]',
    '["--password", "prompt"]',
    '("token", "value1234")',
    '["--max-tokens", "40960000"]',
    '["--key-file", "keys/server1.pem"]',
    "password:\n  type: string\n  minLength: 12345678\n",
    "token:\n  description: The token1234 of a user\n",
    "if not password:\n    raise ValueError12345(1)\n",
    "    secret:\n      secretName: my-tls\n",
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db-1\n      key: password1\n",
    '{"name": "password", "value": "string"}',
    '<input name="password" value=""/>',
    "PASSWORD of the year 2024",
    "cat token | sha256sum",
    "- token\n- sha256sum\n",
    "set -e DB_PASSWORD",
    '("authorization", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token")',
]


@pytest.mark.parametrize("kind", LISTED)
def test_secrets_separate_from_their_names_are_masked(kind: str) -> None:
    text = LISTED[kind].format(VALUE)
    clean = Redactor(()).clean(text)
    assert VALUE not in clean
    before, _, behind = text.partition(VALUE)
    assert clean.startswith(before)
    assert clean.endswith(behind)


@pytest.mark.parametrize("kind", LISTED)
def test_they_are_masked_wherever_a_stream_is_split(kind: str) -> None:
    text = f"begin\n{LISTED[kind].format(VALUE)} end\n"
    whole = Redactor(()).clean(text)
    for place in range(len(text)):
        stream = Redactor(()).stream()
        assert stream.feed(text[:place]) + stream.feed(text[place:]) + stream.finish() == whole


@pytest.mark.parametrize("text", HARMLESS)
def test_similar_harmless_text_is_kept(text: str) -> None:
    assert Redactor(()).clean(text) == text
