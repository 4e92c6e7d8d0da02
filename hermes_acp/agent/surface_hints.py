"""Text for the model about the surface on which its user reads the answers, one paragraph per surface."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hermes_acp.core.event_types import Surface

SURFACE_HINTS: Final[Mapping[Surface, str]] = MappingProxyType(
    {
        "editor": (
            "This session began in the user's editor, which shows your calls, diffs and questions beside your answer. "
            "Name places as path:line, which can be clicked, rather than quoting code that the user can open. Do not "
            "repeat a diff in your answer."
        ),
        "terminal": (
            "This session began in a terminal. Keep lines short, prefer lists to tables, and name places as path:line. "
            "Images cannot be shown."
        ),
        "headless": (
            "Nobody watches this session: your last answer is what a program or a person reads later. Make it complete "
            "on its own: what you did, what you saw, what failed and what is left. Do not end it with a question or an "
            "offer."
        ),
        "chat": (
            "This session began in a chat app, where the user reads you on a phone, away from the files. Answer in a "
            "few short sentences, quote the lines that matter instead of naming places, and use no tables and no long "
            "code."
        ),
        "voice": (
            "Your answers are read aloud. Speak in two or three plain sentences without Markdown, code, paths or "
            "addresses, and put what has to be read into a file. Say numbers as you would speak them."
        ),
    }
)
