"""The memory service Mem0.

Source: docs.mem0.ai, API reference, and the client in the package mem0ai 2.2.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from hermes_acp.memory.external_memory_service import (
    ConversationExchange,
    MemoryOwner,
    MemoryRequest,
    member,
    texts_of,
)

MAX_RESULTS: Final = 10


class Mem0:
    """The service at api.mem0.ai."""

    label: str = "Mem0"
    base_url: str = "https://api.mem0.ai"
    key_variable: str = "MEM0_API_KEY"

    def headers(self, key: str) -> Mapping[str, str]:
        """Return the authentication headers."""
        return {"authorization": f"Token {key}"} if key else {}

    def setup_requests(self, owner: MemoryOwner) -> Sequence[MemoryRequest]:
        """Return no requests: nothing needs to be set up."""
        return ()

    def recall(self, owner: MemoryOwner, words: str) -> MemoryRequest:
        """Search the user's memories."""
        body = {"query": words, "filters": {"user_id": _user(owner)}, "top_k": MAX_RESULTS}
        return MemoryRequest("/v3/memories/search/", body=body)

    def read(self, answer: Any) -> Sequence[str]:
        """Parse the results."""
        results = member(answer, "results")
        rows = cast("list[Any]", results) if isinstance(results, list) else []
        return texts_of([member(row, "memory") for row in rows])

    def keep(self, owner: MemoryOwner, exchange: ConversationExchange) -> MemoryRequest:
        """Add the messages, which the service turns into memories asynchronously."""
        messages = [
            {"role": "user", "content": exchange.said},
            {"role": "assistant", "content": exchange.answered},
        ]
        body = {
            "messages": [message for message in messages if message["content"]],
            "user_id": _user(owner),
            "metadata": {"session": owner.session_id},
        }
        return MemoryRequest("/v3/memories/add/", body=body)


def _user(owner: MemoryOwner) -> str:
    """Return a user name that keeps this agent's memories separate from others in the same account."""
    return f"{owner.workspace}-{owner.user}"


SERVICE = Mem0()
