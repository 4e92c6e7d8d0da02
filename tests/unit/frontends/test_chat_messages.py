"""What the chat says is in one place, where it is read as a whole."""

from tests.architecture.sources import ROOT
from tests.golden.message_catalogue import FOLDER, catalogue

CHAT = "hermes_acp.frontends.chat.messages"
GOLDEN = FOLDER / "chat.txt"


def test_the_messages_of_the_chat_are_as_reviewed() -> None:
    file = GOLDEN.relative_to(ROOT)
    assert catalogue(CHAT) == GOLDEN.read_text(encoding="utf-8"), (
        f"Messages changed. Run `python -m tests.golden.message_catalogue {CHAT} {file}` and review the diff."
    )
