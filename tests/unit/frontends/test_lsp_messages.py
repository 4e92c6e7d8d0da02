"""What language clients show is in one place, where it is read as a whole."""

from tests.architecture.sources import ROOT
from tests.golden.message_catalogue import FOLDER, catalogue

LSP = "hermes_acp.frontends.lsp.messages"
GOLDEN = FOLDER / "lsp.txt"


def test_the_messages_of_the_language_server_are_as_reviewed() -> None:
    file = GOLDEN.relative_to(ROOT)
    assert catalogue(LSP) == GOLDEN.read_text(encoding="utf-8"), (
        f"Messages changed. Run `python -m tests.golden.message_catalogue {LSP} {file}` and review the diff."
    )
