"""`/export`: write the conversation to a Markdown file."""

from pathlib import Path
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync

from hermes_acp.sessions.builtin_commands import CommandServices, PromptCommand

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn


async def run(services: CommandServices, turn: "Turn", words: str) -> str:
    """Write the conversation to a new file, by default in the working directory. Raises StorageError."""
    record = turn.record
    await turn.ledger.settle()
    target = Path(record.cwd, words.strip() or f"{record.session_id}.md")
    return await run_sync(_export, services.transcript(record.session_id), record.title, target)


def _export(transcript: Path, title: str, target: Path) -> str:
    from hermes_acp.core.record.passages import passages_of
    from hermes_acp.sessions.command_answers import conversation_text
    from hermes_acp.storage.transcript import Transcript

    text = conversation_text(title, passages_of(Transcript.read_events(transcript)))
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return f"{target} already exists. Name another file: `/export notes.md`."
    except OSError as error:
        return f"Could not write {target}: {error.strerror or error}"
    return f"Wrote this conversation to {target}."


COMMAND = PromptCommand("Write this conversation to a Markdown file", "file name", run)
