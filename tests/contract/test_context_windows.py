"""The context window is read from the endpoint, in each vendor's own format, over real HTTP."""

from typing import Any

import anyio
import pytest

from hermes_acp.core.ports.model_ports import ListedModel
from hermes_acp.models.providers import PROVIDERS
from hermes_acp.models.wire.endpoints import Connection, Endpoint
from tests.contract.json_server import Asked, json_server

pytestmark = pytest.mark.anyio
WAIT_S = 20

FORMS: dict[str, tuple[dict[str, Any], int | None]] = {
    "OpenRouter": ({"context_length": 400_000, "top_provider": {"context_length": 200_000}}, 200_000),
    "OpenRouter without a top provider": ({"context_length": 400_000, "top_provider": {}}, 400_000),
    "Together": ({"context_length": 131_072}, 131_072),
    "Groq": ({"context_window": 131_072, "max_completion_tokens": 32_768}, 131_072),
    "vLLM": ({"max_model_len": 32_768}, 32_768),
    "Mistral": ({"max_context_length": 262_144}, 262_144),
    "Anthropic": ({"max_input_tokens": 200_000, "max_tokens": 64_000}, 200_000),
    "LM Studio": ({"max_context_length": 131_072, "loaded_context_length": 8_192}, 8_192),
    "llama.cpp": ({"meta": {"n_ctx_train": 131_072, "n_ctx": 16_384}}, 16_384),
    "an older llama.cpp": ({"meta": {"n_ctx_train": 131_072}}, 131_072),
    "GitHub Copilot": (
        {"capabilities": {"limits": {"max_context_window_tokens": 128_000, "max_prompt_tokens": 64_000}}},
        64_000,
    ),
    "Hugging Face": (
        {"providers": [{"context_length": 131_072}, {"context_length": 65_536}, {"provider": "x"}]},
        65_536,
    ),
    "text": ({"context_length": "200000"}, 200_000),
    "OpenAI, which states none": ({"owned_by": "openai"}, None),
    "nonsense": ({"context_length": None, "max_model_len": True, "context_window": 7, "meta": []}, None),
}


def connected(leaf: str, base_url: str, name: str = "") -> Connection:
    return PROVIDERS.open(leaf).connect(Endpoint(base_url=base_url, api_key="k", name=name))


@pytest.mark.parametrize("form", FORMS)
async def test_a_listed_window_is_read(form: str) -> None:
    fields, window = FORMS[form]
    leaf = "anthropic" if form == "Anthropic" else "openai_compatible"
    async with json_server(lambda _: (200, {"data": [{"id": "m", **fields}, {"id": "n"}]})) as server:
        connection = connected(leaf, f"{server.url}/v1")
        with anyio.fail_after(WAIT_S):
            assert await connection.models() == (ListedModel("m", window), ListedModel("n"))
        await connection.aclose()


async def test_googles_input_limit_is_read() -> None:
    listed = {"models": [{"name": "models/m", "inputTokenLimit": 1_048_576}]}
    async with json_server(lambda _: (200, listed)) as server:
        connection = connected("gemini", f"{server.url}/v1beta")
        with anyio.fail_after(WAIT_S):
            assert await connection.models() == (ListedModel("m", 1_048_576),)
        await connection.aclose()


@pytest.mark.parametrize(
    ("running", "shown", "window"),
    [
        ([{"name": "m:latest", "context_length": 8192}], {}, 8_192),
        (
            [],
            {"parameters": "stop x\nnum_ctx    16384\n", "model_info": {"llama.context_length": 131_072}},
            16_384,
        ),
        ([], {"model_info": {"general.architecture": "llama", "llama.context_length": 131_072}}, 131_072),
        ([{"name": "other", "context_length": 8192}], {"model_info": {}}, None),
    ],
)
async def test_ollama_is_queried_through_its_own_api(
    running: list[dict[str, Any]], shown: dict[str, Any], window: int | None
) -> None:
    def answer(asked: Asked) -> tuple[int, Any]:
        if asked.path == "/api/ps":
            return 200, {"models": running}
        return (200, shown) if asked.body == {"model": "m"} else (404, {})

    async with json_server(answer) as server:
        connection = connected("openai_compatible", f"{server.url}/v1", "ollama")
        with anyio.fail_after(WAIT_S):
            assert await connection.own_window("m") == window
        await connection.aclose()


async def test_llamacpp_is_queried_through_its_own_api() -> None:
    def answer(asked: Asked) -> tuple[int, Any]:
        return 200, {"default_generation_settings": {"n_ctx": 24_576 if asked.path == "/props" else 0}}

    async with json_server(answer) as server:
        connection = connected("openai_compatible", f"{server.url}/v1", "llamacpp")
        with anyio.fail_after(WAIT_S):
            assert await connection.own_window("m") == 24_576
        await connection.aclose()


async def test_a_local_server_that_does_not_state_its_window_is_no_error() -> None:
    async with json_server(lambda _: (404, {"error": "unknown"})) as server:
        connection = connected("openai_compatible", f"{server.url}/v1", "ollama")
        with anyio.fail_after(WAIT_S):
            assert await connection.own_window("m") is None
        await connection.aclose()


async def test_other_servers_are_not_queried() -> None:
    async with json_server(lambda _: (200, {})) as server:
        connection = connected("openai_compatible", f"{server.url}/v1")
        assert await connection.own_window("m") is None
        await connection.aclose()
        assert server.asked == []
