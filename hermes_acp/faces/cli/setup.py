"""hermes-acp setup: choose a provider, its key and a model.

Knows: the questions and where the answers are kept. Does not know: how a model is reached.
The key goes to `.env`, everything else to `config.yaml`; both are readable by their owner alone.
"""

import getpass
import sys
from pathlib import Path
from typing import Any, Final, cast

from hermes_acp.config.environment import KEY_VARIABLES, read_environment
from hermes_acp.config.settings import DEFAULT_BASE_URLS, ProviderName, load_settings
from hermes_acp.core.errors import BadRequest
from hermes_acp.storage.files import private_folder, storage_trouble, write_whole

CHOICES: Final[tuple[tuple[ProviderName, str], ...]] = (
    ("anthropic", "Anthropic"),
    (
        "openai_compatible",
        "OpenAI, or any endpoint that speaks its chat completions (OpenRouter, Ollama, vLLM, …)",
    ),
)


def run_setup() -> int:
    """Ask, check, write; give the exit code. Raises BadRequest when the input ends early, BadConfig, StorageTrouble."""
    environment = read_environment()
    load_settings(environment)
    print("Which provider?")
    for number, (_, label) in enumerate(CHOICES, 1):
        print(f"  {number}. {label}")
    provider = CHOICES[_ask_number(len(CHOICES)) - 1][0]
    base_url = _ask(f"Base URL [{DEFAULT_BASE_URLS[provider]}]: ") or DEFAULT_BASE_URLS[provider]
    key = _ask_secret(f"Key ({KEY_VARIABLES[provider]}; empty for none): ")
    model = _ask("Model (empty for the provider's usual one): ")
    _write_config(environment.config_file, provider, base_url, model)
    if key:
        _write_secret(environment.secrets_file, KEY_VARIABLES[provider], key)
    print(
        f"Written to {environment.home}. Start a session in your editor, or try: hermes-acp run -p 'Say hello'"
    )
    return 0


def _ask(question: str) -> str:
    try:
        return input(question).strip()
    except EOFError as error:
        raise BadRequest(
            "The answers ended early; nothing was changed.", hint="Run it in a terminal."
        ) from error


def _ask_secret(question: str) -> str:
    """Ask without showing what is typed; an answer that is piped in is shown nowhere anyway."""
    if not sys.stdin.isatty():
        return _ask(question)
    try:
        return getpass.getpass(question).strip()
    except EOFError as error:
        raise BadRequest(
            "The answers ended early; nothing was changed.", hint="Run it in a terminal."
        ) from error


def _ask_number(most: int) -> int:
    while True:
        answer = _ask(f"Number [1-{most}]: ")
        if answer.isdecimal() and 1 <= int(answer) <= most:
            return int(answer)
        print(f"Please give a number from 1 to {most}.")


def _write_config(path: Path, provider: ProviderName, base_url: str, model: str) -> None:
    import yaml

    settings: dict[str, Any] = {}
    if path.is_file():
        settings = cast("dict[str, Any]", yaml.safe_load(path.read_text(encoding="utf-8")) or {})
    settings["provider"] = provider
    settings.pop("model", None)
    if model:
        settings["model"] = model
    settings.setdefault("providers", {}).setdefault(provider, {})["base_url"] = base_url
    _write(path, yaml.safe_dump(settings, sort_keys=False, allow_unicode=True))


def _write_secret(path: Path, name: str, value: str) -> None:
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    kept = [line for line in lines if line.partition("=")[0].removeprefix("export ").strip() != name]
    quoted = "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    _write(path, "\n".join([*kept, f"{name}={quoted}"]) + "\n")


def _write(path: Path, text: str) -> None:
    private_folder(path.parent)
    try:
        write_whole(path, text.encode(), mode=0o600)
    except OSError as error:
        raise storage_trouble("write", path, error) from error
