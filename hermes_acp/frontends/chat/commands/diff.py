"""/diff: show the changes of the session, by file."""

import os

from hermes_acp_client.errors import AgentError
from rich.text import Text

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.agent.session_changes import FileChange, session_changes
from hermes_acp.frontends.chat.chat_context import ChatCommand, CommandContext
from hermes_acp.frontends.chat.rendering.diff_rendering import render_diff, shown_path
from hermes_acp.frontends.chat.rendering.terminal_text import sanitize_line
from hermes_protocol import v1


async def show(context: CommandContext, words: str) -> None:
    """Show the changes to all files, or to one."""
    try:
        agent, session = await context.link.agent(), await context.link.session()
        changes = await session_changes(agent, session.id)
    except AgentError as error:
        await context.tell(error.sentence, "red")
        return
    wanted = os.path.join(context.cwd, words)
    files = [each for each in changes.files if not words or os.path.join(context.cwd, each.path) == wanted]
    if files:
        await context.draw(*(_drawn(each, context.cwd) for each in files))
    elif words:
        await context.tell(messages.not_changed_here(sanitize_line(words)), "yellow")
    elif not changes.left_out:
        await context.tell(messages.NOTHING_CHANGED)
    if changes.left_out and not words:
        await context.tell(messages.not_stored(len(changes.left_out)), "yellow")


def _drawn(file: FileChange, cwd: str) -> Text:
    name = shown_path(file.path, cwd)
    if file.is_binary:
        return Text(name, style="bold").append(f" {messages.BINARY_FILE}", style="dim")
    if file.new_text is None:
        return Text(name, style="bold").append(f" {messages.DELETED_FILE}", style="red")
    return render_diff(v1.Diff(path=file.path, old_text=file.old_text, new_text=file.new_text), cwd)


COMMAND = ChatCommand(messages.DESCRIPTIONS["diff"], show, hint=messages.HINT_FILE)
