"""Honcho.

Knows: its API v3: workspaces, peers, sessions, messages, and the context of a peer. Source: docs.honcho.dev, API
reference, and the routes of the package honcho-ai 2.7.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hermes_acp.knowledge.memory_requests import Exchange, Request, Whose, member, texts_of

AGENT: Final = "hermes"
MOST_CONCLUSIONS: Final = "20"
MOST_FOUND: Final = "10"


class Honcho:
    """The service at api.honcho.dev, or one that people run themselves."""

    label: str = "Honcho"
    base_url: str = "https://api.honcho.dev"
    key_variable: str = "HONCHO_API_KEY"

    def headers(self, key: str) -> Mapping[str, str]:
        """Give what opens it."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def opening(self, whose: Whose) -> Sequence[Request]:
        """Have the workspace, both peers and the session made, or found."""
        place = _place(whose)
        return (
            Request("/v3/workspaces", body={"id": whose.workspace}),
            Request(f"{place}/peers", body={"id": whose.user}),
            Request(f"{place}/peers", body={"id": AGENT}),
            Request(f"{place}/sessions", body={"id": whose.session_id}),
        )

    def recall(self, whose: Whose, words: str) -> Request:
        """Ask for what is concluded of the user."""
        parameters = {"search_query": words, "search_top_k": MOST_FOUND, "max_conclusions": MOST_CONCLUSIONS}
        return Request(f"{_place(whose)}/peers/{whose.user}/context", parameters)

    def read(self, answer: Any) -> Sequence[str]:
        """Read the card of the peer, and what is made of all that they said."""
        return (*texts_of(member(answer, "peer_card")), *texts_of([member(answer, "representation")]))

    def keep(self, whose: Whose, exchange: Exchange) -> Request:
        """Add the messages to the session."""
        messages = [
            {"content": exchange.said, "peer_id": whose.user},
            {"content": exchange.answered, "peer_id": AGENT},
        ]
        return Request(
            f"{_place(whose)}/sessions/{whose.session_id}/messages",
            body={"messages": [message for message in messages if message["content"]]},
        )


def _place(whose: Whose) -> str:
    return f"/v3/workspaces/{whose.workspace}"


SERVICE = Honcho()
