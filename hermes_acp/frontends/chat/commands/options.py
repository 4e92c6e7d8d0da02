"""/options: every option of the session."""

from hermes_acp.faces.chat.lettering import harmless_line
from hermes_acp.faces.chat.slash import ChatCommand, Desk


async def show(desk: Desk, words: str) -> None:
    """List the options, or set one: `/options NAME VALUE`."""
    name, _, value = words.partition(" ")
    if name:
        await desk.set_option(name, value.strip())
        return
    rows = [
        f"- `{harmless_line(option.id)}` {harmless_line(option.name)}: **{desk.standing.current(option.id)}**"
        for option in desk.standing.options
    ]
    await desk.show("\n".join(rows) or "This session has no options.")


COMMAND = ChatCommand("Show every option, or set one", show, hint="name value")
