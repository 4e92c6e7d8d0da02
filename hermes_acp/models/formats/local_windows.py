"""Ask a local model server, through its own API, for the context window with which it runs a model.

Its OpenAI-style list does not state the window. Source: Ollama's API reference (`/api/ps`, `/api/show`) and the README
of llama.cpp's server (`/props`), read on 2026-11-23.
"""

import re
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import anyio
import msgspec
from msgspec import Struct, structs

from hermes_acp.core.errors import ModelError
from hermes_acp.models.formats.model_listings import as_window
from hermes_acp.models.wire.endpoint_client import EndpointClient
from hermes_acp.models.wire.endpoints import Endpoint

TIMEOUT_S: Final = 5.0
OLLAMA_PORT: Final = 11434
NUM_CTX: Final = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)


class _Running(Struct, frozen=True):
    name: str = ""
    context_length: object = None


class _Processes(Struct, frozen=True):
    models: list[_Running] = []


class _Shown(Struct, frozen=True):
    parameters: object = ""
    model_info: dict[str, Any] = {}


class _Generation(Struct, frozen=True):
    n_ctx: object = None


class _Properties(Struct, frozen=True):
    default_generation_settings: _Generation = _Generation()


def local_server_of(endpoint: Endpoint) -> Literal["ollama", "llamacpp", ""]:
    """Return the kind of server if the endpoint is a local server with its own API, else an empty string."""
    if endpoint.name in ("ollama", "llamacpp"):
        return "ollama" if endpoint.name == "ollama" else "llamacpp"
    return "ollama" if urlsplit(endpoint.base_url).port == OLLAMA_PORT else ""


async def local_window(endpoint: Endpoint, headers: dict[str, str], model: str) -> int | None:
    """Return the context window in tokens, or None if the server is of another kind or does not state a window."""
    server = local_server_of(endpoint)
    if not server:
        return None
    root = endpoint.base_url.rstrip("/").removesuffix("/v1")
    link = EndpointClient(structs.replace(endpoint, base_url=root), headers)
    try:
        with anyio.move_on_after(TIMEOUT_S):
            return await (_ask_ollama(link, model) if server == "ollama" else _ask_llamacpp(link))
    except (ModelError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    finally:
        await link.aclose()
    return None


async def _ask_ollama(link: EndpointClient, model: str) -> int | None:
    """Return the window of the running model, or else the configured one, or else the one it was trained with."""
    processes = msgspec.json.decode(await link.get("/api/ps"), type=_Processes).models
    names = (model, f"{model}:latest")
    running = next((as_window(each.context_length) for each in processes if each.name in names), None)
    if running is not None:
        return running
    body = msgspec.json.encode({"model": model})
    shown = msgspec.json.decode(await link.ask("/api/show", body, model), type=_Shown)
    if isinstance(shown.parameters, str) and (found := NUM_CTX.search(shown.parameters)):
        return as_window(found[1])
    trained = (value for name, value in shown.model_info.items() if name.endswith(".context_length"))
    return next((tokens for value in trained if (tokens := as_window(value)) is not None), None)


async def _ask_llamacpp(link: EndpointClient) -> int | None:
    properties = msgspec.json.decode(await link.get("/props"), type=_Properties)
    return as_window(properties.default_generation_settings.n_ctx)
