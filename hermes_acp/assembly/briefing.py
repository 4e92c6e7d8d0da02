"""The system prompt of a session, from what stands in its folders.

Knows: what goes into it. Does not know: when it is frozen. Blocks on the disk; runs in a worker thread.
"""

import platform
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from hermes_acp.agent.prompt import prompt_layers
from hermes_acp.agent.turn import Briefing
from hermes_acp.core.messages import ToolSchema
from hermes_acp.knowledge.allowances import read_allowed
from hermes_acp.knowledge.context_files import gather
from hermes_acp.sessions.answers import context_notices


def write_briefing(
    cwd: str, tools: tuple[ToolSchema, ...], now: float, clean: Callable[[str], str], home: Path
) -> Briefing:
    """Write the prompt for a working directory; `now` in seconds since the epoch, `clean` takes out secrets.

    `home` is the user's own folder, which says what texts they allowed.
    """
    date = datetime.fromtimestamp(now, UTC).date().isoformat()
    context = gather(cwd, allowed=read_allowed(home))
    layers = prompt_layers(tools, clean(context.render()), cwd=cwd, platform=platform.system(), date=date)
    return Briefing(layers, context_notices(context))
