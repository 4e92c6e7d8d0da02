"""`/trust`: show which contents of the folder need trust; trust or distrust them."""

from typing import TYPE_CHECKING

from hermes_acp.sessions.builtin_commands import CommandServices, PromptCommand

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn


async def run(services: CommandServices, turn: "Turn", words: str) -> str:
    """Ask about untrusted items, or revoke earlier trust. Raises StorageError."""
    workspace_trust, place = services.workspace_trust, turn.record.cwd
    if words.strip().lower() in ("no", "revoke"):
        workspace_trust.revoke(place)
        return "Nothing in this folder is trusted any longer."
    items = workspace_trust.items(place)
    if not items:
        return "This folder contains nothing that needs your trust."
    untrusted = [item for item in items if not workspace_trust.is_trusted(place, item)]
    if not untrusted:
        listed = "\n".join(f"- {item.kind.replace('_', ' ')} {item.name}: {item.about}" for item in items)
        return f"Trusted here until it changes (`/trust no` revokes it):\n{listed}"
    return await workspace_trust.ask(turn.ledger, turn.gate, place, untrusted)


COMMAND = PromptCommand(
    "Show what this folder contains that needs your trust, and trust it or not",
    "no, to trust nothing",
    run,
)
